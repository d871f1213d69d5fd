"""Finds a scenario, vehicle, course or baseline file by its shipped name or by its path."""

import importlib.resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import TypeVar

from graph.config import Config, did_you_mean, load_yaml, parse
from graph.errors import InputError

Model = TypeVar("Model", bound=Config)

FOLDERS = {
    "scenario": "scenarios",
    "vehicle": "scenarios/vehicles",
    "course": "scenarios/courses",
    "baseline": "baselines",
}


def names(kind: str) -> list[str]:
    """The shipped names of a `kind` ("scenario", "vehicle", "course", "baseline"), sorted."""
    files = (PurePath(entry.name) for entry in _folder(kind).iterdir())
    return sorted(file.stem for file in files if file.suffix == ".yaml")


def load(kind: str, model: type[Model], name: str, beside: Path | None = None) -> Model:
    """The `kind` called `name`: a shipped name, or the path of a YAML file, relative to the folder `beside`.

    Raises InputError: an unknown name lists the shipped ones, a file that is not valid lists its problems.
    """
    if name in names(kind):
        source = f"{FOLDERS[kind]}/{name}.yaml"
        return parse(model, load_yaml(_folder(kind) / f"{name}.yaml", source), source)
    if not is_path(name):
        valid = names(kind)
        known = f"valid: {', '.join(valid)}, or the path of a .yaml file"
        raise InputError(f"unknown {kind} '{name}'{did_you_mean(name, valid)} ({known})")
    path = (beside or Path()) / name
    return parse(model, load_yaml(path), str(path))


def is_path(name: str) -> bool:
    """Whether `name` is meant as a path: it has a folder or ends in .yaml."""
    return "/" in name or "\\" in name or name.endswith((".yaml", ".yml"))


def _folder(kind: str) -> Traversable:
    package, *below = FOLDERS[kind].split("/")
    return importlib.resources.files(package).joinpath(*below)
