"""Names of the metadata records that say what a bag is."""

from collections.abc import Mapping

COMPLETENESS = "completeness"
"""Written at the end of a recording: whether anything is missing, the tick the run ended before, messages by topic."""

CUT = "cut"
"""Marks a bag as a part of another: from and to in ns of simulated time, the topics kept, and whether it is settled."""

TO_THE_END = (1 << 63) - 1
"""The time, in ns, up to which a part reaches that ends where its bag did."""


def is_settled(metadata: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether the last tick of a bag with this metadata holds all that was said at it."""
    return COMPLETENESS in metadata or metadata.get(CUT, {}).get("settled") == "yes"
