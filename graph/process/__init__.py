"""Runner ``process``: every node its own operating-system process, messages over Zenoh, in lockstep.

Dataflow (Kahn) execution: a node blocks until it has what each input owes its next step, steps, and publishes. See
``docs/protocol.md`` for keys and packets, so that a node in another language can join.
"""
