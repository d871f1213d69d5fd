"""Parameters given on the command line as ``KIND.KEY=VALUES``: which value of a world they mean, and their values."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph.config import Config, did_you_mean, parse_yaml
from graph.errors import InputError
from scenarios.world import MODELS, World

Values = Mapping[str, Any]
"""Value by parameter, such as {"vehicle.mass_kg": 0.9}."""

RANGE = re.compile(r"([^:,]+):([^:,]+):([^:,]+)")
MOST_VALUES = 1000
SEED = "scenario.seed"
SEVERAL = "several values as 3,4,5 or, evenly spaced, as FIRST:LAST:COUNT"


def parse_sets(world: World, texts: Sequence[str]) -> dict[str, list[Any]]:
    """``KIND.KEY=VALUES`` texts as values by the parameter's full name. Raises InputError."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        path, sign, values = text.partition("=")
        if not sign or not values.strip():
            raise InputError(f"--set {text}: write it as KIND.KEY=VALUES, such as vehicle.mass_kg=0.95; {SEVERAL}")
        name = full_name(world, path.strip())
        if name == SEED:
            raise InputError(f"--set {name}: seeds are given with --seeds and --first-seed")
        if name in found:
            raise InputError(f"--set {name}: is given twice; {SEVERAL}")
        found[name] = _values(name, values)
    return found


def combinations(sets: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination of the values, the last parameter's changing first; one empty one without any."""
    return [dict(zip(sets, values, strict=True)) for values in itertools.product(*sets.values())]


def applied(world: World, values: Values) -> World:
    """The world with these values in place of its own. Raises InputError for one that is not valid."""
    parts: dict[str, Any] = {}
    for name, value in values.items():
        kind, *keys = name.split(".")
        if kind not in parts:
            parts[kind] = getattr(world, kind).model_dump()
        inner = parts[kind]
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
    return world.with_parts(parts) if parts else world


def scaled(world: World, factor: float) -> World:
    """The world with every bound of the scenario's randomization times ``factor``. Raises InputError."""
    if not (math.isfinite(factor) and factor >= 0.0):
        raise InputError(f"--randomization {factor:g}: must be a number of at least 0")
    scenario = world.scenario.model_dump()
    scenario["randomization"] = {key: factor * bound for key, bound in scenario["randomization"].items()}
    return world.with_parts({"scenario": scenario})


def full_name(world: World, path: str) -> str:
    """The full name of a parameter: a key may leave out its unit, a baseline's parameter the word parameters.

    Raises InputError, which lists what is valid.
    """
    kind, *keys = path.split(".")
    if kind not in MODELS:
        raise InputError(
            f"--set {path}: {kind}{did_you_mean(kind, MODELS)}; valid: {', '.join(MODELS)}, as in KIND.KEY"
        )
    inner: Any = getattr(world, kind)
    if kind == "baseline" and len(keys) == 1 and _key(keys[0], inner) is None:
        keys = ["parameters", *keys]
    names = [kind]
    for place, part in enumerate(keys):
        valid = _keys(inner)
        key = _key(part, inner)
        if key is None:
            where = ".".join(names)
            raise InputError(
                f"--set {path}: {where} has no {part}{did_you_mean(part, valid)}; valid: {', '.join(valid)}"
            )
        names.append(key)
        inner = inner[key] if isinstance(inner, Mapping) else getattr(inner, key)
        if place + 1 < len(keys) and not isinstance(inner, Config | Mapping):
            raise InputError(f"--set {path}: {'.'.join(names)} is a single value; it has no {keys[place + 1]}")
    if not keys or isinstance(inner, Config | Mapping):
        raise InputError(f"--set {path}: is a group; name one of its keys: {', '.join(_keys(inner))}")
    return ".".join(names)


def _keys(owner: Any) -> list[str]:
    return list(owner) if isinstance(owner, Mapping) else list(type(owner).model_fields)


def _key(part: str, owner: Any) -> str | None:
    """The key meant by ``part``: itself, or the only one that is ``part`` with a unit behind it."""
    keys = _keys(owner)
    if part in keys:
        return part
    close = [key for key in keys if key.startswith(f"{part}_")]
    return close[0] if len(close) == 1 else None


def _values(name: str, text: str) -> list[Any]:
    spaced = RANGE.fullmatch(text.strip())
    if spaced:
        return _spaced(name, text, *spaced.groups())
    return [parse_yaml(f"value: {part}", f"--set {name}")["value"] for part in text.split(",")]


def _spaced(name: str, text: str, first: str, last: str, count: str) -> list[float]:
    try:
        low, high, number = float(first), float(last), int(count)
    except ValueError:
        raise InputError(f"--set {name}={text}: is no FIRST:LAST:COUNT of two numbers and a whole number") from None
    if not (math.isfinite(low) and math.isfinite(high) and 2 <= number <= MOST_VALUES):
        raise InputError(f"--set {name}={text}: the numbers must be finite, the count between 2 and {MOST_VALUES}")
    return [low + (high - low) * i / (number - 1) for i in range(number)]
