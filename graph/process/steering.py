"""Requests to a running session over Zenoh: a query on its control key, whose payload is JSON, answered with JSON."""

from __future__ import annotations

import json
import threading
from typing import Any

from graph.errors import InputError
from graph.process.transport import Keys
from graph.requests import OVER, Respond, refusal

TIMEOUT_S = 24 * 3600.0
"""A step is answered when it is done, which at a slow rate may take long."""


def ask(session: Any, keys: Keys, request: Any, respond: Respond) -> None:
    """Ask the clock of a run; ``respond`` is called with the reply, from another thread."""

    def on_reply(reply: Any) -> None:
        answered.set()
        if reply.ok is not None:
            respond(json.loads(reply.ok.payload.to_bytes()))
        else:
            respond(refusal("the run did not answer"))

    def on_end() -> None:
        if not answered.is_set():
            respond(refusal(OVER))

    import zenoh

    answered = threading.Event()
    handler = zenoh.handlers.Callback(on_reply, on_end)
    session.get(keys.control, handler=handler, payload=json.dumps(request), timeout=TIMEOUT_S)


def respond_to(query: Any) -> Respond:
    """Answers ``query`` once, and lets go of it."""

    def respond(reply: dict[str, Any]) -> None:
        query.reply(query.key_expr, json.dumps(reply))
        query.drop()

    return respond


def payload_of(query: Any) -> bytes:
    """The payload of a query. Raises InputError when it has none."""
    if query.payload is None:
        raise InputError("a request must be a JSON object")
    data: bytes = query.payload.to_bytes()
    return data
