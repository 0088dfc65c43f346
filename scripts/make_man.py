# SPDX-License-Identifier: Apache-2.0
"""`python -m scripts.make_man [FOLDER]`: the manual pages tare(1), tare-run(1) and so on, made from the help.

Format: man(7). Without FOLDER they are written to build/man.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from tare import __version__
from tare.cli import app
from tare.cli.options import EXIT_CODES

FOLDER = Path("build/man")


def pages() -> dict[str, str]:
    """Name of each page → its text."""
    root = typer.main.get_command(app)
    context = root.make_context("tare", [], resilient_parsing=True)
    return dict(_pages("tare", root, context))


def _pages(name: str, command: Any, context: Any) -> Iterator[tuple[str, str]]:
    yield f"{name}.1", "\n".join(_page(name, command, context)) + "\n"
    for key, below in getattr(command, "commands", {}).items():
        inner = below.context_class(below, info_name=key, parent=context)
        yield from _pages(f"{name}-{key}", below, inner)


def _page(name: str, command: Any, context: Any) -> Iterator[str]:
    summary = command.get_short_help_str(200).rstrip(".")
    yield f'.TH {name.upper()} 1 "" "tare {__version__}" "User Commands"'
    yield from (".SH NAME", f"{_plain(name)} \\- {_plain(summary)}")
    yield from (".SH SYNOPSIS", f".B {_plain(context.command_path)}")
    yield _plain(" ".join(command.collect_usage_pieces(context)))
    yield from (".SH DESCRIPTION", _plain(" ".join((command.help or "").split())))
    yield from _entries("ARGUMENTS", _records(command, context, "argument"))
    yield from _entries("OPTIONS", _records(command, context, "option"))
    below = getattr(command, "commands", {})
    yield from _entries("COMMANDS", [(key, each.get_short_help_str(200)) for key, each in below.items()])
    yield from (".SH EXIT STATUS", _plain(EXIT_CODES))


def _records(command: Any, context: Any, kind: str) -> list[tuple[str, str]]:
    parameters = (each for each in command.get_params(context) if each.param_type_name == kind)
    return [record for each in parameters if (record := each.get_help_record(context))]


def _entries(title: str, records: list[tuple[str, str]]) -> Iterator[str]:
    if records:
        yield f".SH {title}"
    for term, text in records:
        yield from (".TP", f".B {_plain(term)}", _plain(text))


def _plain(text: str) -> str:
    """Text that roff prints as it is: backslashes, hyphens, and marks at the beginning of a line."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main() -> None:
    folder = Path(sys.argv[1]) if sys.argv[1:] else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text)
    print(folder)


if __name__ == "__main__":
    main()
