"""Strict YAML: one document, one mapping, YAML 1.2 scalars, no duplicate keys, no aliases, no tags.

PyYAML reads YAML 1.1, where `no` is false, `1:30` is 90 and `1e3` is a text; the resolvers here are those of the YAML
1.2 core schema (yaml.org/spec/1.2.2, section 10.3.2), with integers in decimal. Aliases and tags are refused because no
file needs them, and they let a small file grow without bound or name types.
"""

import re
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from graph.errors import InputError, why

_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_RESOLVERS = (
    ("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789")),
    ("tag:yaml.org,2002:float", re.compile(f"^(?:{_FLOAT})$"), list("-+0123456789.")),
)


LARGEST = 1 << 22
"""Bytes of a file: a hundred times what any has."""


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, restricted to the subset above."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(problem="anchors and aliases are not allowed", problem_mark=event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise yaml.MarkedYAMLError(problem="tags are not allowed", problem_mark=event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise yaml.MarkedYAMLError(problem="a key must be a text", problem_mark=key.start_mark)
            if key.value in lines:
                problem = f"duplicate key '{key.value}', first given in line {lines[key.value]}"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep=deep)

    def construct_decimal(self, node: yaml.ScalarNode) -> int:
        text = self.construct_scalar(node)
        try:
            return int(text)
        except ValueError:  # of more digits than Python reads
            problem = f"a number of {len(text)} digits"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None

    def construct_number(self, node: yaml.ScalarNode) -> float:
        text = self.construct_scalar(node)
        return float(text.replace(".", "", 1) if text.lstrip("+-").lower() in (".inf", ".nan") else text)


class _Dumper(yaml.SafeDumper):
    """Quotes whatever either YAML 1.1 or 1.2 would read as something other than a text."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in _RESOLVERS:
    _Loader.add_implicit_resolver(_tag, _pattern, _first)
    _Dumper.add_implicit_resolver(_tag, _pattern, _first)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_decimal)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_number)


def parse_yaml(text: str, source: str) -> dict[str, Any]:
    """The mapping that `text` holds. `source` names it in the InputError that anything else raises."""
    try:
        data = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        context = f" ({error.context})" if error.context else ""
        raise InputError(f"{where}: {error.problem or 'not valid YAML'}{context}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{source}: not valid YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise InputError(f"{source}: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None
    if not isinstance(data, dict):
        found = "is empty" if data is None else f"holds {type_name(data)}"
        raise InputError(f"{source}: {found}; a mapping of keys to values is expected")
    return data


def load_yaml(path: Path | Traversable, source: str | None = None) -> dict[str, Any]:
    """The mapping in the file `path` (a Path or a package resource), read as UTF-8; InputError when there is none."""
    source = str(path) if source is None else source
    try:
        if isinstance(path, Path) and path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError(f"{source}: is no regular file")
        data = path.read_bytes()
        if len(data) > LARGEST:
            raise InputError(f"{source}: has {len(data)} bytes; must be at most {LARGEST}")
        text = data.decode("utf-8")
    except OSError as error:
        raise InputError(f"{source}: {why(error)}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: not UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None
    return parse_yaml(text, source)


def dump_yaml(data: dict[str, Any]) -> str:
    """Canonical ASCII text of `data`: keys in their order, numbers as the shortest exact decimal."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=120, default_flow_style=None)


def type_name(value: object) -> str:
    """What a YAML author calls the type of `value`."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    names = {int: "a number", float: "a number", str: "a text", dict: "a mapping", list: "a list", tuple: "a list"}
    return names.get(type(value), type(value).__name__)
