# SPDX-License-Identifier: Apache-2.0
"""Which environment for an application: what was measured, what is predicted, what was not considered; and the JSON."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from tare.analyze.advice import LEAST_KNOWN
from tare.drawing.words import counted, interval_percent, least_level, point_percent
from tare.foreign import one_line
from tare.records import Estimate
from tare.records.advice import Advice, Basis, Candidate, LeftOut, OwnVerdict, Predicted
from tare.report.shape import EstimateShape, JsonShape, Number, Versioned, key, printed

PRESET = "advise"
"""The preset that measures known workloads."""
_NAME_COLUMNS = 24


def print_advice(advice: Advice, console: Console) -> None:
    """Print the tables, and last what to take and what to measure."""
    for words, style in _lines(advice):
        console.print(Text(words, style=style), soft_wrap=True)


def _lines(advice: Advice) -> Iterator[tuple[str, str]]:
    yield _title(advice), "bold"
    for result in dict.fromkeys(each.result for each in advice.measured):
        yield f"measured in {one_line(result)}:", ""
        yield from ((f"  {_measured_said(each)}", "") for each in advice.measured if each.result == result)
    if advice.predicted:
        yield _predicted_title(advice.predicted), ""
        yield from ((f"  {predicted_said(each)}", "") for each in advice.predicted)
    ignored = [f"{_called(each.arm)}: {one_line(each.reason)}" for each in advice.rejected]
    ignored += map(one_line, advice.ignored)
    if ignored:
        yield "not considered:", "dim"
        yield from ((f"  {words}", "dim") for words in ignored)
    yield from ((words, "bold") for words in answer_said(advice))


def _title(advice: Advice) -> str:
    layout = f" on {one_line(advice.layout)}" if advice.layout else ""
    known = counted(advice.known, "known workload")
    return f"{one_line(advice.application.name)}{layout}, beside {known} of this host"


def _predicted_title(predicted: Sequence[Predicted]) -> str:
    intervals = [each.overhead for each in predicted if each.overhead is not None]
    if not any(each.stands for each in predicted):
        return "nothing can be predicted:"
    return (
        f"predicted, with the interval that holds for one more workload in {least_level(intervals)} of cases:"
    )


def _measured_said(measured: OwnVerdict) -> str:
    said = f"{measured.said}{_cure(measured.arm)}"
    if measured.metric:
        said += f" in {one_line(measured.metric)}, the worst of {measured.metrics} metrics"
    return f"{_place(measured.letters, measured.arm)} {_figure(measured.overhead)}: {said}{_untold(measured)}"


def _untold(measured: OwnVerdict) -> str:
    if not measured.untold or measured.metrics == 1:
        return ""
    return f"; {measured.untold} of {measured.metrics} metrics tell nothing"


def predicted_said(predicted: Predicted) -> str:
    """One environment's line."""
    place = _place(predicted.letters, predicted.arm)
    if not predicted.stands or predicted.overhead is None:
        return f"{place} must be measured: {_why_not(predicted)}"
    ground = (
        _parts_said(predicted) if predicted.basis is Basis.RESOURCES else "known workloads cost hardly more"
    )
    return f"{place} {_figure(predicted.overhead)}: {ground}{_cure(predicted.arm)}"


def _figure(overhead: Estimate) -> str:
    if overhead.low is None:
        return f"{point_percent(overhead)}, no interval (n = {overhead.n})"
    return f"{point_percent(overhead)}, {interval_percent(overhead)} (n = {overhead.n})"


def _parts_said(predicted: Predicted) -> str:
    if not predicted.parts:
        return "what it uses costs nothing here"
    resource, part = next(iter(predicted.parts.items()))
    return f"{resource} cost most, {_percent(part)}"


