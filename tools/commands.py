"""A group of subcommands that names the valid ones when there is no such command."""

from typing import Any

from typer.core import TyperGroup

from graph.errors import InputError


class Commands(TyperGroup):
    """The subcommands of ``holeshot``, or of one of them."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that ``args`` begin with. Raises InputError when there is none."""
        if self.get_command(ctx, args[0]) is None:
            from graph.config import did_you_mean  # loads what no other command line needs so early

            names = self.list_commands(ctx)
            raise InputError(f"no command '{args[0]}'{did_you_mean(args[0], names)}; valid: {', '.join(names)}")
        return super().resolve_command(ctx, args)
