"""What a viewer is offered: every topic of a session in the encoding it is recorded in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.derived import DerivedTopic
from graph.wiring import Graph
from msgs.schema import name_of, text_of


@dataclass(frozen=True)
class OfferedTopic:
    """A topic as a viewer sees it."""

    name: str
    encoding: str
    schema_name: str
    schema_encoding: str
    schema: bytes


@dataclass(frozen=True)
class Wiring:
    """Who publishes and who listens, by topic."""

    publishers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    subscribers: Mapping[str, Sequence[str]] = field(default_factory=dict)


def offered(graph: Graph, derived: Sequence[DerivedTopic]) -> list[OfferedTopic]:
    """The topics of a graph, then the derived ones."""
    topics = [
        OfferedTopic(t.name, "cdr", name_of(t.message), "ros2msg", text_of(t.message).encode()) for t in graph.topics
    ]
    return topics + [OfferedTopic(t.name, t.encoding, t.schema_name, t.schema_encoding, t.schema) for t in derived]


def wiring_of(graph: Graph, derived: Sequence[Any]) -> Wiring:
    """The real wiring of a session, its derived topics (graph.derived.Derived) included."""
    publishers: dict[str, list[str]] = {t.name: [t.publisher.name] for t in graph.topics}
    subscribers: dict[str, list[str]] = {t.name: [i.name for i, _ in t.subscribers] for t in graph.topics}
    for item in derived:
        publishers |= {t.name: [item.name] for t in item.topics}
        for topic in item.context.topics.values():
            subscribers[topic].append(item.name)
    return Wiring(publishers, subscribers)