def _why_not(predicted: Predicted) -> str:
    match predicted.basis:
        case Basis.OUTSIDE:
            reason = _beyond_said(predicted)
        case Basis.TOO_FEW:
            return f"{counted(predicted.n, 'known workload')} ran in it; {LEAST_KNOWN} are the fewest"
        case _:
            reason = "what known workloads use does not tell what they lose"
    erring = f" ({_errors_said(predicted.left_out)})" if predicted.left_out and not predicted.beyond else ""
    more = ""
    if predicted.overhead is not None:
        level = least_level([predicted.overhead])
        more = f", one more {interval_percent(predicted.overhead)} in {level} of cases"
    return f"{reason}{erring}; they lose {_range_said(predicted.known)} (n = {predicted.n}){more}"


def _beyond_said(predicted: Predicted) -> str:
    more = ", ".join(each for each in predicted.beyond if each not in predicted.unknown)
    reasons = [f"it has more {more} than any known workload"] if more else []
    if predicted.unknown:
        reasons.append(f"of no known workload {', '.join(predicted.unknown)} are known")
    return ", and ".join(reasons)


def _errors_said(left_out: LeftOut) -> str:
    return (
        f"mean error {_percent(left_out.model)}, of the guess of no overhead {_percent(left_out.none)}, "
        f"of the median {_percent(left_out.median)}"
    )


def _range_said(known: tuple[float, float] | None) -> str:
    if known is None:
        return "nobody knows what"
    return interval_percent(Estimate(point=known[0], low=known[0], high=known[1], level=1.0, n=0))


def answer_said(advice: Advice) -> Iterator[str]:
    """The last lines: what to take, and what to measure where that is open."""
    take = [one_line(name) for name in advice.take]
    if take:
        ground = "measured" if any(each.arm.name in advice.take for each in advice.measured) else "predicted"
        tied = f": tied, as nothing {ground} tells them apart" if len(take) > 1 else f", as {ground}"
        yield f"take {' or '.join(take)}{tied}{_without_some(advice)}"
    if advice.measure:
        these = {1: "measure this one", 2: "measure these two"}[len(advice.measure)]
        yield f"{_why_measure(advice)}{these}: {command_said(advice)}"
        yield from _unset(advice)
    if not take and advice.known < LEAST_KNOWN:
        yield (
            f"{LEAST_KNOWN} known workloads on this host are the fewest to predict from: tare run {PRESET} "
            "measures more"
        )
    if not take and not advice.measure:
        yield "no environment is left that was ever measured here and is all that you require"


def _why_measure(advice: Advice) -> str:
    if len(advice.take) > 1 and set(advice.measure) <= set(advice.take):
        return "to decide between them, "
    pronoun = "it" if len(advice.measure) == 1 else "they"
    return f"{pronoun} may be better still; " if advice.take else ""


def _without_some(advice: Advice) -> str:
    partly = [
        each for each in advice.measured if each.arm.name in advice.take and each.metrics > 1 and each.untold
    ]
    if not partly:
        return ""
    return " (not by all of its metrics: some tell nothing)"


def _unset(advice: Advice) -> Iterator[str]:
    """What the printed command lacks."""
    arms = {each.arm.name: each.arm for each in advice.predicted}
    arms |= {each.arm.name: each.arm for each in advice.measured}
    for arm in (arms[name] for name in advice.measure):
        if arm.cure:
            yield f"the command does not set what {_called(arm)} has: {one_line(arm.cure)}"
        if arm.settings:
            settings = one_line(", ".join(arm.settings))
            yield f"the command does not set what {_called(arm)} has ({settings}): copy that into a campaign"


def command_said(advice: Advice) -> str:
    """The command that measures them."""
    arms = (*(each.arm for each in advice.predicted), *(each.arm for each in advice.measured))
    technologies = {arm.name: arm.technology for arm in arms}
    environments = [f"--env {technologies[name]}" for name in advice.measure]
    rest = shlex.join(advice.application.command) if advice.application.command else "-- COMMAND"
    return one_line(f"tare weigh {' '.join(dict.fromkeys(environments))} {rest}")


def _place(letters: str, arm: Candidate) -> str:
    return f"{letters or '-':<3}{_called(arm):<{_NAME_COLUMNS}}"


def _called(arm: Candidate) -> str:
    return one_line(arm.name)


