"""Whatever a bag holds, every command gives a result or an InputError: never a traceback, never a hang."""

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.bag import Bag, BagWriter
from graph.bag.cut import cut
from graph.bag.writer import OpaqueChannel
from graph.errors import InputError
from tests.tools.runs import record, rewritten
from tools.bag.diff import columns as compared
from tools.bag.export import columns
from tools.bag.info import summary
from tools.bag.proof import Proof
from tools.bag.proof_text import as_json, as_text
from tools.score import scored

pytestmark = pytest.mark.slow

fuzz = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("small") / "small.mcap", "scenario=scripted-hop", "duration=0.1")


def use(path: Path) -> None:
    """Everything that reads a bag."""
    for command in (_look, _prove, _score, _cut):
        with contextlib.suppress(InputError):
            command(path)


def _look(path: Path) -> None:
    bag = Bag.open(path)
    assert summary(bag)["messages"] == sum(bag.counts.values())
    compared(bag)
    for topic in bag.topics:
        if bag.encodings[topic] == "cdr":
            columns(bag, topic)


def _prove(path: Path) -> None:
    proof = Proof(Bag.open(path))
    for found in (proof.node("stack"), proof.node("sim_fc"), proof.node("scorer"), proof.everything()):
        assert as_text(found)
        assert as_json(found)["identical"] == found.report.identical


def _score(path: Path) -> None:
    scored(Bag.open(path))
    scored(Bag.open(path), 0.5)


def _cut(path: Path) -> None:
    target = path.with_name("part.mcap")
    target.unlink(missing_ok=True)
    bag = Bag.open(path)
    cut(bag, target, 20_000_000, 60_000_000, bag.topics)


@fuzz
@given(st.data())
def test_truncated(small: Path, tmp_path: Path, data: st.DataObject) -> None:
    whole = small.read_bytes()
    path = tmp_path / "bag.mcap"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    use(path)


@fuzz
@given(st.data())
def test_flipped_bits(small: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(small.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path / "bag.mcap"
    path.write_bytes(content)
    use(path)


@fuzz
@given(st.data())
def test_reordered_records(small: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = small.read_bytes()
    parts, position = [], 8
    while position < len(content) - 8:
        (length,) = struct.unpack_from("<Q", content, position + 1)
        parts.append(content[position : position + 9 + length])
        position += 9 + length
    for _ in range(data.draw(st.integers(1, 3))):
        one, other = (data.draw(st.integers(0, len(parts) - 1)) for _ in range(2))
        parts[one], parts[other] = parts[other], parts[one]
    path = tmp_path / "bag.mcap"
    path.write_bytes(content[:8] + b"".join(parts) + content[-8:])
    use(path)


@fuzz
@given(st.data())
def test_flipped_bits_under_good_checksums(small: Path, tmp_path: Path, data: st.DataObject) -> None:
    bag = Bag.open(small)
    by_topic = {t: [m.data for m in bag.messages() if m.topic == t] for t in bag.topics if bag.counts[t]}
    changes = {}
    for _ in range(data.draw(st.integers(1, 4))):
        topic = data.draw(st.sampled_from(sorted(by_topic)))
        index = data.draw(st.integers(0, len(by_topic[topic]) - 1))
        content = bytearray(by_topic[topic][index])
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        changes[topic, index] = bytes(content)
    use(rewritten(small, tmp_path / "bag.mcap", changes))


@fuzz
@given(st.data())
def test_changed_times_under_good_checksums(small: Path, tmp_path: Path, data: st.DataObject) -> None:
    bag = Bag.open(small)
    times = st.integers(0, 100).map(lambda tick: tick * 1_000_000) | st.integers(0, 2**62)
    rows: dict[str, list[tuple[int, bytes]]] = {t: [] for t in bag.topics}
    for m in bag.messages():
        rows[m.topic].append((m.log_time, m.data))
    topic = data.draw(st.sampled_from([t for t in bag.topics if rows[t]]))
    place = data.draw(st.integers(0, len(rows[topic]) - 1))
    rows[topic][place] = (data.draw(times), rows[topic][place][1])
    rows[topic].sort(key=lambda row: row[0])
    schemas = {t: bag.schemas[t] for t in bag.topics}
    channels = [OpaqueChannel(t, s.name, s.encoding, s.data, bag.encodings[t]) for t, s in schemas.items()]
    with BagWriter(tmp_path / "bag.mcap", channels, bag.metadata, bag.attachments, 1) as writer:
        writer.write([rows[t] for t in bag.topics])
    use(tmp_path / "bag.mcap")


@fuzz
@given(st.data())
def test_changed_attachments(small: Path, tmp_path: Path, data: st.DataObject) -> None:
    bag = Bag.open(small)
    name = data.draw(st.sampled_from(sorted(bag.attachments)))
    text = bag.attachments[name]
    start = data.draw(st.integers(0, len(text)))
    patch = data.draw(st.binary(max_size=4) | st.sampled_from([b"0", b"-", b": ", b"\n", b"[", b"1e9", b"null"]))
    attachments = {**bag.attachments, name: text[:start] + patch + text[start + data.draw(st.integers(0, 8)) :]}
    schemas = {t: bag.schemas[t] for t in bag.topics}
    channels = [OpaqueChannel(t, s.name, s.encoding, s.data, bag.encodings[t]) for t, s in schemas.items()]
    rows: dict[str, list[tuple[int, bytes]]] = {t: [] for t in bag.topics}
    for m in bag.messages():
        rows[m.topic].append((m.log_time, m.data))
    with BagWriter(tmp_path / "bag.mcap", channels, bag.metadata, attachments, 1) as writer:
        writer.write([rows[t] for t in bag.topics])
    use(tmp_path / "bag.mcap")
