# SPDX-License-Identifier: Apache-2.0
"""The methods of a result in sentences for a paper: what was run, how it was judged, and what did not go as planned."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tare.analyze.answers import joined
from tare.drawing.words import counted, least_level
from tare.foreign import one_line
from tare.records import Analysis, Layout, Outcome, Status, Stop, Verdict, Way
from tare.report import arrange
from tare.report.answers import noise_said
from tare.report.calibration import citation
from tare.report.deviations import deviations
from tare.report.exports import latex_text, markdown_text
from tare.report.provenance import campaign_facts

_WIDTH = 79
_MOST_NAMED = 8
_ESTIMATOR = (
    "Rates were first turned into time per unit of work. In each block the environment's run was compared with the "
    "block's two native runs; the typical overhead and its interval come from aligned ranks (Hodges and Lehmann 1962), "
    "studentized, which assume no shape of the noise. The geometric mean of the ratios stands beside it with Student's "
    "t interval; no decision rests on it."
)
_STATED = ("problem_class", "problem_size", "benchmark")
"""Options that say which problem was solved; the campaign's file has all others."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A heading and the sentences below it."""

    heading: str
    sentences: tuple[str, ...]


def methods(analysis: Analysis) -> tuple[Paragraph, ...]:
    """Three paragraphs, from what the journal records; foreign names in them are one safe line each."""
    return (
        Paragraph("What was run", tuple(_run(analysis))),
        Paragraph("How it was judged", tuple(_judged(analysis))),
        Paragraph("What did not go as planned", deviations(analysis)),
    )


