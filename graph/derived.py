"""Topics derived from the recorded ones: a pure function of the messages, for what has no fixed size, as a picture.

Whoever wants a derived topic (recorder, viewer) computes it from what it takes anyway, so it is the same bytes
everywhere and costs the loop nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from graph.config import did_you_mean
from graph.errors import InputError
from graph.memory import Array
from graph.wiring import Graph

Messages = list[tuple[int, bytes]]
"""Messages of one derived topic: (tick, data)."""


@dataclass(frozen=True)
class DerivedTopic:
    """A topic whose messages have no fixed size."""

    name: str
    schema_name: str
    schema: bytes
    schema_encoding: str = "protobuf"
    encoding: str = "protobuf"


@dataclass(frozen=True)
class DerivationContext:
    """What a derivation is made from: ticks, the topic of each input port that is there, options, and the world."""

    period_ns: int
    topics: Mapping[str, str]
    options: Any
    world: Any


class Derivation(ABC):
    """Computes derived topics. Its output depends on the messages alone, never on how they are cut into windows."""

    INPUTS: ClassVar[Mapping[str, type]]
    """Message type by input port; a port whose topic the graph does not have stays silent."""
    TOPICS: ClassVar[tuple[DerivedTopic, ...]]

    def __init__(self, context: DerivationContext) -> None:
        self.context = context

    @classmethod
    def wanted(cls, world: Any) -> bool:
        """Whether a session in ``world`` has these topics at all."""
        return True

    @abstractmethod
    def take(self, end: int, logs: Mapping[str, Array]) -> list[Messages]:
        """The messages of each of ``TOPICS`` before tick ``end``, from the window's messages by topic."""


@dataclass(frozen=True)
class Derived:
    """A derivation of a session, ready to be made, as often as somebody wants its topics."""

    name: str
    kind: type[Derivation]
    context: DerivationContext

    @property
    def topics(self) -> tuple[DerivedTopic, ...]:
        """Its topics."""
        return self.kind.TOPICS

    def make(self) -> Derivation:
        """A new one, which has taken nothing yet."""
        return self.kind(self.context)


def derive(
    name: str,
    kind: type[Derivation],
    named: Mapping[str, str],
    wired: Mapping[str, str],
    graph: Graph,
    options: Any,
    world: Any,
) -> Derived:
    """The derivation ``kind`` on ``graph``: ``wired`` is the topic of each port, ``named`` those the launch file names.

    Raises InputError for an unknown port, a topic that is not there or of another type, or one that is there already.
    """
    for port in named:
        if port not in kind.INPUTS:
            valid = ", ".join(kind.INPUTS)
            raise InputError(
                f"node {name} has no input port {port}{did_you_mean(port, kind.INPUTS)}; its input ports: {valid}"
            )
    kinds = {t.name: t.message for t in graph.topics}
    topics = {}
    for port, topic in wired.items():
        message = kind.INPUTS[port]
        if kinds.get(topic) is message:
            topics[port] = topic
        elif port in named:
            what = f"publishes {kinds[topic].__name__}" if topic in kinds else "nobody publishes"
            raise InputError(f"input {name}.{port} ({message.__name__}) listens on topic {topic}, which {what}")
    for derived in kind.TOPICS:
        if derived.name in kinds:
            publisher = graph.topic(derived.name).publisher.name
            raise InputError(
                f"topic {derived.name} has two publishers: {publisher} and {name}; remap that of {publisher}"
            )
    return Derived(name, kind, DerivationContext(graph.period_ns, topics, options, world))


class DerivedStream:
    """All derived topics of a session, computed window by window."""

    def __init__(self, derived: Sequence[Derived]) -> None:
        self.topics = [topic for item in derived for topic in item.topics]
        self._made = [item.make() for item in derived]

    def take(self, end: int, logs: Mapping[str, Array]) -> list[Messages]:
        """The messages of each topic of ``topics`` before tick ``end``."""
        return [messages for item in self._made for messages in item.take(end, logs)]
