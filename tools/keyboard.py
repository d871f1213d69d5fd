"""The keys of a terminal, one by one."""

from __future__ import annotations

import select
import sys
import time
from typing import Any


class Keyboard:
    """Space and enter of a terminal; without one, no key is ever pressed."""

    def __init__(self) -> None:
        self._saved: Any = None

    def __enter__(self) -> Keyboard:
        if sys.stdin.isatty():
            import termios
            import tty

            self._saved = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        if self._saved is not None:
            import termios

            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._saved)

    def pressed(self, seconds: float) -> bool:
        """Wait at most ``seconds``; whether space or enter was pressed."""
        if self._saved is None:
            time.sleep(seconds)
            return False
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return bool(ready) and sys.stdin.read(1) in (" ", "\n")
