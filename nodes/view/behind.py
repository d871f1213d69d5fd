"""Which viewers do not keep up, as the system sees it: for a server that does not say what it drops."""

from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
FULL_BYTES = 64 * 1024
"""Unsent bytes of a connection: on one that is read there are hardly any."""


def behind(port: int) -> int:
    """How many connections to a local TCP port have much to send that the other side does not take; 0 where the system
    has no such table (proc_net_tcp of the Linux kernel's documentation).
    """
    found = 0
    for table in TABLES:
        try:
            rows = [line.split() for line in table.read_text().splitlines()[1:]]
        except OSError:
            continue
        for row in rows:
            local, unsent = row[1].rpartition(":")[2], row[4].partition(":")[0]
            found += int(local, 16) == port and int(unsent, 16) >= FULL_BYTES
    return found
