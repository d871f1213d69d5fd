"""Short recorded runs, rewritten bags, and the command as a user types it."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from graph.bag import Bag, BagWriter
from graph.bag.writer import OpaqueChannel
from graph.execution import Execution
from graph.run import run
from tools import cli
from tools.session import load


def record(path: Path, *arguments: str, name: str = "sitl", runner: str = "inline") -> Path:
    """The bag of a launch."""
    session, _ = load(name, arguments)
    run(session, Execution(runner=runner, bag=str(path)))
    return path


def rewritten(
    source: Path, target: Path, changes: Mapping[tuple[str, int], bytes], without: Sequence[str] = ()
) -> Path:
    """A bag with other data in some messages, (topic, index): data, and without some metadata records."""
    bag = Bag.open(source)
    messages: dict[str, list[tuple[int, bytes]]] = {topic: [] for topic in bag.topics}
    for m in bag.messages():
        own = messages[m.topic]
        own.append((m.log_time, changes.get((m.topic, len(own)), m.data)))
    channels = []
    for topic in bag.topics:
        schema = bag.schemas[topic]
        channels.append(OpaqueChannel(topic, schema.name, schema.encoding, schema.data, bag.encodings[topic]))
    metadata = {name: entries for name, entries in bag.metadata.items() if name not in without}
    with BagWriter(target, channels, metadata, bag.attachments, 1) as writer:
        writer.write([messages[topic] for topic in bag.topics])
    return target


def flipped(source: Path, target: Path, topic: str, index: int, bit: int) -> Path:
    """A bag with one bit of one message's body flipped, its checksums right."""
    data = bytearray([m for m in Bag.open(source).messages() if m.topic == topic][index].data)
    data[4 + bit // 8] ^= 1 << bit % 8
    return rewritten(source, target, {(topic, index): bytes(data)})


class Command:
    """`holeshot`, called in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        """Exit code, output and errors."""
        self._monkeypatch.setattr(sys, "argv", ["holeshot", *map(str, arguments)])
        self._capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = self._capsys.readouterr()
        return code, out, err
