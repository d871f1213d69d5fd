"""The ros2msg text of a message: what a bag stores so that Foxglove, PlotJuggler and ROS 2 tools decode it."""

import inspect
import re
from functools import cache

from msgs.layout import Layout, fields_of

PACKAGE = "holeshot_msgs"
SEPARATOR = "=" * 80
STAMP_TEXTS = {
    f"{PACKAGE}/Header": "builtin_interfaces/Time stamp  # simulated time",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
}
PRIMITIVES = {
    "<f8": "float64", "<f4": "float32", "<i8": "int64", "|b1": "bool",
    "|u1": "uint8", "<u2": "uint16", "<u4": "uint32", "<u8": "uint64",
}  # fmt: skip


def name_of(cls: type) -> str:
    """The full ROS 2 name of a message class."""
    return f"{PACKAGE}/msg/{cls.__name__}"


@cache
def text_of(cls: type) -> str:
    """The ros2msg definition of message ``cls`` with every nested type, field comments carrying the units."""
    nested: dict[str, str] = {}
    main = _definition(cls, nested)
    parts = [main] + [f"{SEPARATOR}\nMSG: {name}\n{text}" for name, text in nested.items()]
    return "\n".join(parts) + "\n"


def _definition(cls: type, nested: dict[str, str]) -> str:
    comments = field_comments(cls)
    lines = [f"# {line}".rstrip() for line in (inspect.getdoc(cls) or "").splitlines()]
    for name, layout in fields_of(cls).items():
        comment = f"  # {comments[name]}" if name in comments else ""
        field = "header" if layout.kind == "stamp" else name
        lines.append(f"{_type_name(layout, nested)} {field}{comment}")
    return "\n".join(lines)


def _type_name(layout: Layout, nested: dict[str, str]) -> str:
    if layout.kind == "array":
        assert layout.element is not None
        return f"{_type_name(layout.element, nested)}[{layout.count}]"
    if layout.kind == "stamp":
        nested.update(STAMP_TEXTS)
        return f"{PACKAGE}/Header"
    if layout.kind == "struct":
        assert layout.struct is not None
        name = f"{PACKAGE}/{layout.struct.__name__}"
        if name not in nested:
            nested[name] = ""
            nested[name] = _definition(layout.struct, nested)
        return name
    return PRIMITIVES[layout.dtype.str]


def field_comments(cls: type) -> dict[str, str]:
    """The comment behind each field of a declaration: its unit and frame."""
    rows = re.findall(r"^    (\w+): .*?  # (.+)$", inspect.getsource(cls), re.MULTILINE)
    return dict(rows)
