"""Bags: MCAP files of CDR messages with ros2msg schemas, written, read and recovered in bulk."""

from graph.bag.reader import Bag, Message
from graph.bag.records import Attachment
from graph.bag.recover import Recovered, complete, recover
from graph.bag.scan import Schema
from graph.bag.writer import BagWriter, Channel, Counts, OpaqueChannel

__all__ = [
    "Attachment",
    "Bag",
    "BagWriter",
    "Channel",
    "Counts",
    "Message",
    "OpaqueChannel",
    "Recovered",
    "Schema",
    "complete",
    "recover",
]
