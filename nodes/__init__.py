"""The nodes of the graph, one per file: what they take in, what they send, and one step function each."""
