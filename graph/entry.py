"""One compiled entry per node: load from records and rings, call the node's kernels, store.

Every runner calls the same entries; only who calls them differs. An entry's arguments are arrays, so that the runner
keeps all state and an entry has none:

``step(tick, t, P, S, C, L, log, n, ..., log, n, ...)`` with the 1-element parameter and state records, one cursor per
input, the period and the latency of each output (ns), then the log and message count of each input and of each output.
A log is a ring whose length is a power of two; each slot carries the tick at which its message is delivered. Returns
whether the node ends the run at this tick.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import numba
import numba.core.errors
import numpy as np

from graph import cache
from graph.errors import InputError
from graph.node import Maybe, New, Node
from graph.wrapping import wrapped
from msgs.codec import Namespace, load_source, store_source
from msgs.layout import fields_of, record_dtype
from msgs.message import log_dtype

INDENT = "    "
LOCALS = ("p", "s", "i", "n", "mask", "record", "slot", "out")
"""An entry's own variables, beside its parameters and the messages it got."""


def arguments(node: Node) -> list[str]:
    """The names of an entry's parameters, in order."""
    names = ["tick", "t", "P", "S", "C", "L"]
    for port in node.inputs:
        names += [f"in_{port.name}", f"n_in_{port.name}"]
    for output in node.outputs:
        names += [f"out_{output.name}", f"n_out_{output.name}"]
    return names


def source(node: Node, latent: Collection[str], delayed: Collection[str], names: Namespace) -> str:
    """The source of ``node``'s entry; ``latent`` are the outputs that have a latency, ``delayed`` the inputs that take
    only what was delivered before the tick. Fills ``names``.
    """
    params, state = _loads(node, names)
    body = [params, state] if node.each_kernels else []
    for index, port in enumerate(node.inputs):
        body += _input(node, index, port, port.name in delayed, names)
    # Right before their use: cursors were stored meanwhile, and the compiler cannot know that they lie elsewhere.
    body += [params] if node.each_kernels else [params, state]
    step = names.name(node.step, f"{node.name}_step")
    inputs = "".join(f", got_{port.name}" for port in node.step_inputs)
    body.append(f"s, out = {step}(p, s, t{inputs})")
    if fields_of(node.state_type):
        body += [f"record = {_record('S')}", *store_source(node.state_type, "record", "s")]
    for index, output in enumerate(node.outputs):
        body += _output(index, output.name, output.message, output.optional, output.name in latent)
    body.append(f"return {'out.stop' if node.stops else 'False'}")
    lines = [f"def step({', '.join(arguments(node))}):", *(INDENT + line for line in body)]
    return f'"""Entry of node {node.where}, generated."""\n\n\n' + "\n".join(wrapped(lines)) + "\n"


def _record(array: str) -> str:
    return f"{array}[0]"


def _loads(node: Node, names: Namespace) -> tuple[str, str]:
    return (
        f"p = {load_source(node.params_type, _record('P'), names)}",
        f"s = {load_source(node.state_type, _record('S'), names)}",
    )


def _input(node: Node, index: int, port: Any, delayed: bool, names: Namespace) -> list[str]:
    log, count, got = f"in_{port.name}", f"n_in_{port.name}", f"got_{port.name}"
    load = load_source(port.message, "record", names)
    lines = [
        f"i = C[{index}]",
        f"n = {count}[0]",
        f"mask = len({log}) - 1",
        f"while i < n and {log}[i & mask]['tick'] {'<' if delayed else '<='} tick:",
    ]
    newest = [f"record = {log}[(i - 1) & mask]['data']"]
    if port.mode == "each":
        each = names.name(node.each_kernels[port.name][0], f"each_{port.name}")
        fold = [f"record = {log}[i & mask]['data']", f"s = {each}(p, s, {load})", "i += 1"]
        return [*lines, *(INDENT + line for line in fold), f"C[{index}] = i"]
    lines.append(f"{INDENT}i += 1")
    if port.mode == "new":
        new = names.name(New, "New")
        return [*lines, *newest, f"{got} = {new}(count=i - C[{index}], last={load})", f"C[{index}] = i"]
    return [*lines, *newest, f"{got} = {load}", f"C[{index}] = i"]


