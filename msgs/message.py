"""The ``@message`` declaration: a NamedTuple whose annotations are its wire format."""

from typing import Any, TypeVar

import numpy as np

from msgs import cdr
from msgs.layout import fields_of, record_dtype

M = TypeVar("M", bound=type)

REGISTRY: dict[str, type] = {}
"""Every message class by name, in order of declaration."""


def message(cls: M) -> M:
    """Register NamedTuple ``cls`` as a message type.

    Raises TypeError, naming the field and why, when its first field is not ``stamp: Stamp``, a field has no wire form,
    its record layout would differ from CDR, or another module has declared a message of that name.
    """
    fields = fields_of(cls)
    if not fields or next(iter(fields.values())).kind != "stamp":
        raise TypeError(f"message {cls.__name__}: the first field must be `stamp: Stamp`")
    cdr.check(cls.__name__, record_dtype(cls))
    other = REGISTRY.get(cls.__name__, cls)
    if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):  # one that is loaded anew may be
        raise TypeError(f"message {cls.__name__} of {cls.__module__}: {other.__module__} declares one of that name")
    REGISTRY[cls.__name__] = cls
    return cls


def is_message(cls: Any) -> bool:
    """Whether ``cls`` was declared with ``@message``."""
    return isinstance(cls, type) and REGISTRY.get(cls.__name__) is cls


def log_dtype(cls: type) -> np.dtype[Any]:
    """One slot of a topic's log: the delivery tick and the record, padded to 8 bytes so that slots stay aligned."""
    record = record_dtype(cls)
    size = 8 + record.itemsize
    return np.dtype(
        {"names": ["tick", "data"], "formats": ["<i8", record], "offsets": [0, 8], "itemsize": size + -size % 8}
    )
