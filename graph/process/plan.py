"""Who runs where: the processes of a run, the edges between them, and the memory they share with the launcher."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from graph.build import Session
from graph.errors import InputError
from graph.wiring import Topic
from msgs.units import NS_PER_S

WINDOWS_IN_FLIGHT = 4
"""How many windows the clock grants ahead of the slowest node."""

LEISURE_NS = NS_PER_S
"""How much further a sink may be behind that takes its time."""

PACKETS, LATENCY_NS, FIRST_COUNT = 0, 1, 2
"""What is summed up of an edge: packets, ns from when one was sent to when it was taken, messages of each topic."""

COMPUTING, WAITING_FOR_CLOCK, FINISHED = -1, -2, -3
"""What a process is doing, unless it waits for another, whose index then stands there."""


@dataclass(frozen=True)
class Edge:
    """Everything ``consumer`` hears from ``producer``."""

    producer: str
    consumer: str
    topics: tuple[Topic, ...]
    delay: int  # 1: the consumer's step at a tick takes what was published before that tick


class Plan:
    """The processes of a session: its nodes in step order, then its sinks, then the clock."""

    def __init__(self, session: Session, window: int) -> None:
        self.session = session
        self.window = window
        self.nodes = [i.name for i in session.graph.instances]
        self.external = [name for name in self.nodes if session.launch.nodes[name].external]
        self.sinks = list(session.sinks)
        if session.clock is None:
            raise InputError(f"launch {session.launch.name}: runner process needs a clock among the nodes: nodes.clock")
        self.clock = session.clock.name
        self.processes = [*self.nodes, *self.sinks, self.clock]
        self.index = {name: number for number, name in enumerate(self.processes)}

    def lead(self, name: str) -> int:
        """How many ticks the clock grants ahead of a process."""
        leisurely = name in self.sinks and self.session.sinks[name].kind.PERIOD_S > 0.0
        return self.window * WINDOWS_IN_FLIGHT + (LEISURE_NS // self.session.graph.period_ns if leisurely else 0)

    def capacity(self, name: str) -> int:
        """The ticks a log must hold in a process: what can be in flight beyond what was taken."""
        return self.lead(name) + 2 * self.window

    def last_promise(self, name: str) -> int:
        """The latest tick that node ``name`` can promise: just before it would step after the end of the run."""
        graph = self.session.graph
        return self.session.ticks + graph.instance(name).first_tick(1, graph.period_ns)

    @cached_property
    def edges(self) -> list[Edge]:
        """All edges: between nodes, to sinks, and of an external node to who stands in for it."""
        graph = self.session.graph
        edges = []
        for producer in graph.instances:
            published = [t for t in graph.topics if t.publisher is producer]
            order = {o.name: k for k, o in enumerate(producer.node.outputs)}
            published.sort(key=lambda topic: order[topic.output.name])
            for consumer in graph.instances:
                for delay in (0, 1):
                    heard = [
                        t
                        for t in published
                        if any(s is consumer for s, _ in t.subscribers)
                        and ((t.name, consumer.name) in graph.delayed) == bool(delay)
                    ]
                    if heard:
                        edges.append(Edge(producer.name, consumer.name, tuple(heard), delay))
            listeners = [*self.sinks, producer.name] if producer.name in self.external else self.sinks
            edges += [Edge(producer.name, listener, tuple(published), 0) for listener in listeners if published]
        return edges

    def batched(self, edge: Edge) -> bool:
        """Whether an edge carries one packet per window: its consumer is no part of the loop, or its producer never
        waits.
        """
        graph = self.session.graph
        producer = graph.instance(edge.producer)
        return edge.consumer in self.sinks or edge.consumer in graph.leaves or not producer.node.inputs

    def core(self, name: str, cores: Sequence[int]) -> int:
        """The core a process runs on: the loop is serial, so its nodes share one; sinks and clock take another."""
        in_loop = name in self.nodes and name not in self.session.graph.leaves and name not in self.external
        first = os.getppid() % len(cores)  # of the launcher, so that runs at the same time spread over the cores
        return cores[first if in_loop else (first + 1) % len(cores)]


class Board:
    """Memory that all processes share: how far each is and for whom it waits, and what came over each edge."""

    def __init__(self, processes: int, edges: Sequence[Edge]) -> None:
        sizes = [FIRST_COUNT + len(edge.topics) for edge in edges]
        self._memory = mmap.mmap(-1, 8 * (2 * processes + sum(sizes)))
        cells = np.frombuffer(self._memory, np.int64)
        self.ticks = cells[:processes]
        self.waiting = cells[processes : 2 * processes]
        self.waiting[:] = WAITING_FOR_CLOCK
        # No array: a cell of a memory view is set in half the time, and they are set with every packet.
        rest = memoryview(self._memory).cast("q")[2 * processes :]
        self.tallies = [rest[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True)]
