"""One node on its own: its compiled entry, fed with messages and stepped by hand."""

from typing import Any

import numpy as np

from graph.memory import Log, NodeMemory, entry_of
from graph.node import Node, Setup
from graph.wiring import Instance
from msgs.record import fill, read

PERIOD = 1_000_000  # ns, one tick


class Single:
    """A node whose inputs and outputs a test holds in its hands."""

    def __init__(self, node: Node, setup: Setup) -> None:
        ports = {port.name: port.name for port in node.inputs}
        outputs = {output.name: output.name for output in node.outputs}
        self.instance = Instance(node.name, node, setup, ports, outputs)
        self.memory = NodeMemory(self.instance, PERIOD)
        self.inputs = {port.name: Log(port.message, 4096) for port in node.inputs}
        self.outputs = {port.name: Log(port.message, 4096) for port in node.outputs}
        self._step = entry_of(self.instance).callable
        self._messages: dict[str, type] = {port.name: port.message for port in node.inputs}
        self._messages |= {output.name: output.message for output in node.outputs}

    def send(self, port: str, value: Any) -> None:
        """Deliver a message at the next step."""
        log = self.inputs[port]
        count = int(log.count[0])
        slot = log.ring[count & (len(log.ring) - 1)]
        slot["tick"] = -1
        fill(slot["data"], self._messages[port], value)
        log.count[0] = count + 1

    def step(self, t: int = 0, **messages: Any) -> bool:
        """Deliver one message on each port named, then step at t ns; returns whether the node ends the run."""
        for port, value in messages.items():
            self.send(port, value)
        logs = [*self.inputs.values(), *self.outputs.values()]
        arrays = [array for log in logs for array in (log.ring, log.count)]
        return bool(self._step(t // PERIOD, t, *self.memory.arrays, *arrays))

    def sent(self, port: str) -> list[Any]:
        """What the node has said on a port since this was last asked."""
        return [
            read(record, self._messages[port]) for record in self.outputs[port].take(np.iinfo(np.int64).max)["data"]
        ]

    def last(self, port: str) -> Any:
        """The newest of `sent`."""
        return self.sent(port)[-1]

    @property
    def state(self) -> Any:
        """The node's state."""
        return read(self.memory.S[0], self.instance.node.state_type)
