"""Makes a bag of a part of another: a span of time, some of its topics."""

from collections.abc import Collection
from pathlib import Path

from graph.bag.marks import COMPLETENESS, CUT, is_settled
from graph.bag.reader import Bag, Message
from graph.bag.writer import BagWriter, Counts, OpaqueChannel
from graph.errors import InputError


def cut(source: Bag, target: str | Path, from_ns: int, to_ns: int, topics: Collection[str]) -> Counts:
    """Writes the messages of ``topics`` with from_ns <= log time < to_ns to the new bag ``target``, and reads it back.

    Attachments and metadata are kept, except the proof of completeness, which a part does not have. Messages are
    numbered anew. Raises InputError when ``target`` exists, a topic is unknown, or ``source`` is not in order of time.
    """
    target = Path(target)
    for topic in topics:
        source.heads(topic)
    if target.exists():
        raise InputError(f"{target}: exists already and is not overwritten, name another path for the bag")
    kept = [topic for topic in source.topics if topic in topics]
    messages: dict[str, list[tuple[int, bytes]]] = {topic: [] for topic in kept}
    last = 0
    for message in source.messages():
        if message.log_time < last:
            raise InputError(
                f"{source.path}: message {message.sequence} of {message.topic} is earlier than one before it"
            )
        last = message.log_time
        if message.topic in messages and from_ns <= message.log_time < to_ns:
            messages[message.topic].append((message.log_time, message.data))
    metadata = {name: entries for name, entries in source.metadata.items() if name not in (COMPLETENESS, CUT)}
    begun = max(from_ns, int(source.metadata.get(CUT, {}).get("from_ns", "0")), 0)
    # What lies in front of the source's last tick is settled in any case.
    settled = "yes" if is_settled(source.metadata) or to_ns <= last else "no"
    metadata[CUT] = {"from_ns": str(begun), "to_ns": str(to_ns), "topics": ",".join(kept), "settled": settled}
    channels = [_channel(source, topic) for topic in kept]
    try:
        with BagWriter(target, channels, metadata, source.attachments, 1) as writer:
            writer.write([messages[topic] for topic in kept])
            counts = writer.finish()
        _check(Bag.open(target), source, from_ns, to_ns, kept)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return counts


def _channel(source: Bag, topic: str) -> OpaqueChannel:
    schema = source.schemas[topic]
    return OpaqueChannel(topic, schema.name, schema.encoding, schema.data, source.encodings[topic])


def _check(written: Bag, source: Bag, from_ns: int, to_ns: int, kept: Collection[str]) -> None:
    def content(message: Message) -> tuple[str, int, bytes]:
        return message.topic, message.log_time, message.data

    wanted = [content(m) for m in source.messages() if m.topic in kept and from_ns <= m.log_time < to_ns]
    if sorted(wanted) != sorted(content(m) for m in written.messages()):
        raise InputError(f"{written.path}: does not hold what was written")
