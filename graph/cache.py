"""Generated modules on disk, named after all that their compiled code depends on, so that stale code cannot be served.

Numba's own cache looks at the caller's file alone: edit a callee in another file and the caller keeps the old code.
Each generated file is therefore named after a hash of its text, the numba and Python versions, and every project module
its kernels reach, transitively.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numba

from graph.errors import InputError, why
from graph.files import whole

OURS = frozenset({"blocks", "msgs", "graph", "scenarios", "baselines", "nodes", "tools"})
INSTALLED = ("site-packages", "dist-packages")
"""Folders of installed libraries: they reach no kernel, and walking them takes seconds."""


@cache
def folder() -> Path:
    """Where generated modules and their compiled code are kept: the user's cache folder, else a temporary one."""
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        path = Path(base) / "holeshot"
        path.mkdir(parents=True, exist_ok=True)
        if os.access(path, os.W_OK):
            return path
    except (OSError, RuntimeError):  # the latter: there is no home
        pass
    path = Path(tempfile.gettempdir()) / f"holeshot-cache-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return path
    return Path(tempfile.mkdtemp(prefix="holeshot-cache-"))  # code from a folder of somebody else's is not run


@contextmanager
def keeping() -> Iterator[None]:
    """Within the block code is written to the folder. Raises InputError when it cannot be."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{folder()}: cannot keep compiled code: {why(error)}; XDG_CACHE_HOME names another place"
        ) from None


def generated(
    label: str, text: str, namespace: Mapping[str, Any], modules: Iterable[str], called: Iterable[str] = ()
) -> dict[str, Any]:
    """The names that generated source ``text`` defines, run on top of ``namespace``.

    ``modules`` are those whose code the text calls; what they import counts too. ``called`` are the texts of other
    generated modules that it calls.
    """
    path = folder() / f"{label}_{fingerprint(text, modules, called)}.py"
    if not path.exists():
        with keeping(), whole(path) as part:
            part.write_text(text, encoding="utf-8")
    # A module of its own name: numba imports it when it loads compiled code.
    module = ModuleType("holeshot_generated_" + path.stem.replace(".", "_"))
    module.__dict__.update(namespace)
    exec(compile(text, str(path), "exec"), module.__dict__)
    sys.modules[module.__name__] = module
    return module.__dict__


def fingerprint(text: str, modules: Iterable[str], called: Iterable[str] = ()) -> str:
    """Hash of generated texts, the compiler's version and the source of every module reached from ``modules``."""
    digest = hashlib.sha256()
    for part in (numba.__version__, platform.python_version(), text, *called):
        digest.update(part.encode() + b"\0")
    for name, source in sorted(reached(modules).items()):
        digest.update(name.encode() + b"\0" + source + b"\0")
    return digest.hexdigest()[:16]


def reached(modules: Iterable[str]) -> dict[str, bytes]:
    """Source of every project or user module reached by import from ``modules``, by module name. Installed libraries
    are left out, unless they are ours or one of ``modules`` itself belongs to them.
    """
    found: dict[str, bytes] = {}
    waiting = list(modules)
    followed = OURS | {name.split(".")[0] for name in waiting}
    while waiting:
        name = waiting.pop()
        package = name.split(".")[0]
        if name in found or package in sys.stdlib_module_names:
            continue
        source, imports = _module(name, package in followed)
        if source is not None:
            found[name] = source
            waiting += imports
    return found


@cache
def _module(name: str, also_installed: bool) -> tuple[bytes | None, tuple[str, ...]]:
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or not file.endswith(".py"):
        return None, ()
    if not also_installed and any(folder in Path(file).parts for folder in INSTALLED):
        return None, ()
    source = Path(file).read_bytes()
    is_package = Path(file).name == "__init__.py"
    return source, tuple(_imports(ast.parse(source).body, name if is_package else name.rpartition(".")[0]))


def _imports(statements: Iterable[ast.stmt], package: str) -> Iterator[str]:
    """What a module imports when it is itself imported: kernels see nothing else, and it is the same in every process,
    whatever else that process has loaded.
    """
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            base = statement.module or ""
            if statement.level:
                parents = package.split(".")[: len(package.split(".")) - statement.level + 1]
                base = ".".join([*parents, base] if base else parents)
            # `from package import module` reaches the module; a name that is none is not found and costs nothing.
            yield from (base, *(f"{base}.{alias.name}" for alias in statement.names))
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imports(_inner(statement), package)


def _inner(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements within one that run with it."""
    only_checked = isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test)
    for name, value in ast.iter_fields(statement):
        if not isinstance(value, list) or (only_checked and name == "body"):
            continue
        for part in value:
            if isinstance(part, ast.stmt):
                yield part
            elif isinstance(part, ast.ExceptHandler | ast.match_case):
                yield from part.body
