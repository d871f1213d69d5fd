"""Which web pages may reach a viewer's server: any page that a person opens can try to connect to their own machine."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from graph.errors import InputError

APPS = ("https://app.foxglove.dev", "https://lichtblick-suite.github.io", "file://")
"""Foxglove and Lichtblick as web pages, and as programs, whose pages are files."""
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def listed(text: str | None) -> tuple[str, ...]:
    """The origins of a list such as ``http://lab:8080, https://viewer.example``. Raises InputError for what is none."""
    origins = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    for origin in origins:
        if not _is_origin(origin):
            raise InputError(
                f"viewer: origins: '{origin}' is no origin; write it as SCHEME://HOST or SCHEME://HOST:PORT, "
                "such as http://lab:8080"
            )
    return origins


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return bool(parts.scheme and parts.hostname) and text == f"{parts.scheme}://{parts.netloc}" and parts.port != 0
    except ValueError:
        return False


def is_welcome(origins: Sequence[str], more: Sequence[str] = ()) -> bool:
    """Whether a connection with these Origin headers is let in; one without is no web page's. ``more`` are welcome."""
    if not origins:
        return True
    [origin, *others] = origins
    if others:
        return False
    try:
        host = urlsplit(origin).hostname
    except ValueError:
        return False
    return origin in APPS or origin in more or host in THIS_MACHINE
