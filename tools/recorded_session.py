"""From a bag alone to the session it recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graph.bag import Bag
from graph.build import Session, build
from graph.errors import InputError
from graph.launch import Launch, from_text
from scenarios.world import World
from tools.injected import injected_faults

SHIPPED = ("nodes.", "baselines.")
CARRIED = ("scenario.yaml", "vehicle.yaml", "course.yaml", "baseline.yaml", "launch.yaml")
"""The attachments from which a bag's session is built."""


def from_bag(bag: Bag, speed_limit_m_s: float | None = None, trust: bool = False) -> tuple[Session, World]:
    """The session that a bag recorded, from the bag alone: its nodes without clock and sinks.

    ``speed_limit_m_s`` replaces the scenario's own. ``trust``: modules that the bag names are imported, which runs
    them, also those that are no part of this package. Raises InputError.
    """
    launch, world = carried(bag)
    if not trust:
        check_shipped(bag, {f"node {name}": entry.node for name, entry in launch.nodes.items()} | own_slots(world))
    if speed_limit_m_s is not None:
        world = replace(world, scenario=world.scenario.model_copy(update={"speed_limit_m_s": speed_limit_m_s}))
    session = build(launch, world)
    injected = injected_faults(bag, session)
    return (build(launch, world, injected) if injected else session), world


def carried(bag: Bag) -> tuple[Launch, World]:
    """The launch and the world that a bag carries. Raises InputError."""
    absent = [name for name in CARRIED if name not in bag.attachments]
    if absent:
        raise InputError(
            f"{bag.path}: does not carry {', '.join(absent)}: only a bag recorded by holeshot can be computed again"
        )
    texts = {}
    for name in CARRIED:
        try:
            texts[name.removesuffix(".yaml")] = bag.attachments[name].decode()
        except UnicodeDecodeError:
            raise InputError(f"{bag.path}: its attachment {name} is not a text") from None
    world = World.from_resolved({kind: text for kind, text in texts.items() if kind != "launch"})
    return from_text(texts["launch"], f"{bag.path}: launch.yaml"), world


def own_slots(world: World) -> dict[str, str]:
    """The modules that the baseline of ``world`` names beside shipped slots."""
    slots = world.baseline.slots.model_dump()
    return {f"baseline slot {kind}": module for kind, module in slots.items() if "." in module}


def check_shipped(bag: Bag, modules: Mapping[str, str]) -> None:
    """Raises InputError when one of the ``modules``, by who names it, is no part of this package."""
    for who, module in modules.items():
        if not module.startswith(SHIPPED):
            raise InputError(
                f"{bag.path}: {who} is the module {module}, which is not holeshot's own and would be run; if you trust "
                "it, say so: --trust (launch: trust=true)"
            )
