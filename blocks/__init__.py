"""Flight-control and simulation building blocks: pure functions on named tuples of scalars, compiled or interpreted."""
