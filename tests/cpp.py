"""The programs in C++ beside the tools, compiled without a warning."""

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "tools" / "bench" / "cpp"
FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


def compiled(name: str, folder: Path) -> Path:
    """The program of ``NAME.cpp`` in ``folder``; skips the test where there is no compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ on this machine")
    subprocess.run([compiler, *FLAGS, FOLDER / f"{name}.cpp", "-o", folder / name], check=True)
    return folder / name
