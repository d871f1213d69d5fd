"""``holeshot doctor``: whether this machine is fit to fly, check by check."""

from __future__ import annotations

import json
import platform
import queue
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Annotated

import typer

from graph.cores import available_cores
from tools.exit_codes import FAILED

REQUIRED = ("eclipse-zenoh", "foxglove-sdk", "numba", "numpy", "pydantic", "rich", "typer", "zstandard")
READY = b"ready"
TIMEOUT_S = 10.0
ENOUGH_DISK = 1 << 30  # bytes: half an hour of recording


@dataclass(frozen=True)
class Check:
    """One finding: ``good``, ``poor`` (flies, but) or ``bad`` (does not fly)."""

    what: str
    verdict: str
    found: str


def doctor(as_json: Annotated[bool, typer.Option("--json", help="print one JSON object per check")] = False) -> None:
    """Check whether this machine is fit to fly. Exit code 1 when it is not.

    Example: holeshot doctor --json
    """
    checks = [_attempt(check) for check in (_python, _libraries, _cores, _cache, _compiler, _zenoh, _disk, _cpp)]
    if as_json:
        for check in checks:
            print(json.dumps(asdict(check)))
    else:
        from tools.terminal import table

        table("holeshot doctor", [(c.what, c.verdict, c.found) for c in checks], ("check", "verdict", "found"))
    if any(check.verdict == "bad" for check in checks):
        raise typer.Exit(FAILED)


def _attempt(check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Exception as error:
        return Check(check.__name__.strip("_"), "bad", f"{type(error).__name__}: {error}")


def _python() -> Check:
    return Check("python", "good" if sys.version_info >= (3, 11) else "bad", platform.python_version())


def _libraries() -> Check:
    return Check("libraries", "good", ", ".join(f"{name} {metadata.version(name)}" for name in REQUIRED))


def _cores() -> Check:
    available = len(available_cores())
    verdict = "good" if available > 1 else "poor"
    return Check("cores", verdict, f"{available}; the loop takes one, recorder and scorer another")


def _cache() -> Check:
    from graph import cache

    folder = cache.folder()
    size = sum(entry.stat().st_size for entry in folder.rglob("*") if entry.is_file())
    return Check("cache", "good", f"{folder}, {size / 1e6:.0f} MB of compiled code")


def _compiler() -> Check:
    import numba

    doubled = numba.njit("float64(float64)")(_twice)(21.0)
    return Check("compiler", "good" if doubled == 42.0 else "bad", f"numba compiles for {platform.machine()}")


def _twice(x: float) -> float:
    return x + x


def _zenoh() -> Check:
    """A message between two sessions over loopback, as between two nodes."""
    from graph.launch import Transport
    from graph.process.transport import configuration, endpoints, session

    transport = Transport()
    (endpoint,) = endpoints(transport.listen, 1)
    with (
        session(configuration([endpoint], [], transport)) as one,
        session(configuration([], [endpoint], transport)) as other,
    ):
        import zenoh

        arrived: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        subscriber = other.declare_subscriber("holeshot/doctor", lambda sample: arrived.put(sample.payload.to_bytes()))
        ready = one.liveliness().declare_subscriber("holeshot/doctor", lambda sample: arrived.put(READY), history=True)
        token = other.liveliness().declare_token("holeshot/doctor")
        arrived.get(timeout=TIMEOUT_S)
        one.put("holeshot/doctor", b"fit", congestion_control=zenoh.CongestionControl.BLOCK)
        heard = arrived.get(timeout=TIMEOUT_S)
        for declared in (subscriber, ready, token):
            declared.undeclare()
    return Check("zenoh", "good" if heard == b"fit" else "bad", f"a message over {endpoint}")


def _disk() -> Check:
    free = shutil.disk_usage(".").free
    return Check(
        "disk",
        "good" if free > ENOUGH_DISK else "poor",
        f"{free / 1e9:.1f} GB free here; a minute of flight takes 20 MB",
    )


def _cpp() -> Check:
    found = shutil.which("g++")
    return Check("g++", "good" if found else "poor", found or "none: the bench leaves its C++ rows out")
