"""A bag's bytes depend on its messages alone, and are those of the `mcap` package's writer.

bytes(messages, in any split) == bytes(messages) == bytes of mcap's Writer fed the same messages one by one.
"""

import io
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import Writer

from graph.bag import Bag, BagWriter, Channel, OpaqueChannel, recover
from graph.errors import InputError
from tests.graph.bag.samples import (
    ATTACHMENTS,
    CHANNELS,
    METADATA,
    PERIOD_NS,
    ROUTE,
    log_of,
    logs_until,
    merged,
    split,
    write_bag,
)

MEDIA_TYPES = {"scenario.yaml": "application/yaml", "draw.json": "application/json", "blob": "application/octet-stream"}
MESSAGE_OVERHEAD = 9 + 22 + 4
TICKS = 3000
"""About 8,600 messages: more than the writer queues, in about a dozen chunks."""


def by_mcap(logs: Sequence[np.ndarray]) -> bytes:
    stream = io.BytesIO()
    writer = Writer(stream, chunk_size=64 * 1024 - MESSAGE_OVERHEAD - ROUTE.itemsize, enable_data_crcs=True)
    writer.start("ros2", "holeshot")
    for name, entries in METADATA.items():
        writer.add_metadata(name, entries)
    for name, data in ATTACHMENTS.items():
        writer.add_attachment(0, 0, name, MEDIA_TYPES[name], data)
    schemas: dict[str, int] = {}
    for channel in CHANNELS:
        if channel.schema_name not in schemas:
            name, text = channel.schema_name, channel.schema_text.encode()
            schemas[name] = writer.register_schema(name, "ros2msg", text)
    ids = {
        channel.topic: writer.register_channel(channel.topic, "cdr", schemas[channel.schema_name])
        for channel in CHANNELS
    }
    for topic, log_time, sequence, data in merged(logs):
        writer.add_message(ids[topic], log_time, data, log_time, sequence)
    writer.finish()
    return stream.getvalue()


@pytest.fixture(scope="module")
def logs() -> list[np.ndarray]:
    return logs_until(TICKS)


