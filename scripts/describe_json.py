# SPDX-License-Identifier: Apache-2.0
"""Writes what Tare prints as JSON, from the shapes that make it, for people and for programs.

    python -m scripts.describe_json

Writes docs/json.md and docs/json.schema.json (JSON Schema 2020-12).
"""

import json
from collections.abc import Iterator
from enum import Enum
from inspect import cleandoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from tare.report.across_results import PrintedComparison
from tare.report.advice import PrintedAdvice
from tare.report.calibration import PrintedCalibration
from tare.report.capacity import PrintedCapacity
from tare.report.causes import PrintedExplanations
from tare.report.history import PrintedHistory
from tare.report.imported import PrintedImports
from tare.report.machine import PrintedResult
from tare.report.published_shapes import PrintedViews
from tare.report.replication import PrintedReplications
from tare.report.reproduced import PrintedReproduction
from tare.report.shape import ByName, CellShape, EstimateShape, JsonShape, TrialShape
from tare.report.verdicts import OverheadShape

COMMON: dict[type[JsonShape], str] = {
    EstimateShape: "An estimate",
    CellShape: "A cell",
    TrialShape: "A trial",
    OverheadShape: "An overhead",
}
"""Objects that appear in several places, with their titles."""
WORDS = {str: "text", int: "integer", float: "number", bool: "`true` or `false`"}
DOCS = Path(__file__).resolve().parents[1] / "docs"
MODE: JsonSchemaMode = "serialization"
PRINTED: tuple[type[JsonShape], ...] = (
    PrintedResult,
    PrintedExplanations,
    PrintedCalibration,
    PrintedReplications,
    PrintedViews,
    PrintedComparison,
    PrintedHistory,
    PrintedImports,
    PrintedCapacity,
    PrintedAdvice,
    PrintedReproduction,
)
"""The objects that commands print; the first is the largest."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
INTRODUCTION = """\
# The JSON of `tare show RESULT --json`

Use this JSON to process a result in a program of your own. `tare show RESULT --json` prints one object. `"schema": 1`
is its version: within a version keys are only added, never removed or changed in meaning. A program should refuse a
schema that it does not know. Text is ASCII with `\\u` escapes.

Missing is `null`, never 0: a number that is not available, an interval with too few blocks, a reason that was not
given.

[json.schema.json](json.schema.json) describes the same objects as a JSON Schema; this one is `#/$defs/PrintedResult`.
Both files are made from the program, by `python -m scripts.describe_json`.

    tare show RESULT --json | jq -r '.verdicts[] | select(.primary) | .sentence'
"""


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles, which only repeat the keys."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - as pydantic calls it
        return False


def main() -> None:
    """Write both files."""
    (DOCS / "json.md").write_text(page(), encoding="utf-8")
    (DOCS / "json.schema.json").write_text(schema(), encoding="utf-8")


def schema() -> str:
    """Give the JSON Schema of every printed object."""
    _, definitions = models_json_schema([(shape, MODE) for shape in PRINTED], schema_generator=_Untitled)
    whole = {
        "$schema": DIALECT,
        "title": "What Tare prints as JSON",
        "anyOf": [{"$ref": f"#/$defs/{shape.__name__}"} for shape in PRINTED],
        **definitions,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def page() -> str:
    """Give docs/json.md."""
    parts = [INTRODUCTION]
    parts.extend(f"## {title}\n\n{_described(shape)}" for shape, title in COMMON.items())
    seen = set(COMMON)
    for shape in PRINTED:
        parts.append(f"## {_first_sentence(shape).removesuffix('.')}\n\n{_table(shape)}")
        parts.extend(_sections(shape, "", seen))
    return "\n".join(parts)


def _sections(shape: type[JsonShape], place: str, seen: set[type[JsonShape]]) -> Iterator[str]:
    """Describe each object below another one, where it appears first."""
    for name, field in shape.model_fields.items():
        inner, path = _object(field.annotation, f"{place}{field.serialization_alias or name}")
        if inner is not None and inner not in seen:
            seen.add(inner)
            level = "#" * min(3 + path.count("."), 5)
            yield f"{level} `{path}`\n\n{_described(inner)}"
            yield from _sections(inner, f"{path}.", seen)


def _object(annotation: object, path: str) -> tuple[type[JsonShape] | None, str]:
    """Give the object that a key holds, at any depth, and the path of one of them."""
    if isinstance(annotation, type) and issubclass(annotation, JsonShape):
        return annotation, path
    kind = get_origin(annotation)
    inner = [each for each in get_args(annotation) if each is not NoneType]
    if kind is None or not inner:
        return None, path
    if kind is list:
        return _object(inner[0], f"{path}[]")
    return _object(inner[1], f"{path}.NAME") if kind is dict else _object(inner[0], path)


def _described(shape: type[JsonShape]) -> str:
    return f"{cleandoc(shape.__doc__ or '')}\n\n{_table(shape)}"


def _table(shape: type[JsonShape]) -> str:
    """Give the table of its keys, without the keys of a common object that it extends."""
    parent = next((each for each in COMMON if shape is not each and issubclass(shape, each)), None)
    lines = [f"It has the keys of {_link(parent)}, and these:\n"] if parent else []
    lines.extend(("| key | value | meaning |", "|---|---|---|"))
    for name, field in shape.model_fields.items():
        if parent is None or name not in parent.model_fields:
            shown = f"`{field.serialization_alias or name}`"
            lines.append(f"| {shown} | {_value(field.annotation)} | {field.description} |")
    return "\n".join(lines) + "\n"


def _link(shape: type[JsonShape]) -> str:
    title = COMMON[shape]
    return f"{title.split()[0].lower()} [{title.split()[1]}](#{title.lower().replace(' ', '-')})"


def _value(annotation: Any) -> str:
    """Say in words what a key holds."""
    kind, inner = get_origin(annotation), get_args(annotation)
    if kind is Annotated:
        return _value(inner[0])
    if kind in {Union, UnionType}:
        (least,) = (each for each in inner if each is not NoneType)
        return f"{_value(least)} or `null`"
    if kind is list:
        return f"list: {_value(inner[0])}"
    if kind is dict:
        return f"object: {_value(inner[0])} \N{RIGHTWARDS ARROW} {_value(inner[1])}"
    return _simple(annotation if kind is None else kind, inner)


def _simple(kind: type, inner: tuple[type[Enum], ...]) -> str:
    if kind is ByName:
        return ", ".join(f'`"{member.name.lower()}"`' for member in inner[0])
    if issubclass(kind, Enum):
        return ", ".join(f'`"{member.value}"`' for member in kind)
    if issubclass(kind, JsonShape):
        return _link(kind).split(" ", 1)[1] if kind in COMMON else "object"
    return WORDS[kind]


def _first_sentence(shape: type[JsonShape]) -> str:
    return cleandoc(shape.__doc__ or "").splitlines()[0]


if __name__ == "__main__":
    main()
