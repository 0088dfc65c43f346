# SPDX-License-Identifier: Apache-2.0
"""Why each claim is true, in one line for each cause: confirmed with its cure, suspected with a command, or unknown."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tare.analyze.answers import joined
from tare.analyze.attribution.intervention import overhead_said
from tare.foreign import one_line
from tare.records import Analysis, Attributed, Explanation
from tare.report import arrange

_MORE_BLOCKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One line."""

    standing: Attributed
    subject: str
    """The environment, with its layout where there are several."""
    text: str
    command: str = ""
    """Shows what to run where nothing is confirmed."""


def reasons(analysis: Analysis, *, primary: bool = True) -> tuple[Reason, ...]:
    """Reasons of the primary metrics, or of all others; an environment's confirmed ones first, each command once."""
    groups: dict[tuple[str, str], dict[_Alike, list[Explanation]]] = {}
    for each in analysis.explanations:
        if each.primary is primary:
            by_cause = groups.setdefault((each.environment, each.cell.layout), {})
            by_cause.setdefault(_alike(each), []).append(each)
    order = list(Attributed)
    several = len({cell.layout for cell in arrange.cells(analysis)}) > 1
    lines = [
        _reason(members, analysis, several=several)
        for by_cause in groups.values()
        for _, members in sorted(by_cause.items(), key=lambda group: order.index(group[0].standing))
    ]
    last = {reason.command: place for place, reason in enumerate(lines)}
    return tuple(
        reason if last[reason.command] == place else replace(reason, command="")
        for place, reason in enumerate(lines)
    )


class _Alike(NamedTuple):
    """What the explanations of one line share."""

    standing: Attributed
    cause: str | None
    knob: str | None
    is_gain: bool
    tried: tuple[str, ...]
    undecided: tuple[str, ...]
    is_absent: bool


def _alike(explanation: Explanation) -> _Alike:
    if explanation.standing is Attributed.CAUSE:
        return _Alike(
            explanation.standing,
            explanation.cause,
            explanation.knob,
            explanation.is_gain,
            (),
            (),
            is_absent=False,
        )
    return _Alike(
        explanation.standing,
        explanation.cause,
        None,
        explanation.is_gain,
        explanation.tried,
        explanation.undecided,
        is_absent=explanation.is_absent,
    )


def _reason(members: Sequence[Explanation], analysis: Analysis, *, several: bool) -> Reason:
    first = members[0]
    texts = {
        Attributed.CAUSE: _confirmed,
        Attributed.CANDIDATE: _suspected,
        Attributed.UNEXPLAINED: _unexplained,
    }
    return Reason(
        standing=first.standing,
        subject=f"{first.environment} on {first.cell.layout}" if several else first.environment,
        text=one_line(texts[first.standing](members)),
        command=_command(first, analysis),
    )


def _command(explanation: Explanation, analysis: Analysis) -> str:
    """What to run next; empty where all has been tried, or neighbours cannot be had again."""
    if explanation.standing is Attributed.CAUSE or "+" in explanation.cell.layout:
        return ""
    command = (
        f"tare explain {shlex.quote(analysis.result)} --environment {shlex.quote(explanation.environment)}"
    )
    if explanation.undecided or explanation.is_absent:
        return f"{command} --blocks {_MORE_BLOCKS}"
    return "" if explanation.tried else command


def _confirmed(members: Sequence[Explanation]) -> str:
    first, names = members[0], joined([each.name for each in members])
    further = list(dict.fromkeys(subject for each in members for subject in each.further))
    parts = [
        f"why {names} {'is' if len(members) == 1 else 'are'} faster: {first.title}"
        if first.is_gain
        else f"cause of {names}: {first.title}",
        *([f"{'to have it natively' if first.is_gain else 'cure'}: {first.cure}"] if first.cure else []),
        f"{first.change}: {'; '.join(_figures(members))}",
        *([f"a cause as well: {joined(further)}"] if further else []),
    ]
    return "; ".join(parts)


def _figures(members: Sequence[Explanation]) -> Iterator[str]:
    for each in members:
        if each.before is not None and each.after is not None:
            name = f"{each.name} " if len(members) > 1 else ""
            yield f"{name}from {overhead_said(each.before)} to {overhead_said(each.after)} (n = {each.after.n})"


def _suspected(members: Sequence[Explanation]) -> str:
    first = members[0]
    cure = f"; if so, the cure is: {first.cure}" if first.cure and not first.is_gain else ""
    return f"suspected cause of {_claims(members)}: {first.title} ({first.grounds}){cure}{_turned(first)}"


def _unexplained(members: Sequence[Explanation]) -> str:
    return f"unexplained: {_claims(members)}{_turned(members[0])}"


def _turned(explanation: Explanation) -> str:
    """Knobs tried so far that decided nothing."""
    parts = [
        *([f"no cause: {joined(explanation.tried)}"] if explanation.tried else []),
        *([f"undecided: {joined(explanation.undecided)}"] if explanation.undecided else []),
        *(["the difference was not seen again when it was to be explained"] if explanation.is_absent else []),
    ]
    return "".join(f"; {part}" for part in parts)


def _claims(members: Sequence[Explanation]) -> str:
    return joined([f"{each.name} {each.claim}" for each in members])
