"""Modules that a launch file or a baseline names, a user's own among them."""

from __future__ import annotations

import importlib
import sys
import traceback
from types import ModuleType

from graph.cache import OURS
from graph.errors import InputError
from graph.node import NodeError


def imported(who: str, path: str) -> ModuleType:
    """The module at an import path; ``who`` names it, in errors.

    Raises InputError when there is none, or when it fails to import.
    """
    if "" not in sys.path:
        for package in sorted(OURS):
            importlib.import_module(package)  # before a folder of that name in the working directory can be found
        sys.path.append("")  # a user's own module there
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{path}.".startswith(f"{error.name}."):
            raise InputError(f"{who}: there is no module {path}; it is the import path of a Python module") from None
        raise InputError(f"{who}: module {path} cannot be imported: {error}") from None
    except NodeError as error:
        raise InputError(f"{who}: {error}") from None
    except (Exception, SystemExit) as error:
        raise InputError(f"{who}: module {path} fails to import: {in_a_line(error)}") from None


def in_a_line(error: BaseException) -> str:
    """An exception in a line, with the place it was raised at."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"
