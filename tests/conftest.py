"""Settings of the whole suite."""

from hypothesis import settings

# Examples are the same on every run, and no test is timed: both belong to a gate that others rely on.
settings.register_profile("holeshot", deadline=None, derandomize=True)
settings.load_profile("holeshot")
