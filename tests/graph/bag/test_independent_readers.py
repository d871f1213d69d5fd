"""Bags are read by three libraries that know nothing of this project: mcap, mcap-ros2-support and rosbags."""

from pathlib import Path

import pytest
from mcap.reader import make_reader
from mcap.records import Message
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

from tests.graph.bag.samples import ATTACHMENTS, METADATA, PERIOD_NS, logs_until, merged, write_bag

TICKS = 900


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bags") / "bag.mcap"
    write_bag(path, [logs_until(TICKS)])
    return path


def test_mcap_reads_every_message_through_the_index(path: Path) -> None:
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        messages = [(c.topic, m.log_time, m.sequence, m.data) for _, c, m in reader.iter_messages()]
        assert messages == merged(logs_until(TICKS))
        assert {item.name: item.metadata for item in reader.iter_metadata()} == METADATA
        assert {item.name: item.data for item in reader.iter_attachments()} == ATTACHMENTS
        summary = reader.get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.message_count == len(messages)
    assert summary.statistics.message_end_time == (TICKS - 1) * PERIOD_NS
    assert max(index.uncompressed_size for index in summary.chunk_indexes) <= 64 * 1024


def test_mcap_reads_every_message_as_a_stream(path: Path) -> None:
    with path.open("rb") as stream:
        records = list(StreamReader(stream, validate_crcs=True).records)
    messages = [(record.log_time, record.sequence, record.data) for record in records if isinstance(record, Message)]
    assert messages == [message[1:] for message in merged(logs_until(TICKS))]


def test_mcap_ros2_support_decodes_every_type(path: Path) -> None:
    imu, rotors, route, _ = logs_until(TICKS)
    decoded: dict[str, list] = {}
    with path.open("rb") as stream:
        for _, channel, _, message in make_reader(stream, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            decoded.setdefault(channel.topic, []).append(message)
    assert [m.specific_force.z for m in decoded["/imu"]] == imu["data"]["specific_force"]["z"].tolist()
    assert [list(m.speeds) for m in decoded["/rotors"]] == rotors["data"]["speeds"].tolist()
    assert [m.armed for m in decoded["/rotors"]] == rotors["data"]["armed"].astype(bool).tolist()
    assert [m.points[2].y for m in decoded["/route"]] == route["data"]["points"]["y"][:, 2].tolist()
    assert [m.header.stamp.nanosec for m in decoded["/route"]] == route["data"]["header"]["stamp"]["nanosec"].tolist()


def test_rosbags_decodes_and_encodes_to_the_same_bytes(path: Path) -> None:
    with AnyReader([path]) as reader:
        messages = []
        for connection, log_time, data in reader.messages():
            value = reader.deserialize(data, connection.msgtype)
            assert bytes(reader.typestore.serialize_cdr(value, connection.msgtype)) == bytes(data)
            messages.append((connection.topic, log_time, bytes(data)))
    expected = [(topic, log_time, data) for topic, log_time, _, data in merged(logs_until(TICKS))]
    assert sorted(messages) == sorted(expected)
