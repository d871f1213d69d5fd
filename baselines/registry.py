"""Finds a slot implementation: a shipped one by its name, a user's own by its import path."""

import importlib
from types import ModuleType

from baselines.slots import KERNELS
from graph.config import did_you_mean
from graph.errors import InputError
from graph.importing import imported

SHIPPED: dict[str, dict[str, str]] = {
    "estimator": {"NullEstimator": "null_estimator", "GroundTruthEstimator": "ground_truth_estimator"},
    "gate_detector": {"NullGateDetector": "null_gate_detector"},
    "planner": {"NullPlanner": "null_planner", "WaypointPlanner": "waypoint_planner"},
    "controller": {
        "NullController": "null_controller",
        "ScriptedHopController": "scripted_hop_controller",
        "CascadedPid": "cascaded_pid",
    },
    "safety_filter": {"NullSafetyFilter": "null_safety_filter"},
    "daa_tracker": {"NullDaaTracker": "null_daa_tracker"},
    "fc_bridge": {"NullFcBridge": "null_fc_bridge"},
}
"""The shipped implementations of each kind by name, with their modules in this package."""


def slot(kind: str, name: str, baseline: str) -> ModuleType:
    """The module that implements a slot of `kind` under `name`; `baseline` names the file in errors.

    A name with a dot is the import path of a user's own module. Raises InputError when there is none, or it is not a
    slot of this kind.
    """
    shipped = SHIPPED[kind]
    where = f"baseline {baseline}: slots.{kind}"
    if name in shipped:
        return importlib.import_module(f"baselines.{shipped[name]}")
    if "." not in name:
        raise InputError(
            f"{where}: unknown {kind} '{name}'{did_you_mean(name, shipped)} "
            f"(valid: {', '.join(shipped)}, or the import path of a module, as in my_package.my_slot)"
        )
    module = imported(where, name)
    found = getattr(module, "KIND", None)
    if found != kind:
        raise InputError(f"{where}: module '{name}' has KIND {found!r}; must be '{kind}'")
    missing = [n for n in ("Params", "State", "configure", *KERNELS[kind]) if not hasattr(module, n)]
    if missing:
        raise InputError(f"{where}: module '{name}' lacks {', '.join(missing)}, which a {kind} must have")
    return module
