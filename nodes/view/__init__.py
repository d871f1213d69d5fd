"""What the viewer node is made of: topics as viewers want them, services, parameters, and a server per protocol."""
