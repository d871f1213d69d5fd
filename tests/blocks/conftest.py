"""What several block tests need once per run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def interpreted() -> dict[str, Any]:
    """The report of tests.blocks.analytic from the plain interpreter, by scalar type."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.blocks.analytic"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report
