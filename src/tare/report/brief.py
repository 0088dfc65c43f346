# SPDX-License-Identifier: Apache-2.0
"""The end of a run on the terminal, in six lines: the verdicts, the cause, what to do next, and the report's name."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tare.analyze.answers import Names, joined
from tare.analyze.differences import difference_said, range_said
from tare.analyze.load_said import short_said
from tare.analyze.qualification import typically
from tare.drawing.words import MARK, STYLE
from tare.foreign import one_line
from tare.records import TOO_BUSY, Analysis, Attributed, DependenceWord, Verdict, Word
from tare.report import arrange, host_software
from tare.report.answers import noise_said
from tare.report.hosts import hosts_said
from tare.report.reasons import Reason, reasons
from tare.report.stops import second_look_error
from tare.statistics.blocks import LEAST_BLOCKS

_MOST_LINES = 3
"""Lines for verdicts: with the heading, the next step and the report's name that makes six."""
_NAMED_LOSSES = 2
_WORST_FIRST = (Word.SLOWER, Word.UNDECIDED, Word.FASTER, Word.BOUNDED, Word.WITHIN)
_Line = tuple[Word | None, str, str]
"""The worst verdict, the environments, and what is said of them."""


def print_brief(analysis: Analysis, report: Path, console: Console) -> None:
    """Print the answer; the tables say more."""
    console.print(Text(f"{_heading(analysis)}{_second_look(analysis)}", style="bold"), soft_wrap=True)
    lines = _merged(_lines(analysis))
    shown = lines if len(lines) <= _MOST_LINES else lines[: _MOST_LINES - 1]
    for word, names, said in shown:
        console.print(_marked(word).append(f"{names}: {said}"), soft_wrap=True)
    if left := lines[len(shown) :]:
        names = ", ".join(names for _, names, _ in left)
        console.print(_marked(left[0][0]).append(f"{names}: see the report"), soft_wrap=True)
    for words in hosts_said(analysis):
        console.print(Text(words), soft_wrap=True)
    step = _step(analysis)
    if step:
        console.print(Text(step), soft_wrap=True)
    console.print(Text(f"report: {one_line(str(report))}"), soft_wrap=True)


def _heading(analysis: Analysis) -> str:
    """What is compared, and what this machine can resolve."""
    name = one_line(analysis.campaign)
    workloads = {outcome.trial.workload.name for outcome in analysis.outcomes}
    if name == "weigh" and len(workloads) == 1:
        name = one_line(workloads.pop())
    primary = [control for control in arrange.primary_controls(analysis) if control.typical.low is not None]
    if not primary:
        return f"{name} against native"
    widest = max(
        primary, key=lambda control: max(abs(control.typical.low or 0), abs(control.typical.high or 0))
    )
    return f"{name} against native, which differs from itself by up to {noise_said(widest)}"


def _second_look(analysis: Analysis) -> str:
    error = second_look_error(analysis)
    return (
        "" if error is None else f"; a second look: all looks miss with a chance of at most {100 * error:g} %"
    )


def _marked(word: Word | None) -> Text:
    return Text(f"{MARK[word]} ", style=STYLE[word]) if word else Text("- ")


def _lines(analysis: Analysis) -> Iterator[_Line]:
    """One for each environment, in the order of the answers."""
    failing = {rate.environment: rate.claim for rate in analysis.failures if rate.failed}
    names = {(metric.cell, metric.name): name for name, metric in arrange.primaries(analysis)}
    for environment in arrange.environments(analysis):
        own = [
            verdict
            for verdict in analysis.verdicts
            if verdict.overhead.summary.primary and verdict.overhead.summary.environment == environment
        ]
        if own:
            varied = list(_varied(analysis, environment, names))
            several = _several(own, names, 1 if varied else _NAMED_LOSSES)
            said = [_one(own[0])] if len(own) == 1 else [*varied, *several]
            said += [failing[environment]] if environment in failing else []
            said += [] if any(verdict.withheld for verdict in own) else _against_host(analysis, environment)
            yield _worst(own), one_line(environment), "; ".join(said)
            continue
        for answer in arrange.answers(analysis):
            if answer.subject == one_line(environment):
                yield None, one_line(environment), "; ".join(text for _, text in answer.parts)


def _against_host(analysis: Analysis, environment: str) -> list[str]:
    """The software in which the host's own arm differs; for another environment, both costs together."""
    if environment in host_software.host_arms(analysis):
        compared = host_software.software(analysis)
        return [host_software.differing_said(compared[0])] if len(compared) == 1 else []
    own = [share for share in analysis.host_shares if share.environment == environment]
    return [f"{host_software.range_said(own[0].total)} against the host's build"] if len(own) == 1 else []


def _merged(lines: Iterable[_Line]) -> list[_Line]:
    """Environments of which the same is said share a line; the worst come first."""
    groups: dict[tuple[Word | None, str], list[str]] = {}
    for word, name, said in lines:
        groups.setdefault((word, said), []).append(name)
    merged = [(word, joined(names), said) for (word, said), names in groups.items()]
    return sorted(merged, key=lambda line: -1 if line[0] is None else _WORST_FIRST.index(line[0]))


def _worst(verdicts: Sequence[Verdict]) -> Word:
    return min((verdict.word for verdict in verdicts), key=_WORST_FIRST.index)


