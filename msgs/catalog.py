"""The message types of this package by name, for whoever meets one in a bag."""

import importlib
import pkgutil
from functools import cache

import msgs
from msgs.message import REGISTRY
from msgs.schema import name_of


@cache
def _load_all() -> None:
    for module in pkgutil.iter_modules(msgs.__path__, "msgs."):
        importlib.import_module(module.name)


def message_named(name: str) -> type | None:
    """The message class whose ROS 2 name is ``name``, such as holeshot_msgs/msg/ImuSample; None when there is none."""
    _load_all()
    return next((cls for cls in REGISTRY.values() if name_of(cls) == name), None)
