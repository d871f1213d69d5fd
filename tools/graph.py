"""``holeshot graph``: the block diagram of a launch file, as text, as Mermaid, and as the code it becomes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from graph.build import Session
    from graph.wiring import Graph, Instance, Topic


def graph(
    name: Annotated[
        str | None, typer.Argument(help="launch file: a shipped name or the path of a .yaml file; not with --live")
    ] = None,
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ARG=VALUE]...", help="launch arguments")] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="print a Mermaid flowchart")] = False,
    source: Annotated[bool, typer.Option("--source", help="print the generated loop and entries")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="measure rate and latency of each edge of a running session")
    ] = False,
    run: Annotated[str | None, typer.Option("--run", metavar="ID", help="which session --live measures")] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.1, help="how long --live measures, s of wall time; by default 2")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the graph as one JSON object")] = False,
) -> None:
    """Show the nodes of a launch file in step order, their rates, ports, topics, types and latencies.

    Exit code 0: shown; 2: bad input.

    Example: holeshot graph sitl scenario=scripted-hop --mermaid
    """
    from graph.errors import InputError
    from tools import terminal
    from tools.session import load

    if mermaid + source + as_json > 1:
        raise InputError("--mermaid, --source and --json exclude each other; give one of them")
    if live:
        from tools.live_graph import live_edges

        if name is not None or mermaid or source:
            raise InputError("--live shows a running session: give neither a launch file nor --mermaid or --source")
        live_edges(run, 2.0 if seconds is None else seconds, as_json)
        return
    if run is not None or seconds is not None:
        raise InputError("--run and --seconds are of --live, which shows a running session; leave them out")
    if name is None:
        raise InputError("graph: name a launch file, or give --live for a running session")
    session, _ = load(name, arguments or [])
    if as_json:
        print(json.dumps(as_object(session)))
    elif mermaid:
        print(as_mermaid(session))
    elif source:
        print(as_source(session.graph), end="")
    else:
        terminal.results.print(as_text(session), markup=False, soft_wrap=True)


def as_text(session: Session) -> str:
    """A block per node: its rate, then a line for each port."""
    lines = [f"{session.launch.name}: ticks of {_ms(session.graph.period_ns)}, nodes in step order"]
    for instance in session.graph.instances:
        kind = ", plain Python" if instance.node.python else ""
        kind += ", external" if session.launch.nodes[instance.name].external else ""
        lines += ["", f"{instance.name}  ({instance.node.where}, {instance.setup.rate_hz} Hz{kind})"]
        lines += [f"  <- {text}" for text in _inputs(session.graph, instance)]
        lines += [f"  -> {text}" for text in _outputs(session.graph, instance)]
    others = [f"{name}  ({part.__module__})" for name, (part, _) in session.sinks.items()]
    others += [f"{d.name}  ({d.kind.__module__})" for d in session.derived]
    if session.clock is not None:
        others.append(f"{session.clock.name}  ({session.clock.kind.__module__})")
    return "\n".join([*lines, "", "not stepped: " + ", ".join(others or ["none"])])


def _inputs(graph: Graph, instance: Instance) -> list[str]:
    texts = []
    for port in instance.node.inputs:
        topic = graph.topic(instance.inputs[port.name])
        mode = {"newest": "the newest", "new": "the newest, and how many are new", "each": "every message"}[port.mode]
        late = ", one tick later" if (topic.name, instance.name) in graph.delayed else ""
        texts.append(f"{_port(port.name, topic.name)} {port.message.__name__}  {mode}{late}")
    return texts


def _outputs(graph: Graph, instance: Instance) -> list[str]:
    texts = []
    for output in instance.node.outputs:
        topic = graph.topic(instance.outputs[output.name])
        notes = ["sometimes"] if output.optional else []
        notes += [f"{_ms(topic.latency_ns)} late"] if topic.latency_ns else []
        listeners = ", ".join(listener.name for listener, _ in topic.subscribers) or "nobody"
        texts.append(
            f"{_port(output.name, topic.name)} {output.message.__name__}  {', '.join([*notes, 'to ' + listeners])}"
        )
    return texts


def _port(port: str, topic: str) -> str:
    return f"{port}:" if port == topic else f"{port} (topic {topic}):"


def _ms(ns: int) -> str:
    return f"{ns / 1e6:g} ms"


def as_mermaid(session: Session) -> str:
    """The nodes and an arrow for each listener of each topic; a dotted one delivers at the next tick."""
    graph = session.graph
    lines = ["flowchart LR"]
    lines += [f'    {i.name}["{i.name}<br/>{i.setup.rate_hz} Hz"]' for i in graph.instances]
    for topic in graph.topics:
        late = f", {_ms(topic.latency_ns)}" if topic.latency_ns else ""
        for listener, _ in topic.subscribers:
            arrow = "-.->" if (topic.name, listener.name) in graph.delayed else "-->"
            lines.append(f'    {topic.publisher.name} {arrow}|"{topic.name}{late}"| {listener.name}')
    return "\n".join(lines)


def as_source(graph: Graph) -> str:
    """The generated loop, then the entry of each node that is compiled."""
    from graph import loop
    from graph.memory import entry_of

    parts = [loop.source(graph)]
    parts += [entry_of(instance).source for instance in graph.instances]
    return "\n\n".join(parts)


def as_object(session: Session) -> dict[str, Any]:
    """The graph as a JSON object."""
    graph = session.graph
    return {
        "launch": session.launch.name,
        "period_ns": graph.period_ns,
        "nodes": [_node(i) | {"external": session.launch.nodes[i.name].external} for i in graph.instances],
        "topics": [_topic(graph, t) for t in graph.topics],
        "sinks": list(session.sinks),
    }


def _node(instance: Instance) -> dict[str, Any]:
    return {
        "name": instance.name,
        "node": instance.node.where,
        "rate_hz": instance.setup.rate_hz,
        "python": instance.node.python,
        "inputs": [
            {"port": p.name, "topic": instance.inputs[p.name], "type": p.message.__name__, "takes": p.mode}
            for p in instance.node.inputs
        ],
        "outputs": [
            {"port": o.name, "topic": instance.outputs[o.name], "type": o.message.__name__, "optional": o.optional}
            for o in instance.node.outputs
        ],
    }


def _topic(graph: Graph, topic: Topic) -> dict[str, Any]:
    return {
        "name": topic.name,
        "type": topic.message.__name__,
        "publisher": topic.publisher.name,
        "latency_ns": topic.latency_ns,
        "listeners": [
            {"node": listener.name, "port": port.name, "delayed": (topic.name, listener.name) in graph.delayed}
            for listener, port in topic.subscribers
        ],
    }
