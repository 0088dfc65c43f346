# SPDX-License-Identifier: Apache-2.0
"""Under what the commands of each environment ran: its own confinement beside native's, and what was equal."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.foreign import one_line
from tare.records import NATIVE, Analysis, Outcome
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import JsonShape, key

TITLE = "What the commands ran under"
OWN_EXPLANATION = (
    "What each technology gives its payload is part of what is weighed; ≠ marks a difference from native."
)
UNEQUAL_EXPLANATION = (
    "Settings of the host that differ between these commands and native ones. Such trials are void."
)
_HEXADECIMAL = 16
_SEVERAL = " / "
_MARK = "≠ "
_NAMES_WIDTH = 24
_LIMIT = "limit of "
"""Of these there may be many."""
_SHOWN_LABELS = ("system call filter", "capabilities", "no new privileges", "namespaces of its own")
"""In a terminal, whose lines are short."""


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """A label with, for each environment, its value (``None``: not read) and whether that is another than native's."""

    label: str
    values: tuple[tuple[str | None, bool], ...]

    @property
    def differs(self) -> bool:
        return any(differs for _, differs in self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityTable:
    """The environments in columns, native first."""

    environments: tuple[str, ...]
    own: tuple[ConditionRow, ...]
    unequal: tuple[ConditionRow, ...]
    """Of what must be equal, only what was not."""
    equal: tuple[str, ...]
    """Such as "nice 0": what all environments had alike."""
    chosen: frozenset[str] = frozenset()
    """Labels of what some technology sets by itself, or its user by options, and others have from the host."""


def parity_table(analysis: Analysis) -> ParityTable | None:
    """All trials of the result; ``None`` where none of them says under what it ran."""
    read = _read(analysis)
    names = sorted({_name(outcome) for outcome in read}, key=lambda name: (name != NATIVE, name))
    if not names:
        return None
    own, hosts = ({name: _texts(read, name, kind=kind) for name in names} for kind in ("own", "host"))
    chosen = {label for texts in own.values() for label in texts if label in hosts[names[0]]}
    host = _rows(hosts)
    return ParityTable(
        environments=tuple(names),
        own=_rows({name: own[name] | _only(hosts[name], chosen) for name in names}),
        unequal=tuple(row for row in host if row.differs),
        equal=_equal(row for row in host if not row.differs and row.label not in chosen),
        chosen=frozenset(chosen),
    )


def _equal(rows: Iterable[ConditionRow]) -> tuple[str, ...]:
    """Each label with its value; limits of processes together, each once where the soft and the hard one are alike."""
    values = {row.label: value for row in rows if (value := row.values[0][0])}
    limits = [
        f"{label.removeprefix(_LIMIT)} {_limit_said(value)}"
        for label, value in values.items()
        if label.startswith(_LIMIT)
    ]
    said = [f"{label} {value}" for label, value in values.items() if not label.startswith(_LIMIT)]
    return (*said, *([f"limits: {', '.join(limits)}"] if limits else []))


def _limit_said(value: str) -> str:
    soft, _, hard = value.partition(":")
    return soft if soft == hard else f"{soft} (at most {hard})"


def _only(texts: Mapping[str, str], labels: AbstractSet[str]) -> dict[str, str]:
    return {label: text for label, text in texts.items() if label in labels}


class ConditionsShape(JsonShape):
    """What one environment's trials ran under; different texts of its trials are joined by ` / `."""

    own: dict[str, str] = key("what the technology gives its payload: label \N{RIGHTWARDS ARROW} text")
    host: dict[str, str] = key("what must match native: label \N{RIGHTWARDS ARROW} text")


class ParityShape(JsonShape):
    """What the commands ran under ([environments.md](environments.md#equal-arms))."""

    environments: dict[str, ConditionsShape] = key("name \N{RIGHTWARDS ARROW} its conditions")
    unequal: list[str] = key(
        "the labels of `host` that did not match native in some environment, whose trials are then void"
    )


def _parity(analysis: Analysis) -> ParityShape | None:
    if (parity := parity_table(analysis)) is None:
        return None
    read = _read(analysis)
    environments = {
        name: ConditionsShape(own=_texts(read, name, kind="own"), host=_texts(read, name, kind="host"))
        for name in parity.environments
    }
    return ParityShape(environments=environments, unequal=[row.label for row in parity.unequal])


class EqualArmsJson(JsonShape):
    parity: ParityShape | None = key(
        "what the commands ran under; `null` in results of earlier versions",
        _parity,
    )


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    """Print the confinement with ``show_all``; what was unequal always."""
    parity = parity_table(analysis)
    if parity is None or not (show_all or parity.unequal):
        return
    console.print(Text(f"\n{TITLE}", style="bold"))
    if show_all:
        console.print(Text(OWN_EXPLANATION))
        console.print(_transposed(parity, [row for row in parity.own if _is_shown(row, parity)]))
        console.print(Text(f"Equal everywhere: {'; '.join(map(one_line, parity.equal))}."))
    if parity.unequal:
        console.print(Text(UNEQUAL_EXPLANATION))
        console.print(_transposed(parity, parity.unequal))


def _is_shown(row: ConditionRow, parity: ParityTable) -> bool:
    chosen = row.label in parity.chosen and not row.label.startswith(_LIMIT)
    return row.label in _SHOWN_LABELS or (chosen and row.differs)


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """A table of each environment's confinement, below the facts about the host."""
    parity = parity_table(analysis)
    if parity is None:
        return [MISSING]
    shown = section(
        "equal-arms",
        "",
        title=TITLE,
        own_explanation=OWN_EXPLANATION,
        unequal_explanation=UNEQUAL_EXPLANATION,
        parity=parity,
    )
    return [shown]


def capabilities_said(mask: str) -> str:
    """How many capabilities a mask holds (capabilities(7)), with the mask."""
    try:
        return f"{int(mask, _HEXADECIMAL).bit_count()} ({mask.lstrip('0') or '0'})"
    except ValueError:
        return mask


def _read(analysis: Analysis) -> list[Outcome]:
    """The trials that say under what they ran."""
    return [outcome for outcome in analysis.outcomes if outcome.parity.own or outcome.parity.host]


def _name(outcome: Outcome) -> str:
    return outcome.trial.environment.name


def _texts(outcomes: Iterable[Outcome], name: str, *, kind: str) -> dict[str, str]:
    """Label → the values of an environment's trials, one beside the other where they differ."""
    seen: dict[str, dict[str, None]] = {}
    for outcome in outcomes:
        if _name(outcome) == name:
            for label, value in getattr(outcome.parity, kind).items():
                seen.setdefault(label, {})[value] = None
    return {label: _SEVERAL.join(values) for label, values in seen.items()}


def _said(label: str, value: str) -> str:
    return capabilities_said(value) if "capabilit" in label else value


def _rows(texts: Mapping[str, Mapping[str, str]]) -> tuple[ConditionRow, ...]:
    labels = dict.fromkeys(label for own in texts.values() for label in own)
    reference = next(iter(texts.values()))
    return tuple(
        ConditionRow(
            label, tuple(_cell(label, own.get(label), reference.get(label)) for own in texts.values())
        )
        for label in labels
    )


def _cell(label: str, text: str | None, reference: str | None) -> tuple[str | None, bool]:
    """What one side could not read differs from nothing."""
    if text is None:
        return None, False
    return _said(label, text), reference is not None and text != reference


def _transposed(parity: ParityTable, rows: Iterable[ConditionRow]) -> Table:
    """Environments in rows: a terminal has more lines than columns."""
    shown = list(rows)
    printed = ruled_table()
    width = name_width(parity.environments, _NAMES_WIDTH)
    add_name_column(printed, "environment", width)
    for row in shown:
        printed.add_column(row.label, overflow="fold")
    for place, name in enumerate(parity.environments):
        cells = (row.values[place] for row in shown)
        printed.add_row(
            name_cell(name, width), *(Text(_MARK * differs + one_line(text or "")) for text, differs in cells)
        )
    return printed
