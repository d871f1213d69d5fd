"""What was written is what is read; whatever is wrong with a file is named, and nothing slips through."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.writer import CompressionType, IndexType, Writer

from graph.bag import Bag
from graph.errors import InputError
from tests.graph.bag.samples import ATTACHMENTS, CHANNELS, IMU, METADATA, PERIOD_NS, logs_until, merged, write_bag

TICKS = 700


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bags") / "bag.mcap"
    write_bag(path, [logs_until(TICKS)])
    return path


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as error:
        Bag.open(path)
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value).removeprefix(f"{path}: ")


def test_messages_come_back_in_order(path: Path) -> None:
    assert [tuple(message) for message in Bag.open(path).messages()] == merged(logs_until(TICKS))


def test_channels_come_back_as_arrays(path: Path) -> None:
    bag = Bag.open(path)
    for channel, log in zip(CHANNELS, logs_until(TICKS), strict=True):
        read = bag.channel(channel.topic, channel.dtype)
        assert read["log_time"].tolist() == (log["tick"] * PERIOD_NS).tolist()
        assert read["sequence"].tolist() == list(range(log.size))
        assert read["data"].tobytes() == log["data"].tobytes()
        assert bag.channel(channel.topic)["data"].tobytes() == log["data"].tobytes()


def test_a_bag_says_what_it_holds(path: Path) -> None:
    bag = Bag.open(path)
    assert bag.topics == ("/imu", "/rotors", "/route", "/imu_raw")
    assert bag.counts == {"/imu": 700, "/rotors": 934, "/route": 8, "/imu_raw": 350}
    assert {topic: schema.name for topic, schema in bag.schemas.items()} == {c.topic: c.schema_name for c in CHANNELS}
    assert {topic: schema.text for topic, schema in bag.schemas.items()} == {c.topic: c.schema_text for c in CHANNELS}
    assert (bag.metadata, bag.attachments, bag.library) == (METADATA, ATTACHMENTS, "holeshot")
    assert (bag.start_time, bag.end_time) == (0, 699 * PERIOD_NS)


def test_a_bag_without_messages_says_so(tmp_path: Path) -> None:
    write_bag(tmp_path / "bag.mcap", [])
    bag = Bag.open(tmp_path / "bag.mcap")
    assert (bag.topics, bag.start_time, bag.end_time) == (("/imu", "/rotors", "/route", "/imu_raw"), 0, 0)
    assert (list(bag.messages()), bag.channel("/imu", IMU).size, bag.channel("/imu").size) == ([], 0, 0)


@pytest.mark.parametrize("chunking", [True, False])
@pytest.mark.parametrize("compression", [CompressionType.NONE, CompressionType.ZSTD])
def test_bags_of_other_writers_can_be_read(chunking: bool, compression: CompressionType, tmp_path: Path) -> None:
    stream = io.BytesIO()
    writer = Writer(stream, use_chunking=chunking, compression=compression, index_types=IndexType.NONE)
    writer.start()
    schema = writer.register_schema("sample/msg/Text", "ros2msg", b"string data\n")
    channel = writer.register_channel("/text", "cdr", schema)
    texts = [b"\x00\x01\x00\x00" + b"x" * size for size in range(100)]
    for number, text in enumerate(texts):
        writer.add_message(channel, 1000 - number, text, 0, number)
    writer.finish()
    (tmp_path / "bag.mcap").write_bytes(stream.getvalue())
    bag = Bag.open(tmp_path / "bag.mcap")
    assert [message.data for message in bag.messages()] == texts
    assert (bag.start_time, bag.end_time) == (901, 1000)


def test_wrong_files_are_named(path: Path, tmp_path: Path) -> None:
    assert error_of(tmp_path / "none.mcap") == "no such bag"
    assert error_of(tmp_path) == "is a folder, not a bag (an .mcap file)"
    os.mkfifo(tmp_path / "pipe")
    assert error_of(tmp_path / "pipe") == "is no regular file, so no bag"
    wrong = tmp_path / "wrong.mcap"
    wrong.write_bytes(b"")
    assert error_of(wrong) == "is empty, not an MCAP file"
    wrong.write_bytes(b"#ROSBAG V2.0\n")
    assert error_of(wrong) == "is not an MCAP file"
    wrong.write_bytes(path.read_bytes()[:9000])
    assert error_of(wrong) == (
        "is cut off at byte 9000, within the chunk record that starts at byte 611; "
        "`holeshot bag recover` makes a complete bag of what it holds"
    )
    data = bytearray(path.read_bytes())
    data[9000] ^= 1
    wrong.write_bytes(data)
    assert error_of(wrong).startswith("chunk record at byte 611 is damaged: ")
    wrong.write_bytes(path.read_bytes() + b"more")
    assert "closing bytes of an MCAP file and nothing else" in error_of(wrong)


def test_an_unsupported_compression_is_named(tmp_path: Path) -> None:
    stream = io.BytesIO()
    writer = Writer(stream, compression=CompressionType.LZ4)
    writer.start()
    writer.add_message(writer.register_channel("/text", "cdr", 0), 0, b"text", 0)
    writer.finish()
    (tmp_path / "bag.mcap").write_bytes(stream.getvalue())
    assert "compression 'lz4' is not supported, only zstd and none" in error_of(tmp_path / "bag.mcap")


def test_wrong_questions_are_answered(path: Path) -> None:
    bag = Bag.open(path)
    with pytest.raises(InputError) as error:
        bag.channel("/gps", IMU)
    assert str(error.value) == f"{path}: has no topic /gps; it has /imu, /rotors, /route, /imu_raw"
    with pytest.raises(InputError) as error:
        bag.channel("/imu", np.dtype("<f8"))
    assert str(error.value) == f"{path}: messages of /imu have 60 bytes, 12 are expected"


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_changed_byte_is_noticed(data: st.DataObject, path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    content = bytearray(path.read_bytes())
    # Half of the examples in the first and last kilobytes, where the records of every kind are.
    places = (
        st.integers(0, 1000) | st.integers(len(content) - 3000, len(content) - 1) | st.integers(0, len(content) - 1)
    )
    content[data.draw(places)] ^= data.draw(st.integers(1, 255))
    changed = tmp_path_factory.mktemp("changed") / "bag.mcap"
    changed.write_bytes(content)
    error_of(changed)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_missing_end_is_noticed(data: st.DataObject, path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    content = path.read_bytes()
    cut = tmp_path_factory.mktemp("cut") / "bag.mcap"
    cut.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    error_of(cut)
