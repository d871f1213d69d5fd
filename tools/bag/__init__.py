"""``holeshot bag``: what a bag holds, whether it is what the code produces, and what can be made of it."""

import typer

from tools.bag import cut, diff, export, info, play, recover, verify
from tools.commands import Commands

app = typer.Typer(
    cls=Commands, no_args_is_help=True, help="Look into bags, prove, compare, play, cut, recover and export them."
)
app.command("info")(info.info)
app.command("verify")(verify.verify)
app.command("diff")(diff.diff)
app.command("cut")(cut.cut)
app.command("recover")(recover.recover)
app.command("export")(export.export)
app.command("play")(play.play)
