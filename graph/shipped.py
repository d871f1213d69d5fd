"""YAML files of a kind: those that are shipped, by their names, and a user's own, by their paths."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import TypeVar

from graph.config import Config, did_you_mean, load_yaml, parse
from graph.errors import InputError

Model = TypeVar("Model", bound=Config)


def names(folder: str) -> list[str]:
    """The names of the files shipped in ``folder``, such as scenarios/vehicles, sorted."""
    files = (PurePath(entry.name) for entry in _folder(folder).iterdir())
    return sorted(file.stem for file in files if file.suffix == ".yaml")


def load(kind: str, folder: str, model: type[Model], name: str, beside: Path | None = None) -> Model:
    """The ``kind`` called ``name``: shipped in ``folder``, or the path of a YAML file, relative to ``beside``.

    Raises InputError: an unknown name lists the shipped ones, a file that is not valid lists its problems.
    """
    shipped = names(folder)
    if name in shipped:
        source = f"{folder}/{name}.yaml"
        return parse(model, load_yaml(_folder(folder) / f"{name}.yaml", source), source)
    if not _is_path(name):
        valid = f"valid: {', '.join(shipped)}, or the path of a .yaml file"
        raise InputError(f"unknown {kind} '{name}'{did_you_mean(name, shipped)} ({valid})")
    path = (beside or Path()) / name
    return parse(model, load_yaml(path), str(path))


def _is_path(name: str) -> bool:
    """Whether ``name`` is meant as a path: it has a folder or ends in .yaml."""
    return "/" in name or "\\" in name or name.endswith((".yaml", ".yml"))


def _folder(folder: str) -> Traversable:
    package, *below = folder.split("/")
    return resources.files(package).joinpath(*below)
