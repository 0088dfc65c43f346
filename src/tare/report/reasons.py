# SPDX-License-Identifier: Apache-2.0
"""Why each claim is true, in one line for each cause: confirmed with its cure, suspected with a command, or unknown."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tare.analyze.answers import joined
from tare.analyze.attribution.intervention import overhead_said
from tare.records import Analysis, Attributed, Explanation
from tare.report import arrange
from tare.report.words import one_line

_MOST_SHOWN = 3
"""Metrics of one line whose figures are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One line."""

    standing: Attributed
    subject: str
    """The environment, with its layout where there are several."""
    text: str
    command: str = ""
    """What would tell, where nothing is confirmed."""


def reasons(analysis: Analysis, *, primary: bool = True) -> tuple[Reason, ...]:
    """Of the primary metrics, or of all others; the confirmed of an environment first."""
    own = [one for one in analysis.explanations if one.primary is primary]
    groups: dict[tuple[str, str], dict[tuple[Attributed, str | None, bool], list[Explanation]]] = {}
    for one in own:
        by_cause = groups.setdefault((one.environment, one.cell.layout), {})
        by_cause.setdefault((one.standing, one.cause, one.is_gain), []).append(one)
    order = list(Attributed)
    return tuple(
        _reason(members, analysis)
        for by_cause in groups.values()
        for (_, members) in sorted(by_cause.items(), key=lambda group: order.index(group[0][0]))
    )


def _reason(members: Sequence[Explanation], analysis: Analysis) -> Reason:
    first = members[0]
    texts = {
        Attributed.CAUSE: _confirmed,
        Attributed.CANDIDATE: _suspected,
        Attributed.UNEXPLAINED: _unexplained,
    }
    return Reason(
        standing=first.standing,
        subject=_subject(first, analysis),
        text=one_line(texts[first.standing](members)),
        command=_command(first, analysis),
    )


def _subject(one: Explanation, analysis: Analysis) -> str:
    layouts = {cell.layout for cell in arrange.cells(analysis)}
    return f"{one.environment} on {one.cell.layout}" if len(layouts) > 1 else one.environment


def _command(one: Explanation, analysis: Analysis) -> str:
    if one.standing is Attributed.CAUSE or one.tried:
        return ""
    return f"tare explain {shlex.quote(analysis.result)} --environment {shlex.quote(one.environment)}"


def _confirmed(members: Sequence[Explanation]) -> str:
    first, names = members[0], joined([one.name for one in members])
    figures = "; ".join(_figures(members[:_MOST_SHOWN]))
    more = f", and of {len(members) - _MOST_SHOWN} more" if len(members) > _MOST_SHOWN else ""
    if first.is_gain:
        cure = f"; to have it natively: {first.cure}" if first.cure else ""
        return (
            f"why {names} {_is_or_are(members)} faster: {first.title}; {first.change} {figures}{more}{cure}"
        )
    cure = f"; cure: {first.cure}" if first.cure else ""
    return f"cause of {names}: {first.title}{cure}; {first.change} {figures}{more}"


def _is_or_are(members: Sequence[Explanation]) -> str:
    return "is" if len(members) == 1 else "are"


def _figures(members: Sequence[Explanation]) -> Iterator[str]:
    for one in members:
        if one.before is not None and one.after is not None:
            what = f"{one.name} goes " if len(members) > 1 else "it goes "
            yield f"{what}from {overhead_said(one.before)} to {overhead_said(one.after)} (n = {one.after.n})"


def _suspected(members: Sequence[Explanation]) -> str:
    first = members[0]
    cure = f"; if so, the cure is: {first.cure}" if first.cure and not first.is_gain else ""
    return f"suspected cause of {_claims(members)}: {first.title} ({first.grounds}){cure}"


def _unexplained(members: Sequence[Explanation]) -> str:
    tried = list(dict.fromkeys(change for one in members for change in one.tried))
    said = f"; no cause: {joined(tried)}" if tried else ""
    return f"unexplained: {_claims(members)}{said}"


def _claims(members: Sequence[Explanation]) -> str:
    return joined([f"{one.name} {one.claim}" for one in members])
