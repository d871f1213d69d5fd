"""Faults that were injected into a recorded run while it flew."""

from __future__ import annotations

from graph.bag import Bag
from graph.build import Session
from graph.node import Setup
from msgs.fault import Fault
from msgs.layout import record_dtype
from msgs.record import read
from nodes.fault_injector import fault_injector, repeating


def injected_faults(bag: Bag, session: Session) -> dict[str, Setup]:
    """By fault injector's name the setup with which it says again what ``bag`` recorded.

    Empty when only the scenario's faults were announced. Raises InputError when the recorded faults are not readable.
    """
    setups = {}
    for instance in session.graph.instances:
        if instance.node is not fault_injector or instance.outputs["faults"] not in bag.counts:
            continue
        messages = bag.channel(instance.outputs["faults"], record_dtype(Fault))
        recorded = [(int(m["log_time"]), read(m["data"], Fault)) for m in messages]
        setup = repeating(instance.setup, recorded)
        if setup is not None:
            setups[instance.name] = setup
    return setups
