"""What a process holds in memory."""

import os

MEGABYTE = 1 << 20


def resident(process: int | None = None) -> int:
    """Resident bytes of a process, this one by default."""
    with open(f"/proc/{process or 'self'}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
