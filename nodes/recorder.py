"""The recorder: writes what is final to a bag."""

from collections.abc import Mapping

from graph.bag import BagWriter, Channel, OpaqueChannel
from graph.bag.marks import COMPLETENESS
from graph.derived import DerivedStream
from graph.memory import Array
from graph.service import Sink, SinkContext
from msgs.layout import record_dtype
from msgs.schema import name_of, text_of


class Recorder(Sink):
    """Writes every topic of the graph to a bag, in the graph's order of topics, then the derived ones."""

    def __init__(self, context: SinkContext) -> None:
        """Opens the bag. Raises InputError when it cannot be created; without a bag it records nothing."""
        super().__init__(context)
        graph = context.graph
        self._topics = [t.name for t in graph.topics]
        self._recorded = dict.fromkeys(self._topics, 0)
        self._writer = None
        if context.bag is not None:
            self._derived = DerivedStream(context.derived)
            channels: list[Channel | OpaqueChannel] = [
                Channel(t.name, name_of(t.message), text_of(t.message), record_dtype(t.message)) for t in graph.topics
            ]
            channels += [
                OpaqueChannel(t.name, t.schema_name, t.schema_encoding, t.schema, t.encoding)
                for t in self._derived.topics
            ]
            provenance = context.provenance
            self._writer = BagWriter(
                context.bag, channels, provenance.metadata, provenance.attachments, graph.period_ns
            )

    def take(self, end: int, logs: Mapping[str, Array]) -> None:
        """Add a window's messages."""
        if self._writer is not None:
            for name in self._topics:
                self._recorded[name] += len(logs[name])
            self._writer.write([*(logs[name] for name in self._topics), *self._derived.take(end, logs)])
            self._writer.sync()

    def end(self, tick: int, counts: Mapping[str, int]) -> str | None:
        """Prove completeness: what was recorded of every topic is what was published. The bag says so either way."""
        if self._writer is None:
            return None
        written = self._writer.finish(closing=completeness(tick, counts, self._recorded))
        recorded = {name: min(written[name], self._recorded[name]) for name in self._topics}
        lost = [name for name in self._topics if recorded[name] != counts[name]]
        if not lost:
            return None
        texts = [f"topic {name}: {counts[name]} messages published, {recorded[name]} recorded" for name in lost]
        return f"the bag is not complete: {'; '.join(texts)}"

    def close(self) -> None:
        """Complete the bag."""
        if self._writer is not None:
            self._writer.finish()


def completeness(tick: int, published: Mapping[str, int], recorded: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """The metadata record: whether nothing is missing, the tick the run ended before, and messages by topic."""
    complete = all(published[name] == recorded[name] for name in recorded)
    counts = {
        f"topic {name}": str(n) if n == published[name] else f"{n} of {published[name]}" for name, n in recorded.items()
    }
    return {COMPLETENESS: {"complete": "yes" if complete else "no", "end_tick": str(tick), **counts}}
