"""What is said about two recordings that differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Difference:
    """One differing message: ``field`` is empty and one value None when it is missing on that side."""

    topic: str
    time_ns: int
    index: int  # of the message in its channel, on the left or else on the right
    field: str
    left: float | int | None
    right: float | int | None
    ulps: int | None  # units in the last place between two floats

    def json(self) -> dict[str, Any]:
        """As a JSON object; a value that is not finite as a text."""
        values = {side: _plain(getattr(self, side)) for side in ("left", "right")}
        return {
            "topic": self.topic,
            "time_ns": self.time_ns,
            "index": self.index,
            "field": self.field,
            **values,
            "ulps": self.ulps,
        }


@dataclass
class FieldSummary:
    """How often a field differs and how far at most; ``ulps`` for floats."""

    count: int
    largest: float
    ulps: int | None


@dataclass
class TopicSummary:
    """One topic: how many messages differ, are only on the left, only on the right."""

    topic: str
    left: int
    right: int
    differing: int = 0
    missing: int = 0
    extra: int = 0
    fields: dict[str, FieldSummary] = field(default_factory=dict)

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return not (self.differing or self.missing or self.extra)


@dataclass(frozen=True)
class Report:
    """The first difference in (time, topic) order, None when there is none, and a summary of each topic compared."""

    first: Difference | None
    topics: tuple[TopicSummary, ...]

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return self.first is None

    def json(self) -> dict[str, Any]:
        """As a JSON object."""
        topics = {
            t.topic: {
                "left": t.left,
                "right": t.right,
                "differing": t.differing,
                "missing": t.missing,
                "extra": t.extra,
                "fields": {
                    name: {"count": f.count, "largest": _plain(f.largest), "ulps": f.ulps}
                    for name, f in t.fields.items()
                },
            }
            for t in self.topics
        }
        return {"identical": self.identical, "first": self.first.json() if self.first else None, "topics": topics}


def _plain(value: float | int | None) -> float | int | str | None:
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
