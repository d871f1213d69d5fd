"""Finds a scenario, vehicle, course or baseline file by its shipped name or by its path."""

from pathlib import Path

from graph import shipped
from graph.shipped import Model

FOLDERS = {
    "scenario": "scenarios",
    "vehicle": "scenarios/vehicles",
    "course": "scenarios/courses",
    "baseline": "baselines",
}


def names(kind: str) -> list[str]:
    """The shipped names of a `kind` ("scenario", "vehicle", "course", "baseline"), sorted."""
    return shipped.names(FOLDERS[kind])


def load(kind: str, model: type[Model], name: str, beside: Path | None = None) -> Model:
    """The `kind` called `name`: a shipped name, or the path of a YAML file, relative to the folder `beside`.

    Raises InputError: an unknown name lists the shipped ones, a file that is not valid lists its problems.
    """
    return shipped.load(kind, FOLDERS[kind], model, name, beside)
