"""How a node is declared: typed in, typed out, one step function, state that can be frozen."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints, overload

from blocks.kernel import inlined
from blocks.splitmix64 import stream
from msgs.message import is_message

M = TypeVar("M")


class Maybe(NamedTuple, Generic[M]):
    """An output that a step may leave out."""

    present: bool
    value: M


class New(NamedTuple, Generic[M]):
    """An input seen as the messages since the node's last step."""

    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody calls
    last: M  # the newest message, also when count is 0; all zero before the first


@dataclass(frozen=True)
class Input:
    """An input port: ``newest`` takes a message that must exist, ``new`` and ``each`` what came since the last step."""

    name: str
    message: type
    mode: str  # "newest", "new" or "each"


@dataclass(frozen=True)
class Output:
    """An output port; ``optional`` when a step may leave it out."""

    name: str
    message: type
    optional: bool


@dataclass(frozen=True)
class Context:
    """What a node is configured from, before the run."""

    name: str  # of this node in the graph
    seed: int
    options: Any  # the module's `Options` (a graph.config.Config), as the launch file gives them
    world: Any  # scenarios.World of the session

    def stream(self, purpose: str) -> int:
        """The first state of a random stream of this node's own: adding a node never shifts another's draws."""
        return stream(self.seed, self.name, purpose)


@dataclass(frozen=True)
class Live:
    """What a node can be told while it runs: an order becomes rows of numbers, which change its records at one tick.

    ``parse`` gets an order, the time of its tick in ns, and the earlier orders' times and rows; it raises InputError.
    ``apply`` gets the node's parameter and state records, the time of the tick in ns, and the rows, before the node
    steps at that tick. For a run to be repeated from its bag, what an order did must show in the node's own messages.
    """

    parse: Callable[[Mapping[str, Any], int, list[tuple[int, list[list[float]]]]], list[list[float]]]
    apply: Callable[[Any, Any, int, list[list[float]]], None]
    capacity: int  # rows in a run


@dataclass(frozen=True)
class Setup:
    """A configured node: its parameters, first state, rate, latency of outputs by port name, and orders it takes."""

    params: Any
    state: Any
    rate_hz: int
    latency_ns: Mapping[str, int] = field(default_factory=dict)
    live: Live | None = None


class NodeError(TypeError):
    """A node declaration that cannot work; the message names module, node and port."""


class Node:
    """A declared node: its ports, kernels and types, read off the signature of its step function."""

    def __init__(self, step: Callable[..., Any], python: bool = False, reaches: Iterable[str] = ()) -> None:
        self.module = step.__module__
        self.name = step.__name__
        self.python = python
        self.reaches = tuple(reaches)
        self.step = step if python else inlined(step)
        self.each_kernels: dict[str, Any] = {}
        hints = _hints(step, self.where)
        names = list(inspect.signature(step).parameters)
        if len(names) < 3:
            raise NodeError(f"{self.where}: step takes (params, state, t, inputs ...), got ({', '.join(names)})")
        self.params_type: type = hints[names[0]]
        self.state_type: type = hints[names[1]]
        self._inputs = [_input(self.where, name, hints[name]) for name in names[3:]]
        returns = get_args(hints["return"])
        if len(returns) != 2:
            raise NodeError(f"{self.where}: step returns tuple[State, Out]")
        self.out_type: type = returns[1]
        self.outputs, self.stops = _outputs(self.where, self.out_type)

    @property
    def where(self) -> str:
        """Module and node name, for messages."""
        return f"{self.module}.{self.name}"

    @property
    def inputs(self) -> list[Input]:
        """Input ports: those folded by ``each`` first, then those of the step, in order of declaration."""
        return [*self._each_inputs(), *self._inputs]

    @property
    def step_inputs(self) -> list[Input]:
        """The ports that are parameters of the step."""
        return self._inputs

    def _each_inputs(self) -> list[Input]:
        return [Input(name, message, "each") for name, (_, message) in self.each_kernels.items()]

    def each(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Fold ``function(params, state, message) -> state`` over a port's messages, in order, before every step."""
        names = list(inspect.signature(function).parameters)
        hints = _hints(function, self.where)
        message = hints.get(names[2]) if len(names) == 3 else None
        if not is_message(message):
            raise NodeError(f"{self.where}.each: {function.__name__} takes (params, state, message)")
        compiled = function if self.python else inlined(function)
        self.each_kernels[names[2]] = (compiled, message)
        return compiled


@overload
def node(step: Callable[..., Any], /) -> Node: ...
@overload
def node(*, python: bool = False, reaches: Iterable[str] = ()) -> Callable[[Callable[..., Any]], Node]: ...


def node(step: Any = None, /, *, python: bool = False, reaches: Iterable[str] = ()) -> Any:
    """Declare ``step(params, state, t, inputs ...) -> tuple[State, Out]`` as a node; its signature is the port list.

    ``python=True`` leaves the step as plain Python (a learned policy, a device): it runs under process and inline, not
    fused. ``reaches`` names modules that the step calls through a closure, which its source does not import.
    """
    if step is None:
        return lambda function: Node(function, python, reaches)
    return Node(step)


def _hints(function: Callable[..., Any], where: str) -> dict[str, Any]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise NodeError(f"{where}: {error}") from None
    for name in (*inspect.signature(function).parameters, "return"):
        if name not in hints:
            raise NodeError(f"{where}: {function.__name__} does not say of which type its {name} is")
    return hints


def _input(where: str, name: str, annotation: Any) -> Input:
    if is_message(annotation):
        return Input(name, annotation, "newest")
    if get_origin(annotation) is New and is_message(get_args(annotation)[0]):
        return Input(name, get_args(annotation)[0], "new")
    raise NodeError(f"{where}: input {name}: {annotation!r} is not a message or New[message]")


def _outputs(where: str, out_type: type) -> tuple[list[Output], bool]:
    outputs, stops = [], False
    for name, annotation in get_type_hints(out_type, include_extras=True).items():
        base = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
        if name == "stop" and base is bool:
            stops = True
        elif is_message(annotation):
            outputs.append(Output(name, annotation, optional=False))
        elif get_origin(annotation) is Maybe and is_message(get_args(annotation)[0]):
            outputs.append(Output(name, get_args(annotation)[0], optional=True))
        else:
            raise NodeError(f"{where}: output {name}: {annotation!r} is not a message or Maybe[message]")
    return outputs, stops
