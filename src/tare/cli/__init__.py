# SPDX-License-Identifier: Apache-2.0
"""The command line: names, options and help; the work is in ``commands/``, imported on demand."""

import os
import sys
from typing import Annotated

import typer

from tare import __version__
from tare.cli import host, images, measuring, results
from tare.cli.options import EXIT_CODES, Commands

app = Commands(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # plain help: a third of the start-up time
    help="What a container or a virtual machine costs a high-performance computing job.",
    epilog=EXIT_CODES,
)
app.add_typer(measuring.app)
app.add_typer(results.app)
app.add_typer(host.app)
app.add_typer(images.app, name="image")


def _version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold the options of `tare` itself."""


def main() -> None:
    """Run a command; a user sees a sentence and an exit code, never a traceback."""
    from tare.commands.outermost import ended

    if "_TARE_COMPLETE" in os.environ:  # a shell asks for words
        from typer.completion import completion_init  # type: ignore[attr-defined]  # not listed there

        completion_init()

    sys.exit(ended(lambda: app(standalone_mode=False)))
