"""Files that are whole or not there."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file beside ``path`` to write in the block, which takes its place at the end unless the block fails.

    What is no regular file, such as /dev/stdout, is itself the file to write.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
