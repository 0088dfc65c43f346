# SPDX-License-Identifier: Apache-2.0
"""What did not go as planned in a result, or limits what it may claim: a sentence for each, for a paper."""

from collections.abc import Iterator

from tare.analyze.answers import joined
from tare.drawing.words import counted
from tare.foreign import one_line
from tare.records import Analysis, Skipped, Status, Withheld
from tare.report.emulation import emulated, restored
from tare.report.losses import losses
from tare.report.stops import second_look_said
from tare.report.weaker import weaker

NONE = "Nothing: the campaign ran as it was planned."
_MOST = 5
_WITHHELD = {
    Withheld.BUSY: "others used the host in too many of its blocks",
    Withheld.NOISE: "native execution differed from itself by as much",
}


def deviations(analysis: Analysis) -> tuple[str, ...]:
    """At least one sentence."""
    return tuple(map(_sentence, _all(analysis))) or (NONE,)


def _sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    said = one_line(text, 2 * 500).rstrip(".")
    return f"{said[:1].upper()}{said[1:]}."


def _all(analysis: Analysis) -> Iterator[str]:
    yield from _shorter(analysis)
    yield from _sessions(analysis)
    yield from map(_skipped, analysis.skipped)
    yield from _losses(analysis)
    yield from _load(analysis)
    yield from filter(None, (emulated(analysis.outcomes), restored(analysis.outcomes)))
    if sentences := weaker(analysis.outcomes):
        yield f"measured without root, so that some limits hold less firmly: {'; '.join(sentences)}"
    yield from _warnings(analysis)


def _shorter(analysis: Analysis) -> Iterator[str]:
    """Fewer or more trials than planned."""
    ran, planned = len(analysis.outcomes), analysis.planned_trials
    if analysis.cut_by_budget:
        yield f"the time budget ended the campaign: {ran} of {counted(planned, 'planned trial')} ran"
    elif ran < planned:
        yield f"the campaign is not finished: {ran} of {counted(planned, 'planned trial')} ran"
    if second := second_look_said(analysis):
        yield f"blocks were added after the result was seen: {second}"
    if analysis.repeated_trials:
        yield f"{counted(len(analysis.repeated_trials), 'trial')} ran twice; the first outcome counts"


def _sessions(analysis: Analysis) -> Iterator[str]:
    sessions = analysis.sessions
    if len(sessions) > 1:
        yield f"the campaign ran in {len(sessions)} sessions: it was interrupted, extended, or divided into jobs"
    for label, values in (
        ("versions of Tare", {session.tare_version for session in sessions}),
        ("images", {session.image_digest for session in sessions}),
        ("kernels", {session.host.get("kernel", "unknown") for session in sessions}),
    ):
        if len(values) > 1:
            yield f"its sessions had different {label}: {joined(sorted(values))}"
    if damage := analysis.integrity.damage:
        yield f"the journal is damaged in {counted(len(damage), 'place')}, and what was damaged is not used"
    if unended := analysis.integrity.unended:
        yield f"the end of {counted(len(unended), 'session')} is missing in the journal: it was killed, or is running"


def _skipped(skipped: Skipped) -> str:
    when = "" if skipped.blocks is None else f" in {counted(skipped.blocks, 'block')}"
    return f"{skipped.environment} was planned and not measured{when}: {skipped.reason}"


def _losses(analysis: Analysis) -> Iterator[str]:
    lost = losses(analysis)
    for loss in lost[:_MOST]:
        where = f"{loss.environment} ({loss.cell.workload} on {loss.cell.layout})"
        were = "" if loss.status is Status.FAILED else "was " if len(loss.blocks) == 1 else "were "
        yield f"{counted(len(loss.blocks), 'trial')} of {where} {were}{loss.status}: {loss.reason}"
    if rest := lost[_MOST:]:
        yield f"{sum(len(loss.blocks) for loss in rest)} more trials failed or are invalid; the artifact lists them"


def _load(analysis: Analysis) -> Iterator[str]:
    if analysis.busy is not None:
        yield analysis.busy.sentence
    for why, said in _WITHHELD.items():
        if count := sum(verdict.withheld is why for verdict in analysis.verdicts):
            yield f"nothing is claimed of {counted(count, 'comparison')}, because {said}"


def _warnings(analysis: Analysis) -> Iterator[str]:
    """Of the verdicts: another program or code path, many exclusions, clocks."""
    words = dict.fromkeys(
        f"{verdict.overhead.summary.environment}: {warning}"
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary
        for warning in verdict.warnings
    )
    yield from list(words)[:_MOST]
    if len(words) > _MOST:
        yield f"{len(words) - _MOST} more warnings are in the artifact"
