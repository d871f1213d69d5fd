"""Launch files: what runs, how it is wired, and the arguments that change it.

A launch file reads like the block diagram. ``$name`` as a value stands for an argument; ports not mentioned are on the
topic of their own name; a node of an included file is replaced by one of the same name, or removed with ``null``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from graph import shipped
from graph.config import Config, did_you_mean, parse, parse_yaml
from graph.errors import InputError

KINDS: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool}
IDENTIFIER = r"^[a-z][a-z0-9_]*$"
Value = str | int | float | bool | None


class Argument(Config):
    """One launch argument; without a default its value is null until given."""

    type: Literal["str", "int", "float", "bool"] = Field(default="str", description="type of the value")
    default: Value = Field(default=None, description="value when not given")
    help: str = Field(default="", description="what it is, for --help")
    choices: tuple[Value, ...] = Field(default=(), description="the only valid values, if any")


class NodeEntry(Config):
    """One node of the graph."""

    node: str = Field(description="import path of the node's module, such as nodes.imu or my_team.stack")
    inputs: dict[str, str] = Field(default={}, description="topic by input port, where not the port's name")
    outputs: dict[str, str] = Field(default={}, description="topic by output port, where not the port's name")
    remap: dict[str, str] = Field(default={}, description="new topic by topic, for all ports of the node")
    options: dict[str, Any] = Field(default={}, description="the node's own options")
    external: bool = Field(default=False, description="runner process waits for it instead of starting it")

    def topic(self, ports: Mapping[str, str], port: str) -> str:
        """The topic of ``port``, of which ``ports`` are the inputs or the outputs named in the file."""
        topic = ports.get(port, port)
        return self.remap.get(topic, topic)


class Include(Config):
    """Another launch file whose graph becomes part of this one."""

    launch: str = Field(description="launch file, by name or by path")
    args: dict[str, Value] = Field(default={}, description="its arguments")
    remap: dict[str, str] = Field(default={}, description="new topic by its topic")


class Transport(Config):
    """How the processes of a run reach each other."""

    listen: str = Field(default="tcp/127.0.0.1:0", description="zenoh endpoint pattern; port 0 takes a free port")
    multicast: bool = Field(default=False, description="whether outsiders may find the run by multicast scouting")
    config: dict[str, Any] = Field(
        default={}, description="further zenoh configuration, such as TLS and access control"
    )


class File(Config):
    """A launch file."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$", description="name of the launch file")
    description: str = Field(default="", description="one line for --help")
    args: dict[str, Argument] = Field(default={}, description="arguments")
    include: tuple[Include, ...] = Field(default=(), description="launch files this one is built from")
    world: dict[str, Value] = Field(
        default={}, description="what is flown: scenario, course, vehicle, baseline, seed ..."
    )
    nodes: dict[str, NodeEntry | None] = Field(default={}, description="the nodes by name")
    delayed: tuple[str, ...] = Field(default=(), description="inputs NODE.PORT that deliver at the next tick")
    order: tuple[str, ...] = Field(default=(), description="topics in their order within a tick of the bag")
    transport: Transport | None = Field(default=None, description="how processes reach each other")


@dataclass(frozen=True)
class Launch:
    """A resolved launch file: arguments filled in, includes merged."""

    name: str
    world: dict[str, Value]
    nodes: dict[str, NodeEntry]
    delayed: tuple[tuple[str, str], ...]
    order: tuple[str, ...]
    order_included: bool  # of an included file, whose topics the file may have left out with their nodes
    transport: Transport


def names() -> list[str]:
    """The shipped launch files."""
    return shipped.names("launch")


def read(name: str) -> File:
    """The launch file of that shipped name or path, as written. Raises InputError."""
    return shipped.load("launch file", "launch", File, name)


def resolve(name: str, overrides: Sequence[str] = ()) -> Launch:
    """Launch file ``name`` with ``arg=value`` overrides. Raises InputError for whatever is not valid."""
    file = read(name)
    source = name if name in names() else str(Path(name))
    return _resolve(file, source, _parse_overrides(file, overrides), ())


