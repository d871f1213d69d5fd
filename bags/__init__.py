"""Small reference bags; recordings go here too."""
