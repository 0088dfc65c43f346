# SPDX-License-Identifier: Apache-2.0
"""The options that several commands share, and how their help looks."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from tare.commands.line import PlainCommand

_Function = TypeVar("_Function", bound=Callable[..., Any])
EXIT_CODES = (
    "Exit codes: 0 done; 1 a trial failed or --fail-if fell short; 2 the input is wrong; "
    "3 the host cannot do it, or nothing could be compared; 130 interrupted; 141 nobody reads the output."
)


def completed(names: str) -> Callable[[str], list[str]]:
    """The function of ``commands.completion`` by its name, loaded when a shell asks."""

    def complete(incomplete: str) -> list[str]:
        from tare.commands import completion

        listed: list[str] = getattr(completion, names)(incomplete)
        return listed

    return complete


class Commands(typer.Typer):
    """Commands that all explain their exit codes."""

    def command(self, name: str | None = None, **values: Any) -> Callable[[_Function], _Function]:
        """As typer's own."""
        return super().command(name, **{"cls": PlainCommand, "epilog": EXIT_CODES, **values})


Json = Annotated[bool, typer.Option("--json", help='Print JSON ("schema": 1) instead of tables.')]
Seed = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="Seed of the random order; drawn and logged when left out."),
]
As = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="USER", help="Whom commands run as: ordinary, which is usual, root or UID:GID."
    ),
]
Blocks = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="Blocks to run; 6 are the fewest that give a 95 % interval."),
]
Budget = Annotated[
    str | None, typer.Option(metavar="TIME", help="Hard limit of the time, such as 10m or 1h30m.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Result folder; continued if it is there."),
]
ImageName = Annotated[
    str,
    typer.Option(
        "--image",
        autocompletion=completed("images"),
        metavar="IMAGE",
        help="Image to run: its name, or what tare image import takes.",
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION",
        help='End with 1 if so: "docker overhead > 2%", "loss > 10%" with neighbours; may be repeated.',
    ),
]
Undecided = Annotated[
    str | None,
    typer.Option(metavar="fail|pass", help="What --fail-if says when the data do not tell; fail by default."),
]
Result = Annotated[Path, typer.Argument(help="A result folder.")]
Environments = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        "--environment",
        metavar="TECHNOLOGY",
        autocompletion=completed("environments"),
        help="Technology to compare with native; all usable ones by default.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a run of more than ten minutes.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print every trial, and all tables.")]
Hosts = Annotated[
    str | None,
    typer.Option(
        metavar="HOSTS",
        help="Hosts for the nodes: root@host1,root@host2, or a file of [[host]] tables; here is this one.",
    ),
]