def _parse_overrides(file: File, overrides: Sequence[str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for text in overrides:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"argument '{text}': write it as NAME=VALUE; {_valid_args(file)}")
        if name not in file.args:
            raise InputError(
                f"unknown argument '{name}' of launch file {file.name}{did_you_mean(name, file.args)}; "
                f"{_valid_args(file)}"
            )
        if name in values:
            raise InputError(f"argument '{name}' is given twice")
        values[name] = _convert(f"argument {name} of launch file {file.name}", file.args[name], value)
    return values


def _valid_args(file: File) -> str:
    return f"valid arguments: {', '.join(file.args) or 'none'}"


def _convert(what: str, argument: Argument, text: str) -> Value:
    if argument.type == "str":
        return text
    if argument.type == "bool":
        if text.lower() not in ("true", "false", "on", "off"):
            raise InputError(f"{what}: '{text}' is not a bool; valid: true, false, on, off")
        return text.lower() in ("true", "on")
    try:
        return KINDS[argument.type](text)
    except ValueError:
        kind = {"int": "a whole number", "float": "a number"}[argument.type]
        raise InputError(f"{what}: '{text}' is not {kind}") from None


def _resolve(file: File, source: str, given: Mapping[str, Value], chain: tuple[str, ...]) -> Launch:
    if source in chain:
        raise InputError(f"launch files include each other: {' -> '.join([*chain, source])}")
    args = _arguments(file, given)
    world: dict[str, Value] = {}
    nodes: dict[str, NodeEntry] = {}
    delayed: list[tuple[str, str]] = []
    order: list[str] = []
    transport = file.transport
    for include in file.include:
        inner_file = read(_beside(source, include.launch))
        unknown = next((a for a in include.args if a not in inner_file.args), None)
        if unknown is not None:
            raise InputError(
                f"{source}: include {include.launch}: unknown argument '{unknown}'"
                f"{did_you_mean(unknown, inner_file.args)}; {_valid_args(inner_file)}"
            )
        _check_topics(include.remap.values(), f"{source}: include {include.launch}: remap")
        filled = {k: _fill(v, args, source) for k, v in include.args.items()}
        inner = _resolve(inner_file, _beside(source, include.launch), filled, (*chain, source))
        world |= inner.world
        nodes |= {name: _remapped(entry, include.remap) for name, entry in inner.nodes.items()}
        delayed += inner.delayed
        order += [include.remap.get(topic, topic) for topic in inner.order]
        transport = transport or inner.transport
    world |= {k: _fill(v, args, source) for k, v in file.world.items()}
    for name, entry in file.nodes.items():
        for wired in () if entry is None else (entry.inputs, entry.outputs, entry.remap):
            _check_topics(wired.values(), f"{source}: nodes.{name}")
        if not re.fullmatch(IDENTIFIER, name):
            raise InputError(f"{source}: nodes.{name}: a node's name is made of a-z, 0-9 and _")
        if entry is None:
            if name not in nodes:
                raise InputError(f"{source}: nodes.{name}: null removes an included node, but none has that name")
            del nodes[name]
        else:
            options = {k: _fill(v, args, source) for k, v in entry.options.items()}
            nodes[name] = entry.model_copy(update={"options": options})
    delayed = [(n, p) for n, p in delayed if n in nodes]
    delayed += [_port(source, text) for text in file.delayed]
    order = list(file.order) or order
    return Launch(
        file.name, world, nodes, tuple(dict.fromkeys(delayed)), tuple(order), not file.order, transport or Transport()
    )


def _check_topics(topics: Iterable[str], where: str) -> None:
    for topic in topics:
        if not re.fullmatch(IDENTIFIER, topic):
            raise InputError(f"{where}: topic '{topic}': a topic's name is made of a-z, 0-9 and _")


def _arguments(file: File, given: Mapping[str, Value]) -> dict[str, Value]:
    args: dict[str, Value] = {}
    for name, argument in file.args.items():
        value = given.get(name, argument.default)
        if isinstance(value, int) and not isinstance(value, bool) and argument.type == "float":
            value = float(value)
        if value is not None and type(value) is not KINDS[argument.type]:
            raise InputError(f"argument {name} of launch file {file.name}: {value!r} is not of type {argument.type}")
        if argument.choices and value is not None and value not in argument.choices:
            valid = ", ".join(str(c) for c in argument.choices)
            raise InputError(f"argument {name} of launch file {file.name}: {value!r} is not one of: {valid}")
        args[name] = value
    return args


def _beside(source: str, name: str) -> str:
    """A path in an include is relative to the including file's folder."""
    return name if name in names() or source in names() else os.path.normpath(Path(source).parent / name)


def _fill(value: Any, args: Mapping[str, Value], source: str) -> Any:
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    if value[1:] not in args:
        raise InputError(f"{source}: {value} is no argument of this file; arguments: {', '.join(args) or 'none'}")
    return args[value[1:]]


def _remapped(entry: NodeEntry, remap: Mapping[str, str]) -> NodeEntry:
    inner = {topic: remap.get(renamed, renamed) for topic, renamed in entry.remap.items()}
    return entry.model_copy(update={"remap": {**remap, **inner}})


def _port(source: str, text: str) -> tuple[str, str]:
    node, dot, port = text.partition(".")
    if not dot:
        raise InputError(f"{source}: delayed: '{text}': write it as NODE.PORT")
    return node, port


def from_text(text: str, source: str) -> Launch:
    """The launch that a bag carries as ``text``: its stepped nodes, already resolved. Raises InputError."""
    file = parse(File, parse_yaml(text, source), source)
    nodes = {name: entry for name, entry in file.nodes.items() if entry is not None}
    delayed = tuple(_port(source, text) for text in file.delayed)
    return Launch(file.name, {}, nodes, delayed, file.order, False, Transport())
