"""A fault as a line of text, as the command line takes it: ``motor_scale:rotor=2,factor=0.6,from=12``."""

from __future__ import annotations

from typing import Any, get_args

from graph.config import did_you_mean, parse
from graph.errors import InputError
from scenarios.scenario import Fault

MODELS = {get_args(model.model_fields["kind"].annotation)[0]: model for model in get_args(Fault)}
SHORT = {
    "start_s": "from",
    "end_s": "to",
    "start_jitter_s": "jitter",
    "thrust_fraction": "factor",
    "delay_s": "delay",
    "gyro_bias_rad_s": "gyro_bias",
    "accel_bias_m_s2": "accel_bias",
}
"""What a field is called in the text, where not by its own name."""
VECTORS = ("gyro_bias", "accel_bias")


def parse_faults(text: str) -> list[dict[str, Any]]:
    """The faults of ``text``, separated by ``;``, as a scenario file would give them. Raises InputError."""
    return [_parse(part.strip()) for part in text.split(";") if part.strip()]


def _parse(text: str) -> dict[str, Any]:
    kind, _, rest = text.partition(":")
    if kind not in MODELS:
        raise InputError(f"fault={text}: unknown kind '{kind}'{did_you_mean(kind, MODELS)}; valid: {', '.join(MODELS)}")
    fields = {SHORT.get(name, name): name for name in MODELS[kind].model_fields if name != "kind"}
    aliases = {name: short for short, name in fields.items()}  # a scenario file's own words do as well
    fault: dict[str, Any] = {"kind": kind}
    for item in filter(None, rest.split(",")):
        key, sign, value = item.partition("=")
        key = aliases.get(key, key)
        if not sign or key not in fields:
            raise InputError(
                f"fault={text}: '{item}' is none of its settings{did_you_mean(key, fields)}; valid: "
                + ", ".join(f"{name}={'X/Y/Z' if name in VECTORS else 'NUMBER'}" for name in fields)
            )
        if fields[key] in fault:
            raise InputError(f"fault={text}: {key} is given twice")
        fault[fields[key]] = _vector(text, key, value) if key in VECTORS else _number(text, key, value)
    try:
        parse(MODELS[kind], fault, f"fault={text}")
    except InputError as error:
        said = str(error)
        for key, name in fields.items():
            said = said.replace(f"{name}:", f"{key}:")
        raise InputError(said) from None
    return fault


def _vector(text: str, key: str, value: str) -> tuple[float, ...]:
    parts = value.split("/")
    if len(parts) != 3:
        raise InputError(f"fault={text}: {key} is three numbers X/Y/Z, not '{value}'")
    return tuple(float(_number(text, key, part)) for part in parts)


def _number(text: str, key: str, value: str) -> float | int:
    try:
        return int(value) if key == "rotor" else float(value)
    except ValueError:
        raise InputError(
            f"fault={text}: {key} is a {'whole ' if key == 'rotor' else ''}number, not '{value}'"
        ) from None
