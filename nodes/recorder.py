"""The recorder: writes what is final to a bag."""

from collections.abc import Mapping

from graph.bag import BagWriter, Channel
from graph.memory import Array
from graph.service import Sink, SinkContext
from msgs.layout import record_dtype
from msgs.schema import name_of, text_of


class Recorder(Sink):
    """Writes every topic of the graph to a bag, in the graph's order of topics."""

    def __init__(self, context: SinkContext) -> None:
        """Opens the bag. Raises InputError when it cannot be created; without a bag it records nothing."""
        super().__init__(context)
        graph = context.graph
        self._topics = [t.name for t in graph.topics]
        self._writer = None
        if context.bag is not None:
            channels = [Channel(t.name, name_of(t.message), text_of(t.message), record_dtype(t.message)) for t in graph.topics]
            provenance = context.provenance
            self._writer = BagWriter(
                context.bag, channels, provenance.metadata, provenance.attachments, graph.period_ns
            )

    def take(self, end: int, logs: Mapping[str, Array]) -> None:
        """Add a window's messages."""
        if self._writer is not None:
            self._writer.write([logs[name] for name in self._topics])

    def close(self) -> None:
        """Complete the bag."""
        if self._writer is not None:
            self._writer.finish()
