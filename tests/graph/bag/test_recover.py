"""Of a bag that was cut off anywhere, every complete chunk is recovered.

messages(recover(bag[:n])) == a prefix of messages(bag); recover(bag) == bag.
"""

import struct
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import Writer

from graph.bag import Bag, complete, recover
from graph.errors import InputError
from tests.graph.bag.samples import ATTACHMENTS, METADATA, logs_until, write_bag

TICKS = 900
CHUNK = 6


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bags") / "bag.mcap"
    write_bag(path, [logs_until(TICKS)])
    return path


def record_starts(data: bytes | bytearray) -> list[tuple[int, int]]:
    """(opcode, position) of every record of a bag."""
    position, starts = 8, []
    while position < len(data) - 8:
        opcode, length = struct.unpack_from("<BQ", data, position)
        starts.append((opcode, position))
        position += 9 + length
    return starts


def check_cut(path: Path, size: int, folder: Path) -> int:
    """Recovers the first `size` bytes of the bag and returns the number of messages that came back."""
    data = path.read_bytes()
    cut, target = folder / "cut.mcap", folder / "recovered.mcap"
    cut.write_bytes(data[:size])
    starts = [*record_starts(data), (0, len(data) - 8)]
    if not any(opcode == CHUNK and end <= size for (opcode, _), (_, end) in pairwise(starts)):
        with pytest.raises(InputError) as error:
            recover(cut, target)
        assert str(error.value).startswith(f"{cut}: ")
        assert not target.exists()
        return 0
    recovered = recover(cut, target)
    bag = Bag.open(target)
    messages = list(bag.messages())
    assert messages == list(Bag.open(path).messages())[: len(messages)]
    assert (recovered.counts, recovered.damage is None) == (bag.counts, size == len(data))
    assert (bag.metadata, bag.attachments) == (METADATA, ATTACHMENTS)
    with target.open("rb") as stream:
        assert sum(1 for _ in make_reader(stream, validate_crcs=True).iter_messages()) == len(messages)
    target.unlink()
    return len(messages)


def test_a_cut_at_or_beside_any_record_loses_no_complete_chunk(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    starts = record_starts(data)
    ends = [end for (opcode, _), (_, end) in pairwise(starts) if opcode == CHUNK]
    assert len(ends) >= 3
    counts = [check_cut(path, start + shift, tmp_path) for _, start in starts for shift in (-1, 0, 1)]
    assert counts == sorted(counts)
    assert len({count for count in counts if count}) == len(ends)
    assert counts[-1] == sum(Bag.open(path).counts.values())


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_cut_anywhere_gives_a_prefix(
    data: st.DataObject, path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_cut(path, data.draw(st.integers(0, path.stat().st_size)), tmp_path_factory.mktemp("cut"))


def test_a_complete_bag_is_recovered_byte_for_byte(path: Path, tmp_path: Path) -> None:
    assert recover(path, tmp_path / "copy.mcap").damage is None
    assert (tmp_path / "copy.mcap").read_bytes() == path.read_bytes()


def test_recovery_stops_at_a_damaged_chunk_and_says_so(path: Path, tmp_path: Path) -> None:
    data = bytearray(path.read_bytes())
    chunks = [start for opcode, start in record_starts(data) if opcode == CHUNK]
    data[chunks[1] + 1000] ^= 0x10
    (tmp_path / "damaged.mcap").write_bytes(data)
    recovered = recover(tmp_path / "damaged.mcap", tmp_path / "recovered.mcap")
    assert recovered.damage is not None
    assert recovered.damage.startswith(f"chunk record at byte {chunks[1]} is damaged: ")
    messages = list(Bag.open(tmp_path / "recovered.mcap").messages())
    assert 0 < len(messages) == sum(recovered.counts.values())
    assert messages == list(Bag.open(path).messages())[: len(messages)]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nothing_is_recovered_that_was_not_recorded(
    data: st.DataObject, path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, 1000) | st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    folder = tmp_path_factory.mktemp("changed")
    (folder / "changed.mcap").write_bytes(content)
    try:
        recovered = recover(folder / "changed.mcap", folder / "recovered.mcap")
    except InputError:
        return
    assert recovered.damage is not None
    recorded = Bag.open(path).messages()
    assert all(message in recorded for message in Bag.open(folder / "recovered.mcap").messages())


def test_an_end_of_zeros_is_no_message(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    (tmp_path / "zeros.mcap").write_bytes(data[: len(data) // 2] + bytes(len(data) // 2))
    recovered = recover(tmp_path / "zeros.mcap", tmp_path / "recovered.mcap")
    messages = list(Bag.open(tmp_path / "recovered.mcap").messages())
    assert messages == list(Bag.open(path).messages())[: sum(recovered.counts.values())]


@pytest.mark.parametrize("chunking", [True, False])
def test_bags_of_other_writers_are_recovered(chunking: bool, tmp_path: Path) -> None:
    source, target = tmp_path / "other.mcap", tmp_path / "recovered.mcap"
    with source.open("wb") as stream:
        writer = Writer(stream, chunk_size=1000, use_chunking=chunking)
        writer.start()
        channel = writer.register_channel("/text", "cdr", writer.register_schema("sample/msg/Text", "ros2msg", b""))
        for number in range(1000):
            writer.add_message(channel, number, b"\x00\x01\x00\x00" + bytes(100), 0, number)
        writer.flush()
    source.write_bytes(source.read_bytes()[:-5])
    recovered = recover(source, target)
    assert recovered.counts["/text"] >= 990
    assert [message.sequence for message in Bag.open(target).messages()] == list(range(recovered.counts["/text"]))


def test_nothing_is_overwritten(path: Path, tmp_path: Path) -> None:
    (tmp_path / "there.mcap").write_bytes(b"precious")
    with pytest.raises(InputError) as error:
        recover(path, tmp_path / "there.mcap")
    assert str(error.value) == (
        f"{tmp_path}/there.mcap: exists already and is not overwritten, name another path for the bag"
    )
    assert (tmp_path / "there.mcap").read_bytes() == b"precious"


def test_a_bag_without_messages_is_nothing_to_recover(tmp_path: Path) -> None:
    write_bag(tmp_path / "empty.mcap", [])
    with pytest.raises(InputError) as error:
        recover(tmp_path / "empty.mcap", tmp_path / "recovered.mcap")
    assert str(error.value) == (
        f"{tmp_path}/empty.mcap: there is no message to recover: the bag is complete, without messages"
    )


def test_a_bag_is_completed_in_place_also_with_the_rest_of_a_preview_behind_it(path: Path, tmp_path: Path) -> None:
    bag = tmp_path / "bag.mcap"
    whole = path.read_bytes()
    _, chunk = [start for start in record_starts(whole) if start[0] == CHUNK][-1]
    (_, length) = struct.unpack_from("<BQ", whole, chunk)
    end = chunk + 9 + length
    for rest in (b"", whole[chunk + 100 : end], bytes(1000)):
        bag.write_bytes(whole[:end] + rest)
        complete(bag)
        assert list(Bag.open(bag).messages()) == list(Bag.open(path).messages())
    assert [file.name for file in tmp_path.iterdir()] == ["bag.mcap"]


@pytest.mark.parametrize("content", [None, b"", b"notes"])
def test_what_is_no_bag_is_left_alone(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "bag.mcap"
    if content is not None:
        file.write_bytes(content)
    complete(file)
    assert (file.read_bytes() if file.exists() else None) == content
