"""The processor cores of this machine that may be used."""

import os


def available_cores() -> list[int]:
    """Their numbers, those this process is allowed to run on where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
