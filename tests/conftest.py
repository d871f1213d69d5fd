"""Settings of the whole suite."""

from pathlib import Path

import pytest
from hypothesis import settings

# Examples are the same on every run, and no test is timed: both belong to a gate that others rely on.
settings.register_profile("holeshot", deadline=None, derandomize=True)
settings.load_profile("holeshot")

MACHINE = ("browser", "docs", "gates", "process")
"""Folders whose tests start many processes each: with several workers, one after the other, beside all others."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Work is dealt out by file, that of ``MACHINE`` as one piece."""
    folder = Path(__file__).parent
    for item in items:
        path = item.path.relative_to(folder)
        item.add_marker(pytest.mark.xdist_group("machine" if path.parts[0] in MACHINE else str(path)))
