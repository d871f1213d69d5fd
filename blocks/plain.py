"""A kernel's source run by the plain interpreter: the same bits without compiling, for a picture's or a configuration's
few calls.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, and every kernel it calls by name, uncompiled."""
    return _plain(function, {})


def _plain(function: Any, done: dict[int, Any]) -> Callable[..., Any]:
    source = getattr(function, "py_func", function)
    if id(source) in done:
        return cast(Callable[..., Any], done[id(source)])
    names = dict(source.__globals__)
    copy = done[id(source)] = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
    for name in source.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = _plain(names[name], done)
    return copy
