"""Autonomy stacks: a YAML file names the implementation of each slot and its parameters."""
