"""Three message types, with nested types and arrays, and bags of them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from graph.bag import BagWriter, Channel, Counts

PERIOD_NS = 1_000_000
METADATA = {"run": {"scenario": "hop", "seed": "7"}, "versions": {"numpy": "2"}}
ATTACHMENTS = {"scenario.yaml": b"laps: 2\n", "draw.json": b"{}", "blob": bytes(range(256))}

_RULE = "=" * 80
_TIME = f"{_RULE}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
_HEADER = f"{_RULE}\nMSG: sample/Header\nbuiltin_interfaces/Time stamp\n{_TIME}"
_VEC3 = f"{_RULE}\nMSG: sample/Vec3\nfloat64 x\nfloat64 y\nfloat64 z\n"

HEADER = [("stamp", [("sec", "<i4"), ("nanosec", "<u4")])]
VEC3 = [("x", "<f8"), ("y", "<f8"), ("z", "<f8")]
IMU = np.dtype([("header", HEADER), ("rates", VEC3), ("specific_force", VEC3)])
ROTORS = np.dtype([("header", HEADER), ("speeds", "<f8", (4,)), ("flags", "<u4"), ("armed", "u1")])
ROUTE = np.dtype([("header", HEADER), ("points", VEC3, (3,)), ("count", "<u4")])

IMU_TEXT = f"sample/Header header\nsample/Vec3 rates  # rad/s\nsample/Vec3 specific_force  # m/s²\n{_HEADER}{_VEC3}"
CHANNELS = (
    Channel("/imu", "sample/msg/Imu", IMU_TEXT, IMU),
    Channel(
        "/rotors",
        "sample/msg/Rotors",
        f"sample/Header header\nfloat64[4] speeds\nuint32 flags\nbool armed\n{_HEADER}",
        ROTORS,
    ),
    Channel(
        "/route",
        "sample/msg/Route",
        f"sample/Header header\nsample/Vec3[3] points\nuint32 count\n{_HEADER}{_VEC3}",
        ROUTE,
    ),
    Channel("/imu_raw", "sample/msg/Imu", IMU_TEXT, IMU),
)


def log_of(channel: Channel, ticks: Sequence[int] | np.ndarray, seed: int = 0) -> np.ndarray:
    """Messages at these ticks, with any finite numbers in them, in slots padded to 8 bytes."""
    size = 8 + channel.dtype.itemsize
    slot = np.dtype(
        {
            "names": ["tick", "data"],
            "formats": ["<i8", channel.dtype],
            "offsets": [0, 8],
            "itemsize": size + -size % 8,
        }
    )
    log = np.zeros(len(ticks), slot)
    log["tick"] = ticks
    _fill(log["data"], np.random.default_rng(seed))
    return log


def _fill(column: np.ndarray, random: np.random.Generator) -> None:
    for name in column.dtype.names or ():
        part = column[name]
        if part.dtype.names:
            _fill(part, random)
        else:
            part[...] = (
                random.integers(0, 2, part.shape) if part.dtype == "u1" else random.integers(0, 1000, part.shape)
            )


def logs_until(end: int, seed: int = 0) -> list[np.ndarray]:
    """IMU every tick, rotors every tick and twice at each third, the route every 90th, raw IMU every other tick."""
    ticks = np.arange(end)
    return [
        log_of(channel, part, seed + number)
        for number, (channel, part) in enumerate(
            zip(CHANNELS, (ticks, np.sort(np.concatenate([ticks, ticks[::3]])), ticks[::90], ticks[1::2]), strict=True)
        )
    ]


def split(logs: Sequence[np.ndarray], bounds: Iterable[int]) -> list[list[np.ndarray]]:
    """The logs in pieces: what lies below each bound (ticks, ascending), and the rest."""
    places = [[0, *np.searchsorted(log["tick"], list(bounds)).tolist(), log.size] for log in logs]
    return [
        [log[place[part] : place[part + 1]] for log, place in zip(logs, places, strict=True)]
        for part in range(len(places[0]) - 1)
    ]


def write_bag(path: Path, pieces: Iterable[Sequence[np.ndarray]]) -> Counts:
    with BagWriter(path, CHANNELS, METADATA, ATTACHMENTS, PERIOD_NS) as writer:
        for piece in pieces:
            writer.write(piece)
        return writer.finish()


def merged(logs: Sequence[np.ndarray]) -> list[tuple[str, int, int, bytes]]:
    """Every message as (topic, log time, sequence, data) in the order it has in a bag."""
    keyed = [
        (int(log["tick"][number]), rank, number, b"\x00\x01\x00\x00" + log["data"][number].tobytes())
        for rank, log in enumerate(logs)
        for number in range(log.size)
    ]
    return [(CHANNELS[rank].topic, tick * PERIOD_NS, number, data) for tick, rank, number, data in sorted(keyed)]
