"""What the scene is drawn with: the vehicle, the course, what the camera sees, and the shapes they are made of."""
