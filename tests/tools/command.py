"""Runs ``holeshot`` as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def holeshot(*arguments: str, cwd: Path = ROOT, timeout: float = 300.0) -> subprocess.CompletedProcess[str]:
    """The finished command: exit code, stdout and stderr."""
    return subprocess.run(
        [sys.executable, "-c", "from tools.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        check=False,
    )