def _cure(arm: Candidate) -> str:
    return f"; by {one_line(arm.cure)}" if arm.cure else ""


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %"


class CandidateShape(JsonShape):
    """An environment, or one with a cure."""

    name: str = key("its name, with the change where it is cured")
    technology: str = key("its technology")
    cure: str = key("the cure in the user's words; empty: it is as it comes")
    of: str | None = key("the environment that the cure changes; `null`: it is as it comes")
    settings: list[str] = key("its options and network that the printed command does not set")


class OwnVerdictShape(JsonShape):
    """What was measured of the application itself."""

    arm: CandidateShape = key("where")
    overhead: EstimateShape = key("its overhead, as a fraction")
    said: str = key("the verdict's word with its figure")
    result: str = key("the result's folder")
    withheld: bool = key("whether the host was too busy for any claim")
    letters: str = key("two that share a letter are not distinguished; empty: not ranked")
    metric: str = key("the primary metric that decides, the worst; empty: it has one")
    metrics: int = key("number of its primary metrics")
    untold: int = key("how many of them tell nothing here")


class LeftOutShape(JsonShape):
    """Mean errors |ln(predicted / true time)| of known workloads, each predicted from the others."""

    model: Number = key("by what resources cost")
    none: Number = key('by the guess "no overhead"')
    median: Number = key("by the guess of the median overhead")


class ResourceCostShape(JsonShape):
    """What one resource adds."""

    resource: str = key("its name")
    overhead: Number = key("what it adds to the predicted overhead, as a fraction")


class PredictedShape(JsonShape):
    """The prediction for one environment."""

    arm: CandidateShape = key("where")
    stands: bool = key("whether it is a prediction; else the application must be measured")
    basis: str = key(
        "`resources`, `alike`; or why there is no prediction: `no skill`, `outside`, `too few`",
        "basis.value",
    )
    n: int = key("number of known workloads behind it")
    overhead: EstimateShape | None = key(
        "as a fraction, with the interval for one more workload; without skill a simple guess's; `null`: nobody knows"
    )
    known_least: Number = key(
        "the least overhead of the known workloads", lambda own: own.known and own.known[0]
    )
    known_most: Number = key("the largest", lambda own: own.known and own.known[1])
    left_out: LeftOutShape | None = key("how well known workloads are predicted; `null`: too few of them")
    parts: list[ResourceCostShape] = key(
        "what adds most stands first",
        lambda own: [{"resource": str(each), "overhead": part} for each, part in own.parts.items()],
    )
    beyond: list[str] = key("what the application uses more of than any known workload")
    unknown: list[str] = key("the resources of `beyond` that no known workload uses")
    letters: str = key("two that share a letter are not distinguished; empty: there is no prediction")


class RejectedShape(JsonShape):
    """An environment that is not considered."""

    name: str = key("its name", "arm.name")
    reason: str = key("why")


class PrintedAdvice(Versioned):
    """What `tare advise --json` prints."""

    application: str = key("its name", "application.name")
    layout: str | None = key("of the known workloads; `null`: there are none")
    rates: dict[str, float] = key(
        "what the application uses natively, per second and busy processor; parts of the time as fractions",
        lambda own: {str(each): rate for each, rate in own.application.rates.items()},
    )
    known: int = key("number of known workloads")
    resources: list[str] = key("the resources that the predictions use")
    measured: list[OwnVerdictShape] = key("the application itself, the fastest first")
    predicted: list[PredictedShape] = key("the fastest first; then the environments that must be measured")
    rejected: list[RejectedShape] = key("environments that are not what is required")
    ignored: list[str] = key("what was not considered, in words")
    take: list[str] = key("the best; several are tied, and none means that nobody knows")
    measure: list[str] = key("the environments to measure where the answer is open")
    command: str = key(
        "the command for that; empty: none", lambda own: command_said(own) if own.measure else ""
    )


def to_json(advice: Advice) -> dict[str, Any]:
    """The advice as one object."""
    return printed(PrintedAdvice, advice)
