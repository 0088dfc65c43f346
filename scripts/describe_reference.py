# SPDX-License-Identifier: Apache-2.0
"""The reference pages of the documentation's site, from the help and from the tables that check a campaign file.

    python -m scripts.describe_reference FOLDER

They are made whenever the site is built (scripts/docs_site.py), so that they are never out of date.
"""

import json
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from inspect import cleandoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from tare import __version__
from tare.cli import app
from tare.cli.options import EXIT_CODES
from tare.environments import PROVIDERS
from tare.plan import blocks, hosts, schema, turns
from tare.units import format_duration
from tare.workloads import KINDS

TABLES: dict[str, type[BaseModel]] = {
    "The whole file": schema.CampaignTable,
    "`blocks`": blocks.BlocksTable,
    "`precision` of `blocks`": blocks.PrecisionTable,
    "`[decision]`": blocks.DecisionTable,
    "`[limits]`": schema.LimitsTable,
    "`[exclude]`": schema.ExcludeTable,
    "`[turns]`": turns.TurnsTable,
    "`[[host]]`": hosts.HostTable,
    "`[[environment]]`": schema.EnvironmentTable,
    "`[[workload]]`": schema.WorkloadTable,
    "`[[sharing]]`": schema.SharingTable,
    "`neighbour` of `[[sharing]]`": schema.NeighbourTable,
    "`[[order]]`": schema.OrderTable,
    "`[[factor]]`": schema.FactorTable,
}
"""Heading → table."""
_WORDS = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true` or `false`",
    object: "any",
    Any: "table",
}


def pages() -> dict[str, str]:
    """Name of each page → its Markdown."""
    made = {"commands": commands_page(), "campaign": campaign_page()}
    return {f"reference-{name}.md": text for name, text in made.items()}


def commands_page() -> str:
    """Every command with its arguments and options, as its help has them."""
    root = typer.main.get_command(app)
    context = root.make_context("tare", [], resilient_parsing=True)
    said = f"All commands of Tare {__version__}, from their own help (`tare COMMAND --help`). {EXIT_CODES}"
    head = f"# Commands\n\n{said}\n"
    return "\n".join([head, *_commands(root, context)])


def _commands(command: Any, context: Any) -> Iterator[str]:
    for key, below in getattr(command, "commands", {}).items():
        inner = below.context_class(below, info_name=key, parent=context)
        usage = f"{inner.command_path} {' '.join(below.collect_usage_pieces(inner))}"
        yield f"## {inner.command_path}\n\n{' '.join((below.help or '').split())}\n\n    {usage}\n"
        for kind in ("argument", "option"):
            yield from _parameters(below, inner, kind)
        yield from _commands(below, inner)


def _parameters(command: Any, context: Any, kind: str) -> Iterator[str]:
    records = (
        record
        for each in command.get_params(context)
        if each.param_type_name == kind and (record := each.get_help_record(context))
    )
    rows = [f"| `{term}` | {_cell(' '.join(text.split()))} |" for term, text in records]
    if rows:
        yield "\n".join([f"| {kind} | meaning |", "|---|---|", *rows, ""])


def campaign_page() -> str:
    """Every key of a campaign file with its type and default, then the options of technologies and workloads."""
    head = (
        "# Keys of a campaign file\n\nEvery key with its type and default, from the tables that check a file. "
        "[The campaign file](campaign.md) explains them.\n"
    )
    tables = [f"## {heading}\n\n{_table(model)}" for heading, model in TABLES.items()]
    kinds = [
        f"### {name}\n\n{_table(kind.options_model) if kind.options_model.model_fields else 'No options.'}\n"
        for name, kind in sorted(KINDS.items())
    ]
    return "\n".join([head, *tables, _technologies(), "## Options of workloads\n", *kinds])


def _technologies() -> str:
    rows = [
        f"| `{name}` | {', '.join(f'`{each}`' for each in sorted(provider.option_names)) or 'none'} |"
        for name, provider in sorted(PROVIDERS.items())
    ]
    said = "Further keys of an `[[environment]]`; [Environments](environments.md) explains them."
    return "\n".join(
        ["## Options of technologies", "", said, "", "| technology | options |", "|---|---|", *rows, ""]
    )


def _table(model: type[BaseModel]) -> str:
    lines = ["| key | value | default |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        lines.append(f"| `{field.alias or name}` | {_cell(_type(field))} | {_cell(_default(field))} |")
    doc = cleandoc(model.__doc__ or "").partition("\n")[0].replace("``", "`")
    said = [f"{doc}\n"] if doc and model is not schema.CampaignTable else []
    return "\n".join([*said, *lines, ""])


def _type(field: FieldInfo) -> str:
    """What the key takes, with its bounds."""
    words = [
        f"{text} {getattr(each, name)}"
        for name, text in _BOUNDS.items()
        for each in field.metadata
        if getattr(each, name, None) is not None
    ]
    return f"{_said(field.annotation, field)}{', ' if words else ''}{' '.join(words)}"


_BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}


def _said(annotation: Any, field: FieldInfo | None = None) -> str:
    """Say in words what a key takes."""
    kind, inner = get_origin(annotation), get_args(annotation)
    if unit := _unit(field.metadata if field is not None else inner[1:] if kind is Annotated else ()):
        return unit
    if kind in _GENERIC:
        return _GENERIC[kind](inner)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f'`"{member.value}"`' for member in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    return _WORDS.get(annotation, getattr(annotation, "__name__", str(annotation)).lower())


def _either(inner: tuple[Any, ...]) -> str:
    return " or ".join(dict.fromkeys(_said(each) for each in inner if each is not NoneType))


_GENERIC: dict[Any, Callable[[tuple[Any, ...]], str]] = {
    Annotated: lambda inner: _said(inner[0]),
    Union: _either,
    UnionType: _either,
    Literal: lambda inner: " or ".join(f"`{json.dumps(each)}`" for each in inner),
    list: lambda inner: f"list: {_said(inner[0])}",
    dict: lambda inner: f"table: {_said(inner[0])} \N{RIGHTWARDS ARROW} {_said(inner[1])}",
}


def _unit(metadata: Any) -> str:
    """What a key's own reader makes of a text: a size or a duration."""
    names = [getattr(getattr(each, "func", None), "__qualname__", "") for each in metadata]
    return next((word for name in names for key, word in _READERS.items() if key in name), "")


_READERS = {
    "duration_s": "duration",
    "_memory_byte": "size",
    "quantity": "size",
    "_core_byte": "size or 0",
    "whole_ms": "duration",
    "_slice_s": 'duration or `"auto"`',
    "_limit": 'number or `"off"`',
}
"""Part of a reader's name → what it reads."""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value in ([], {}, ()) or value is PydanticUndefined:
        return "none"
    if isinstance(value, BaseModel):
        return "its keys' defaults"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float) and _unit(field.metadata).startswith("duration"):
        return f"`{format_duration(value)}`"
    return f"`{value.value if isinstance(value, Enum) else value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    for name, text in pages().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
