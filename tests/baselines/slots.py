"""Slots for tests: configured as the stack does it, stepped by hand."""

from types import ModuleType
from typing import Any

from baselines.registry import slot
from baselines.slots import SlotContext
from scenarios.world import World


class Slot:
    """A slot implementation with its parameters and state; each kernel that returns a state replaces it."""

    def __init__(self, kind: str, name: str, world: World) -> None:
        self.module: ModuleType = slot(kind, name, world.baseline.name)
        self.params, self.state = self.module.configure(SlotContext(world=world, kind=kind, seed=world.seed))

    def fold(self, kernel: str, message: Any) -> None:
        """Take in a message."""
        self.state = getattr(self.module, kernel)(self.params, self.state, message)

    def call(self, kernel: str, *arguments: Any) -> Any:
        """Run a kernel that returns (state, value)."""
        self.state, value = getattr(self.module, kernel)(self.params, self.state, *arguments)
        return value

    def look(self, kernel: str, *arguments: Any) -> Any:
        """Run a kernel that returns only a value."""
        return getattr(self.module, kernel)(self.params, self.state, *arguments)
