"""The whole graph as one plain loop over its entries, generated as source: interpreted it is the inline runner,
compiled it is the fused one.
"""

from __future__ import annotations

from collections.abc import Sequence

from graph.entry import INDENT
from graph.wiring import Graph, Instance
from graph.wrapping import wrapped
from msgs.units import NS_PER_S


def arguments(graph: Graph) -> list[str]:
    """The loop's array parameters: records, cursors and latencies of each node, then log and count of each topic."""
    names = [f"{array}_{i.name}" for i in graph.instances for array in "PSCL"]
    for topic in graph.topics:
        names += [f"log_{topic.name}", f"n_{topic.name}"]
    return names


def arguments_of(instance: Instance) -> list[str]:
    """The loop's names for the arrays of one entry, in the order of the entry's parameters behind tick and t."""
    topics = [instance.inputs[p.name] for p in instance.node.inputs]
    topics += [instance.outputs[o.name] for o in instance.node.outputs]
    return [f"{array}_{instance.name}" for array in "PSCL"] + [f"{a}_{t}" for t in topics for a in ("log", "n")]


def source(graph: Graph) -> str:
    """``run(tick, end, ...)`` steps every node due from ``tick`` until before ``end``; returns the tick behind the last
    one stepped, and whether a node ended the run there.
    """
    return source_of(graph, graph.instances, arguments(graph))


def source_of(graph: Graph, instances: Sequence[Instance], arguments: Sequence[str]) -> str:
    """The loop over some of the nodes."""
    lines = [
        f'"""Loop over {", ".join(i.name for i in instances)}, generated."""',
        "",
        "",
        f"def run(tick, end, {', '.join(arguments)}):",
        f"{INDENT}stopped = False",
        f"{INDENT}while tick < end:",
    ]
    for instance in instances:
        lines += [2 * INDENT + line for line in _fire(graph, instance)]
    lines += [f"{2 * INDENT}tick += 1", f"{INDENT}return tick, stopped"]
    return "\n".join(wrapped(lines)) + "\n"


def _fire(graph: Graph, instance: Instance) -> list[str]:
    name, rate, period = instance.name, instance.setup.rate_hz, graph.period_ns
    step = f"step_{name}(tick, t, {', '.join(arguments_of(instance))})"
    call = [f"if {step}:", f"{INDENT}end, stopped = tick + 1, True"] if instance.node.stops else [step]
    if NS_PER_S % (rate * period) == 0:
        every = NS_PER_S // (rate * period)
        due = "" if every == 1 else f"if tick % {every} == 0:  "
        if not due:
            return [f"t = tick * {period}  # {name}, {rate} Hz", *call]
        return [f"{due}# {name}, {rate} Hz", f"{INDENT}t = tick * {period}", *(INDENT + line for line in call)]
    return [
        f"k = (tick - 1) * {rate * period} // {NS_PER_S} + 1  # {name}, {rate} Hz",
        f"if k * {NS_PER_S} <= tick * {rate * period}:",
        f"{INDENT}t = k * {NS_PER_S} // {rate}",
        *(INDENT + line for line in call),
    ]
