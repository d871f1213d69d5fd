"""A writer may die at any moment, amid a write too: its file holds every message that was synced."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcap.exceptions import EndOfFile
from mcap.records import Message
from mcap.stream_reader import StreamReader

from graph.bag import Bag, BagWriter, recover
from graph.bag.container import Container
from tests.graph.bag.samples import ATTACHMENTS, CHANNELS, METADATA, PERIOD_NS, logs_until, merged, split

PAGE = 4096
"""The system writes a page at a time, and may be told to stop between two of them."""


class Disk:
    """What a container does to its file, write by write."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writes: list[tuple[int, bytes]] = []  # where, what
        self.synced: dict[int, int] = {}  # messages by number of writes made
        kept: Callable[[Any, bytes, int], None] = Container._write

        def write(container: Any, data: bytes, offset: int) -> None:
            self.writes.append((offset, bytes(data)))
            kept(container, data, offset)

        monkeypatch.setattr(Container, "_write", write)

    def moments(self) -> list[tuple[int, bytes]]:
        """The file after, and amid, each write, with the number of messages that were synced before it."""
        found, image, synced = [], bytearray(), 0
        for number, (offset, data) in enumerate(self.writes):
            synced = self.synced.get(number, synced)
            for part in sorted({*range(PAGE - offset % PAGE, len(data), PAGE), len(data)}):
                moment = bytearray(image)
                moment += bytes(max(0, offset - len(moment)))
                moment[offset : offset + part] = data[:part]
                found.append((synced, bytes(moment)))
            image = moment
        return found


def test_whatever_was_synced_is_recovered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = logs_until(1500)
    disk = Disk(monkeypatch)
    given = 0
    with BagWriter(tmp_path / "bag.mcap", CHANNELS, METADATA, ATTACHMENTS, PERIOD_NS) as writer:
        for piece in split(logs, range(100, 1500, 100)):
            writer.write(piece)
            writer.sync()
            given += sum(log.size for log in piece)
            disk.synced[len(disk.writes)] = given
    everything = merged(logs)
    monkeypatch.undo()
    moments = [moment for moment in disk.moments() if moment[0]]
    assert len(moments) > 100
    for synced, image in moments:
        (tmp_path / "killed.mcap").write_bytes(image)
        (tmp_path / "recovered.mcap").unlink(missing_ok=True)
        recover(tmp_path / "killed.mcap", tmp_path / "recovered.mcap")
        messages = [tuple(m)[:4] for m in Bag.open(tmp_path / "recovered.mcap").messages()]
        assert len(messages) >= synced
        assert messages == everything[: len(messages)]


def test_a_growing_bag_is_read_by_others(tmp_path: Path) -> None:
    """Readers skip the record that stands before a preview."""
    bag, logs = tmp_path / "bag.mcap", logs_until(300)
    with BagWriter(bag, CHANNELS, METADATA, ATTACHMENTS, PERIOD_NS) as writer:
        for piece in split(logs, [100, 200]):
            writer.write(piece)
            writer.sync()
        messages = 0
        with bag.open("rb") as file, contextlib.suppress(EndOfFile):
            for record in StreamReader(file).records:
                messages += isinstance(record, Message)
    assert messages == len(merged(logs))