@pytest.fixture(scope="module")
def whole(logs: list[np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "bag.mcap"
    write_bag(path, [logs])
    return path.read_bytes()


def test_a_bag_has_the_bytes_of_the_mcap_writer(logs: list[np.ndarray], whole: bytes) -> None:
    assert whole == by_mcap(logs)


@pytest.mark.parametrize("ticks", [0, 1, 2, 400])
def test_small_bags_have_the_bytes_of_the_mcap_writer(ticks: int, tmp_path: Path) -> None:
    write_bag(tmp_path / "bag.mcap", [logs_until(ticks)])
    assert (tmp_path / "bag.mcap").read_bytes() == by_mcap(logs_until(ticks))


@settings(max_examples=25, deadline=None)
@given(
    ticks=st.lists(
        st.lists(st.integers(0, 40), max_size=60).map(sorted), min_size=len(CHANNELS), max_size=len(CHANNELS)
    )
)
def test_any_messages_have_the_bytes_of_the_mcap_writer(
    ticks: list[list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    any_logs = [log_of(channel, part) for channel, part in zip(CHANNELS, ticks, strict=True)]
    path = tmp_path_factory.mktemp("any") / "bag.mcap"
    write_bag(path, [any_logs])
    assert path.read_bytes() == by_mcap(any_logs)


@settings(max_examples=25, deadline=None)
@given(bounds=st.lists(st.integers(0, TICKS), max_size=30).map(sorted))
def test_bytes_do_not_depend_on_the_split_into_calls(
    bounds: list[int], logs: list[np.ndarray], whole: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("split") / "bag.mcap"
    write_bag(path, split(logs, bounds))
    assert path.read_bytes() == whole


@pytest.mark.parametrize("window", [1, 7, 1000])
def test_bytes_do_not_depend_on_the_window(window: int, logs: list[np.ndarray], whole: bytes, tmp_path: Path) -> None:
    write_bag(tmp_path / "bag.mcap", split(logs, range(window, TICKS, window)))
    assert (tmp_path / "bag.mcap").read_bytes() == whole


def test_what_was_synced_survives_the_writer_and_changes_no_byte(
    logs: list[np.ndarray], whole: bytes, tmp_path: Path
) -> None:
    path, given = tmp_path / "bag.mcap", 0
    with BagWriter(path, CHANNELS, METADATA, ATTACHMENTS, PERIOD_NS) as writer:
        for number, piece in enumerate(split(logs, range(25, TICKS, 25))):
            writer.write(piece)
            writer.sync()
            given += sum(len(log) for log in piece)
            killed = tmp_path / f"killed-{number}.mcap"
            killed.write_bytes(path.read_bytes())
            assert sum(recover(killed, tmp_path / f"recovered-{number}.mcap").counts.values()) == given
    assert path.read_bytes() == whole


def test_the_writer_copies_what_it_is_given(logs: list[np.ndarray], whole: bytes, tmp_path: Path) -> None:
    def overwritten_afterwards():
        for piece in split(logs, range(10, TICKS, 10)):
            ring = [part.copy() for part in piece]
            yield ring
            for part in ring:
                part.view(np.uint8)[:] = 0xFF

    write_bag(tmp_path / "bag.mcap", overwritten_afterwards())
    assert (tmp_path / "bag.mcap").read_bytes() == whole


def test_messages_larger_than_a_chunk_get_one_each(tmp_path: Path) -> None:
    large = Channel("/image", "sample/msg/Image", "uint8[70000] data\n", np.dtype([("data", "u1", (70_000,))]))
    with BagWriter(tmp_path / "bag.mcap", [large], {}, {}, PERIOD_NS) as writer:
        writer.write([log_of(large, range(3))])
    assert Bag.open(tmp_path / "bag.mcap").channel("/image", large.dtype).size == 3


def test_finish_counts_every_topic(tmp_path: Path) -> None:
    counts = write_bag(tmp_path / "bag.mcap", [[log_of(CHANNELS[0], [1, 2]), *(log_of(c, []) for c in CHANNELS[1:])]])
    assert counts == {"/imu": 2, "/rotors": 0, "/route": 0, "/imu_raw": 0}


def test_a_run_that_raises_leaves_a_complete_bag(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "bag.mcap", CHANNELS, METADATA, {}, PERIOD_NS)
    with suppress(ZeroDivisionError), writer:
        writer.write(logs_until(50))
        raise ZeroDivisionError
    assert Bag.open(tmp_path / "bag.mcap").counts == {"/imu": 50, "/rotors": 67, "/route": 1, "/imu_raw": 25}


def test_what_is_written_before_the_end_is_in_the_file(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "bag.mcap", CHANNELS, METADATA, ATTACHMENTS, PERIOD_NS)
    assert b"scenario.yaml" in (tmp_path / "bag.mcap").read_bytes()
    writer.write(logs_until(TICKS))
    assert (tmp_path / "bag.mcap").stat().st_size > 100_000
    writer.finish()


def test_ticks_that_go_back_are_refused(tmp_path: Path) -> None:
    channel = CHANNELS[:1]
    with BagWriter(tmp_path / "calls.mcap", channel, {}, {}, PERIOD_NS) as writer:
        writer.write([log_of(channel[0], [3, 4])])
        with pytest.raises(ValueError) as error:
            writer.write([log_of(channel[0], [4])])
        assert str(error.value) == "/imu: tick 4 is not above 4, written before"
    writer = BagWriter(tmp_path / "within.mcap", channel, {}, {}, PERIOD_NS)
    writer.write([log_of(channel[0], [3, 2])])
    with pytest.raises(ValueError) as error:
        writer.finish()
    assert str(error.value) == "/imu: ticks decrease"


def test_a_log_of_another_type_is_refused(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag.mcap", CHANNELS[:1], {}, {}, PERIOD_NS) as writer:
        with pytest.raises(ValueError) as error:
            writer.write([log_of(CHANNELS[1], [1])])
        assert str(error.value).startswith("/imu: a log of dtype ")


def test_channels_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    other = Channel("/other", "sample/msg/Imu", "float64 x\n", np.dtype([("x", "<f8")]))
    with pytest.raises(ValueError) as error:
        BagWriter(tmp_path / "bag.mcap", [*CHANNELS, other], {}, {}, PERIOD_NS)
    assert str(error.value) == "/other: schema sample/msg/Imu has two different texts"
    with pytest.raises(ValueError) as error:
        BagWriter(tmp_path / "bag.mcap", [CHANNELS[0], CHANNELS[0]], {}, {}, PERIOD_NS)
    assert str(error.value) == "a topic occurs twice in ['/imu', '/imu']"
    assert not (tmp_path / "bag.mcap").exists()


def test_a_path_that_cannot_be_written_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    reasons = {
        tmp_path / "missing" / "bag.mcap": f"the folder {tmp_path}/missing does not exist, "
        "create it or name another path for the bag",
        tmp_path: "is a folder, name a file for the bag",
        tmp_path / "file" / "bag.mcap": f"{tmp_path}/file is not a folder, name another path for the bag",
    }
    for path, reason in reasons.items():
        with pytest.raises(InputError) as error:
            BagWriter(path, CHANNELS, {}, {}, PERIOD_NS)
        assert str(error.value) == f"{path}: {reason}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_a_user_error() -> None:
    with pytest.raises(InputError) as error:
        BagWriter("/dev/full", CHANNELS, {}, {}, PERIOD_NS)
    assert str(error.value) == "/dev/full: the bag cannot be written: no space left on device"


def test_messages_of_any_size_are_in_their_place_and_no_chunk_exceeds_the_limit(tmp_path: Path) -> None:
    scene = OpaqueChannel("/scene", "pkg.Scene", "protobuf", bytes(range(256)), "protobuf")
    logs = logs_until(TICKS)
    sizes = np.random.default_rng(0).integers(0, 40_000, TICKS // 33 + 1)
    opaque = [(tick, bytes([tick % 251]) * int(sizes[k])) for k, tick in enumerate(range(0, TICKS, 33))]
    paths = []
    for window in (TICKS, 700, 10):
        path = tmp_path / f"{window}.mcap"
        with BagWriter(path, [*CHANNELS, scene], METADATA, ATTACHMENTS, PERIOD_NS) as writer:
            for begin in range(0, TICKS, window):
                part = [log[(log["tick"] >= begin) & (log["tick"] < begin + window)] for log in logs]
                writer.write([*part, [m for m in opaque if begin <= m[0] < begin + window]])
        paths.append(path)
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()
    bag = Bag.open(paths[0])
    assert bag.schemas["/scene"].data == bytes(range(256))
    messages = list(bag.messages())
    assert [(m.log_time // PERIOD_NS, m.data) for m in messages if m.topic == "/scene"] == opaque
    topics = [c.topic for c in CHANNELS] + ["/scene"]
    order = [(m.log_time, topics.index(m.topic)) for m in messages]
    assert order == sorted(order)
    with paths[0].open("rb") as stream:
        summary = make_reader(stream, validate_crcs=True).get_summary()
    assert summary is not None
    assert max(index.uncompressed_size for index in summary.chunk_indexes) <= 64 * 1024
