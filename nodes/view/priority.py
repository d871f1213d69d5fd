"""Who sends to viewers gives way to what flies."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

NICENESS = 10
"""A tenth of a core, where everybody wants all of it: enough to be watched, too little to be felt."""


def give_way(threads: Iterable[int]) -> None:
    """Let the threads of these native ids take little from others (Linux, whose priorities are those of threads), and
    whatever they start from now on.
    """
    for thread in threads:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, NICENESS)


def own_threads() -> set[int]:
    """Native ids of the threads of this process, where the system tells."""
    return {int(task.name) for task in Path("/proc/self/task").glob("*")}
