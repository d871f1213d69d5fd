"""Launch files: what runs, how it is wired, and the arguments that change it."""