def as_text(paragraphs: Iterable[Paragraph]) -> str:
    """Plain text in lines of at most 79 characters."""
    return "\n\n".join(
        textwrap.fill(
            f"{each.heading}. {' '.join(each.sentences)}",
            _WIDTH,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for each in paragraphs
    ).join(("", "\n"))


def as_markdown(paragraphs: Iterable[Paragraph]) -> str:
    return (
        "\n\n".join(f"**{each.heading}.** {markdown_text(' '.join(each.sentences))}" for each in paragraphs)
        + "\n"
    )


def as_latex(paragraphs: Iterable[Paragraph]) -> str:
    """Paragraphs for any document class; a sentence a line, so that changes are easy to follow."""
    return "\n".join(
        f"\\paragraph{{{each.heading}.}}\n" + "\n".join(map(latex_text, each.sentences)) + "\n"
        for each in paragraphs
    )


def _run(analysis: Analysis) -> Iterator[str]:
    versions = joined(sorted({session.tare_version for session in analysis.sessions}))
    environments = _named(arrange.environments(analysis), "environment")
    yield f"We compared {environments} with native execution, with Tare {versions}, running {_workloads(analysis)}."
    yield from _hosts(analysis)
    yield from _images(analysis)
    yield from _layouts(analysis)
    facts = {fact.label: fact.values for fact in campaign_facts(analysis)}
    if limits := facts.get("limits of a trial", ()):
        yield f"Limits of a trial, native or not: {'; or '.join(map(one_line, limits))}."
    yield from _blocks(analysis)
    yield from _counts(analysis)


def _named(names: Sequence[str], kind: str) -> str:
    if len(names) > _MOST_NAMED:
        return f"{len(names)} {kind}s"
    return joined([one_line(name) for name in names]) if names else f"no {kind}"


def _workloads(analysis: Analysis) -> str:
    """Each with its kind, and with the problem that it solved."""
    seen: dict[str, str] = {}
    for outcome in analysis.outcomes:
        seen.setdefault(outcome.trial.workload.name, _workload(outcome))
    plural = "workload" if len(seen) == 1 else "workloads"
    if len(seen) > _MOST_NAMED:
        return f"{len(seen)} {plural}"
    return f"the {plural} {joined(list(seen.values()))}"


def _workload(outcome: Outcome) -> str:
    workload = outcome.trial.workload
    words = [] if workload.kind == workload.name else [f"kind {workload.kind}"]
    if isinstance(argv := workload.options.get("argv"), list):
        words = [f"the command {' '.join(argv)}"]
    words += [
        f"{key.replace('_', ' ')} {workload.options[key]}" for key in _STATED if workload.options.get(key)
    ]
    if workload.iterations > 1:
        words.append(f"{workload.iterations} iterations in each start")
    return one_line(f"{workload.name} ({', '.join(words)})" if words else workload.name)


def _hosts(analysis: Analysis) -> Iterator[str]:
    hosts = list({name: facts for session in analysis.sessions for name, facts in session.hosts.items()})
    for facts in [session.host for session in analysis.sessions][-1:]:
        known = [
            one_line(f"{words}{facts[label]}")
            for label, words in _HOST_WORDS.items()
            if not facts.get(label, "not readable").startswith(("not readable", "none"))
        ]
        where = f"on {len(hosts)} hosts; the one that controlled them" if hosts else "on one host. It"
        yield f"All runs took place {where} had {'; '.join(known)}."


_HOST_WORDS = {
    "processor": "the processor ",
    "processors online": "processors online: ",
    "SMT": "simultaneous multithreading ",
    "memory": "memory: ",
    "virtualization": "virtualization: ",
    "distribution": "",
    "kernel": "Linux ",
    "governor": "frequency governor ",
    "mitigations": "",
}
"""Label of a host's fact → the words before it."""


def _images(analysis: Analysis) -> Iterator[str]:
    images = {session.image_digest: session.image_name for session in analysis.sessions}
    said = [one_line(f"{name} ({digest[:19]})") for digest, name in images.items()]
    same = "the same files" if len(said) == 1 else "files"
    if any(outcome.trial.environment.technology == "host" for outcome in analysis.outcomes):
        yield (
            f"But for the arm with the host's own files, native execution and every environment ran {same} of the "
            f"image {joined(said)}."
        )
    else:
        yield f"Native execution and every environment ran {same}, of the image {joined(said)}."


def _layouts(analysis: Analysis) -> Iterator[str]:
    layouts = dict.fromkeys(outcome.trial.layout for outcome in analysis.outcomes)
    if len(layouts) <= _MOST_NAMED:
        yield f"{'The layout was' if len(layouts) == 1 else 'The layouts were'} {joined(list(map(_layout, layouts)))}."
    else:
        yield f"There were {len(layouts)} layouts of nodes, processors and instances."


def _layout(layout: Layout) -> str:
    said = f"{counted(layout.nodes, 'node')} of {counted(layout.processors, 'processor')}"
    where = f" on {layout.hosts} hosts" if layout.hosts > 1 else ""
    return f"{layout} ({said}{where}, {counted(layout.instances, 'instance')} of the workload)"


def _blocks(analysis: Analysis) -> Iterator[str]:
    blocks = len({outcome.trial.block for outcome in analysis.outcomes})
    seeds = joined([str(seed) for seed in dict.fromkeys(session.seed for session in analysis.sessions)])
    yield (
        f"Trials were arranged in {counted(blocks, 'block')}. Each block starts native execution twice and every "
        "environment once, afresh, in an order drawn at random in which every arm follows every arm "
        f"({'seeds' if ' ' in seeds else 'seed'} {seeds})."
    )
    ways = {outcome.turns.way for outcome in analysis.outcomes if outcome.turns} - {Way.WHOLE}
    if Way.SLICES in ways:
        yield "Where an arm allowed it, the arms of a block took turns by slices of fixed work instead of whole runs."
    if Way.FREEZER in ways:
        yield "Where an arm allowed it, the arms of a block took turns, all but one of them frozen."
    if any(outcome.trial.neighbour for outcome in analysis.outcomes):
        yield "Some trials had a neighbour: a load in nodes of its own, from before their start to their end."


def _counts(analysis: Analysis) -> Iterator[str]:
    counts = Counter(outcome.status for outcome in analysis.outcomes)
    ran = len(analysis.outcomes)
    yield (
        f"Of {counted(analysis.planned_trials, 'planned trial')}, {ran} ran: {counts[Status.OK]} ended well, "
        f"{counts[Status.FAILED]} failed, and {counts[Status.INVALID]} "
        f"{'was' if counts[Status.INVALID] == 1 else 'were'} excluded as invalid{_excluded(analysis)}."
    )
    worst = max(analysis.verdicts, key=lambda each: each.overhead.summary.dropped_blocks, default=None)
    dropped = worst.overhead.summary.dropped_blocks if worst else 0
    lost = f": at most {counted(dropped, 'block')} in any comparison" if dropped else ", which none did"
    yield (
        f"A block that lacked one of the three runs of a comparison was left out of it{lost}. No run was left out for "
        "its value."
    )
    busy = max((len(each.overhead.summary.busy_blocks) for each in analysis.verdicts), default=0)
    if busy:
        yield (
            "Blocks in which other programs kept the host busy, by a threshold on their load, were left out: at most "
            f"{counted(busy, 'block')} in any comparison."
        )


def _excluded(analysis: Analysis) -> str:
    rules: Counter[str] = Counter()
    for each in analysis.exclusions:
        rules.update({rule.value: number for rule, number in each.excluded.items()})
    said = [f"{rule}: {number}" for rule, number in sorted(rules.items())]
    return f" by a rule fixed before the start ({', '.join(said)})" if said else ""


def _judged(analysis: Analysis) -> Iterator[str]:
    primary = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    yield _ESTIMATOR
    yield from _intervals(analysis.verdicts)
    yield from _control(analysis)
    yield from _families(analysis, primary)
    yield (
        f"“Within” means that the interval lies inside the stated margin; the margin "
        f"declared before the start was ±{100 * analysis.margin:g} %. No lack of a difference was taken for equality."
    )
    yield from _looks(primary)
    yield from _causes(analysis)
    if analysis.calibration is None:
        yield "Tare itself was not calibrated on this host with this version."
    else:
        yield f"Of Tare itself: {citation(analysis.calibration)}."


def _causes(analysis: Analysis) -> Iterator[str]:
    if analysis.interventions:
        knobs = len({str(each.turned) for each in analysis.interventions})
        yield (
            f"Causes were sought by turning {counted(knobs, 'knob')} in interleaved blocks of their own, all judged as "
            "one family by Holm's procedure."
        )


def _intervals(verdicts: Sequence[Verdict]) -> Iterator[str]:
    estimates = [verdict.shown for verdict in verdicts]
    given = [estimate for estimate in estimates if estimate.low is not None]
    if not given:
        yield "No comparison has an interval: that takes six complete blocks."
        return
    sizes = sorted({estimate.n for estimate in given})
    said = f"n = {sizes[0]}" if len(sizes) == 1 else f"n = {sizes[0]} to {sizes[-1]}"
    yield (
        f"Intervals are at the level of {least_level(given)}; n counts complete blocks, never iterations ({said}); "
        f"{len(given)} of {counted(len(estimates), 'comparison')} have an interval."
    )


def _control(analysis: Analysis) -> Iterator[str]:
    """What native against itself showed: the widest of the primary metrics."""
    known = [each for each in arrange.primary_controls(analysis) if each.typical.low is not None]
    if not known:
        yield "Native execution against itself, the control of each block, has no interval: there are too few blocks."
        return
    widest = max(known, key=lambda each: max(abs(each.typical.low or 0.0), abs(each.typical.high or 0.0)))
    yield (
        f"As a control the two native runs of each block were compared with each other by signed ranks: on the primary "
        f"metrics they differed by up to {noise_said(widest)}. A claim that this noise could explain is withheld."
    )


def _families(analysis: Analysis, primary: Sequence[Verdict]) -> Iterator[str]:
    others = len(analysis.verdicts) - len(primary)
    if len(primary) > 1:
        yield (
            f"The {len(primary)} comparisons on primary metrics, declared before the start, are read "
            "together: all their intervals hold jointly at 95 %, and each word is read from its interval."
        )
    elif primary:
        yield "One comparison on a primary metric, declared before the start, needed no correction."
    if others:
        yield (
            f"The {'one other comparison is' if others == 1 else f'{others} other comparisons are'} exploratory, at a "
            "false coverage rate of 5 % (Benjamini and Yekutieli 2005)."
        )


def _looks(primary: Sequence[Verdict]) -> Iterator[str]:
    """Early looks that were declared beforehand."""
    looks = sorted({look.blocks for verdict in primary for look in verdict.overhead.looks if look.spent <= 1})
    if len(looks) < 2:  # noqa: PLR2004 - one look, at the end, needs no words
        return
    early = sum(verdict.overhead.stopped in {Stop.PRECISE, Stop.EQUIVALENT} for verdict in primary)
    yield (
        f"The data were looked at after {joined([str(look) for look in looks])} blocks, as declared before the start; "
        f"an environment could stop there, and {counted(early, 'comparison')} did. The intervals allow for all looks "
        "by error spending (Lan and DeMets 1983)."
    )
