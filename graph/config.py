"""Strict configuration: YAML into pydantic models, every problem reported in words, in one InputError.

A text for each problem: the file, the dotted key, the value given and what is wrong with it, and what would be valid.
"""

import difflib
import types
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from graph.errors import InputError
from graph.yaml_text import dump_yaml, load_yaml, parse_yaml, type_name

__all__ = ["Config", "Problem", "did_you_mean", "dump_yaml", "load_yaml", "parse", "parse_yaml"]

Model = TypeVar("Model", bound=BaseModel)


class Config(BaseModel):
    """Base of every configuration: immutable, no unknown keys, finite numbers, and no conversion between types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Problem(ValueError):
    """Raised in a model's validator: what is wrong with `key` (dotted, relative to the model), in words."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(text)
        self.key = key


def parse(model: type[Model], data: object, source: str) -> Model:
    """`data` (plain values, as from YAML) as a `model`; otherwise an InputError lists each problem in `source`."""
    try:
        return model.model_validate(_tuples(data))
    except ValidationError as error:
        raise InputError("\n".join(f"{source}: {_sentence(model, e)}" for e in error.errors())) from None
    except RecursionError:
        raise InputError(f"{source}: nested too deeply") from None


def did_you_mean(name: object, valid: Iterable[str]) -> str:
    """`; did you mean X?`, or nothing when no valid name is close."""
    close = difflib.get_close_matches(str(name), list(valid), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _tuples(value: object) -> object:
    """Lists become tuples, which is what immutable models hold."""
    if isinstance(value, dict):
        return {k: _tuples(v) for k, v in value.items()}
    return tuple(_tuples(v) for v in value) if isinstance(value, list | tuple) else value


def _sentence(model: type[BaseModel], error: ErrorDetails) -> str:
    key, owner = _locate(model, error["loc"])
    context = error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, Problem):
        joined = f"{key}.{cause.key}" if key and cause.key else key or cause.key
        return f"{joined}: {cause}" if joined else str(cause)
    what = _what(error, owner, context)
    return f"{key}: {what}" if key else what


def _what(error: ErrorDetails, owner: Any, context: dict[str, Any]) -> str:
    kind, last = error["type"], error["loc"][-1] if error["loc"] else ""
    given = _show(error["input"])
    if kind == "extra_forbidden":
        valid = sorted(owner.model_fields) if _is_model(owner) else []
        return f"unknown key{did_you_mean(last, valid)} (valid keys: {', '.join(valid) or 'none'})"
    if kind == "missing":
        if isinstance(last, int):
            return "missing: the list has too few entries"
        description = owner.model_fields[last].description if _is_model(owner) else None
        return f"missing ({description})" if description else "missing"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        tags = sorted(_tags(owner))
        name = context["discriminator"].strip("'")
        if kind == "union_tag_not_found":
            return f"{name} is missing (valid: {', '.join(tags)})"
        return f"unknown {name} '{context['tag']}'{did_you_mean(context['tag'], tags)} (valid: {', '.join(tags)})"
    if kind == "too_long":
        return f"has {context['actual_length']} entries; must have at most {context['max_length']}"
    if kind == "too_short":
        return f"has {context['actual_length']} entries; must have at least {context['min_length']}"
    if kind == "string_too_short":
        return "must not be empty"
    return f"is {given}; must be {_wanted(kind, error['msg'])}"


def _wanted(kind: str, message: str) -> str:
    wanted = {
        "float_type": "a number",
        "finite_number": "a finite number",
        "int_type": "a whole number",
        "bool_type": "true or false",
        "string_type": "a text",
        "tuple_type": "a list",
        "dict_type": "a mapping",
        "mapping_type": "a mapping",
        "model_type": "a mapping of keys",
        "model_attributes_type": "a mapping of keys",
    }
    return wanted.get(kind) or message.removeprefix("Input should be ").removeprefix("Value error, ")


def _show(value: object) -> str:
    """The value as its author wrote it, shortened."""
    if isinstance(value, dict | tuple | list):
        return type_name(value)
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a number of thousands of digits"
    text = text if len(text) <= 60 else text[:57] + "..."
    return f"the text {text}" if isinstance(value, str) else text


def _locate(annotation: Any, loc: tuple[int | str, ...]) -> tuple[str, Any]:
    """The dotted key of `loc`, without the tags pydantic adds for unions, and the type that owns its last part."""
    key, owner = "", _bare(annotation)
    for position, part in enumerate(loc):
        members = _members(owner)
        tagged = [m for m in members if len(members) > 1 and part in _tags(m)]
        if tagged:
            owner = tagged[0]
            continue
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
        inner = _inner(owner, part)
        if position + 1 < len(loc) or len(_members(inner)) > 1:  # a union reports its unknown tag at itself
            owner = inner
    return key, owner


def _inner(owner: Any, part: int | str) -> Any:
    """The type of `part` in `owner`."""
    if _is_model(owner):
        field = owner.model_fields.get(part)
        return _bare(field.annotation) if field else None
    arguments = get_args(owner)
    if isinstance(part, int) and arguments:
        repeated = len(arguments) == 2 and arguments[1] is Ellipsis
        return _bare(arguments[0] if repeated else arguments[min(part, len(arguments) - 1)])
    return _bare(arguments[-1]) if arguments else None


def _bare(annotation: Any) -> Any:
    """Without Annotated, and without `| None`."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    members = [m for m in _members(annotation) if m is not type(None)]
    return _bare(members[0]) if len(members) == 1 and members[0] is not annotation else annotation


def _members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _tags(annotation: Any) -> set[str]:
    """The values of `kind` that select `annotation` in a discriminated union."""
    tags: set[str] = set()
    for member in _members(annotation):
        field = member.model_fields.get("kind") if _is_model(member) else None
        if field is not None and get_origin(field.annotation) is Literal:
            tags.update(get_args(field.annotation))
    return tags


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