def _one(verdict: Verdict) -> str:
    return f"{_said(verdict)} (n = {verdict.overhead.typical.n})"


def _said(verdict: Verdict) -> str:
    """The strongest true statement, without its family: the tables name that."""
    shown, direction = verdict.shown, verdict.overhead.summary.direction
    if verdict.withheld and shown.low is not None:
        return f"{TOO_BUSY}, measured {range_said(shown, direction)}"
    if verdict.withheld:
        return TOO_BUSY
    if shown.low is None:
        return "no interval, as there are too few blocks"
    if verdict.word is Word.UNDECIDED:
        return f"undecided, {range_said(shown, direction)}"
    only = typically(verdict)
    if verdict.word in (Word.SLOWER, Word.FASTER):
        return f"{only}{difference_said(verdict.word, shown, direction)}{short_said(verdict)}"
    return f"{only}{'costs ' if verdict.word is Word.BOUNDED else ''}{verdict.said}"


def _varied(analysis: Analysis, environment: str, names: Names) -> Iterator[str]:
    """The factors on which its overhead depends: alike dependences of several metrics share their words."""
    primary = [each for each in analysis.dependences if each.primary and each.environment == environment]
    several = len({(each.cells.workload, each.metric) for each in primary}) > 1
    groups: dict[str, dict[str, str]] = {}
    for each in primary:
        if each.word is DependenceWord.DEPENDS:
            name = names[each.cells.cells[0][0], each.metric]
            words, _, size = one_line(each.claim.partition(" (")[0]).partition(": ")
            groups.setdefault(words, {})[name] = size
    for words, sizes in groups.items():
        if several:
            yield f"{words}: {', '.join(f'{name} {size}' for name, size in sizes.items())}"
        else:
            yield from (f"{words}: {size}" for size in sizes.values())


def _several(verdicts: Sequence[Verdict], names: Names, named: int) -> Iterator[str]:
    """The ``named`` largest losses by name, then how many metrics have which verdict."""
    losses = sorted(
        (verdict for verdict in verdicts if verdict.word is Word.SLOWER and not verdict.withheld),
        key=lambda verdict: -verdict.shown.point,
    )
    several = len({verdict.overhead.summary.cell.layout for verdict in verdicts}) > 1
    for verdict in losses[:named]:
        summary = verdict.overhead.summary
        where = f" on {one_line(summary.cell.layout)}" if several else ""
        yield f"{names[summary.cell, summary.metric]}{where} {_said(verdict)}"
    if more := len(losses) - named:
        yield from [f"{more} more slower"] if more > 0 else []
    rest = [verdict for verdict in verdicts if verdict not in losses]
    within = [verdict for verdict in rest if verdict.word is Word.WITHIN and not verdict.withheld]
    if within:
        widest = max(verdict.within or verdict.margin for verdict in within)
        where = f"all {len(within)}" if len(within) == len(verdicts) else f"{len(within)} of {len(verdicts)}"
        only = next(filter(None, map(typically, within)), "")
        yield f"{only}within \N{PLUS-MINUS SIGN}{100 * widest:g} % in {where}"
    for word, said in (
        (Word.FASTER, "faster"),
        (Word.BOUNDED, "with a bound"),
        (Word.UNDECIDED, "undecided"),
    ):
        if own := [verdict for verdict in rest if verdict.word is word and not verdict.withheld]:
            yield f"{len(own)} {said}"
    if busy := [verdict for verdict in verdicts if verdict.withheld]:
        yield f"{len(busy)} {TOO_BUSY}"


def _step(analysis: Analysis) -> str:
    """The cause if there is one; else the command that looks for it, or that decides."""
    hosts = host_software.host_arms(analysis)
    primary = [
        verdict
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary and verdict.overhead.summary.environment not in hosts
    ]
    known = reasons(analysis)
    confirmed = [reason for reason in known if reason.standing is Attributed.CAUSE]
    if confirmed:
        return f"{confirmed[0].subject}: {confirmed[0].text}"
    if any(verdict.word is Word.SLOWER and not verdict.set_aside for verdict in primary):
        return _suspected(known, f"tare explain {shlex.quote(analysis.result)}")
    undecided = [verdict for verdict in primary if verdict.word is Word.UNDECIDED or verdict.released]
    if not undecided:
        return ""
    if all(verdict.set_aside for verdict in undecided):
        again = Path(analysis.result) / "campaign.json"
        return f"next: once it is quiet, tare run {shlex.quote(str(again))}"
    more = max(map(_more_blocks, undecided))
    if more == 0:
        return "next: a quieter machine or longer runs; more blocks alone would hardly decide"
    return f"next: tare run {shlex.quote(analysis.result)} --more {more}"


def _more_blocks(verdict: Verdict) -> int:
    """How many would decide; 0 where more would hardly do."""
    if verdict.overhead.typical.low is None:
        return max(1, LEAST_BLOCKS - verdict.overhead.typical.n)
    return verdict.more_blocks or 0


def _suspected(known: Sequence[Reason], command: str) -> str:
    suspected = [reason for reason in known if reason.standing is Attributed.CANDIDATE]
    said = f" ({suspected[0].text.partition(' (')[0]})" if suspected else ""
    return f"next: {command}{said}"
