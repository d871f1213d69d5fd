"""What a run is made of: scenario, vehicle, course and baseline files, their loaders, and the draws from the seed."""
