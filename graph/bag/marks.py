"""Names of the metadata records that say what a bag is."""

COMPLETENESS = "completeness"
"""Written at the end of a recording: whether anything is missing, the tick the run ended before, messages by topic."""

CUT = "cut"
"""Marks a bag as a part of another: from and to in ns of simulated time, and the topics kept."""