def _output(index: int, name: str, message: type, optional: bool, latent: bool) -> list[str]:
    value = f"out.{name}.value" if optional else f"out.{name}"
    deliver = f"(t + L[{index + 1}] + L[0] - 1) // L[0]" if latent else "tick"
    lines = [
        f"i = n_out_{name}[0]",
        f"slot = out_{name}[i & (len(out_{name}) - 1)]",
        f"slot['tick'] = {deliver}",
        "record = slot['data']",
        *store_source(message, "record", value),
        f"n_out_{name}[0] = i + 1",
    ]
    return [f"if out.{name}.present:", *(INDENT + line for line in lines)] if optional else lines


class Entry:
    """A node's entry: its generated source and, when the node is not plain Python, its compiled form."""

    def __init__(self, node: Node, latent: Iterable[str], delayed: Iterable[str]) -> None:
        self.node = node
        names = Namespace({*LOCALS, *arguments(node), *(f"got_{port.name}" for port in node.inputs)})
        self.source = source(node, frozenset(latent), frozenset(delayed), names)
        modules = {node.module, *node.reaches, Maybe.__module__}
        modules |= {v.__module__ for v in names.values.values() if isinstance(v, type)}
        if node.python:
            modules.clear()  # nothing of it is compiled
        self.modules = sorted(modules)  # whose code the entry reaches
        defined = cache.generated(f"{node.module}.{node.name}", self.source, names.values, self.modules)
        self.interpreted: Callable[..., bool] = defined["step"]
        # Inlined into the fused loop: its arrays would be hundreds of words to pass by call.
        self.dispatcher = compiled(self.interpreted, forceinline=True)

    def signature(self) -> tuple[Any, ...]:
        """The numba types of the entry's arguments."""
        kinds: list[Any] = [numba.int64, numba.int64]
        kinds += [numba.typeof(np.zeros(1, stored_dtype(cls))) for cls in (self.node.params_type, self.node.state_type)]
        counter = numba.typeof(np.zeros(1, np.int64))
        kinds += [counter, counter]
        messages = [port.message for port in self.node.inputs] + [output.message for output in self.node.outputs]
        for message in messages:
            kinds += [numba.typeof(np.zeros(1, log_dtype(message))), counter]
        return tuple(kinds)

    def compile(self) -> None:
        """Compile the entry or load it from the cache. Raises InputError when its kernels do not compile."""
        if self.node.python or interpreted():
            return
        try:
            with cache.keeping():
                self.dispatcher.compile(self.signature())
        except numba.core.errors.NumbaError as error:
            raise InputError(f"node {self.node.where} does not compile: {_reason(str(error))}") from None

    @property
    def callable(self) -> Callable[..., bool]:
        """What the interpreter calls: the compiled entry without the dispatcher around it, or the plain function."""
        if self.node.python or interpreted():
            return self.interpreted
        self.compile()
        return self.dispatcher.overloads[self.signature()].entry_point


def _reason(text: str) -> str:
    """The part of numba's explanation that speaks of the node's own source: what is wrong, and where if it says so."""
    text = re.sub("\x1b\\[[0-9;]*m", "", text)
    places = re.finditer(r'File "([^"]+)", line (\d+)', text)
    place = next((m for m in places if _is_own(Path(m[1]))), None)
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    told = [n for n, line in enumerate(lines) if not line.startswith(("During:", "Failed in", "File "))]
    what = lines[told[0]] if told else lines[0]
    if what.endswith("found for signature:"):
        what = f"{what} {lines[told[1]].removeprefix('>>> ')}"
    return f"{what} ({place[1]}:{place[2]})" if place else what


def _is_own(path: Path) -> bool:
    """Whether a file is neither generated nor of an installed library."""
    installed = any(folder in path.parts for folder in cache.INSTALLED)
    return not installed and not path.resolve().is_relative_to(cache.folder())


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """The dispatcher of generated code, cached on disk. Kernels never allocate, so references are not counted."""
    njit: Any = numba.njit  # its annotations know less than it takes
    return njit(error_model="numpy", cache=True, nogil=True, _nrt=False, **options)(function)


def interpreted() -> bool:
    """Whether NUMBA_DISABLE_JIT asks for the plain interpreter."""
    settings: Any = numba.config
    return bool(settings.DISABLE_JIT)


def stored_dtype(cls: type) -> np.dtype[Any]:
    """The record of a parameter or state declaration; one unused byte stands for a declaration without fields."""
    dtype = record_dtype(cls)
    return dtype if dtype.names else np.dtype([("unused", "u1")])
