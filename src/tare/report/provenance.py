# SPDX-License-Identifier: Apache-2.0
"""Where the figures come from: host, image, campaign, and the evidence beside the samples."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tare.drawing.words import counted, moment
from tare.records import NATIVE, Analysis, Bounds, OptionValue, Outcome, ScanChoice
from tare.report.calibration import citation
from tare.report.shape import JsonShape, key
from tare.units import MINUS, format_byte, format_duration

_MOST_VALUES = 4
_FIRST_VALUES = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """A label with what is known under it; several values when they differ."""

    label: str
    values: tuple[str, ...]


class AlikeTrials(NamedTuple):
    """Trials that are to be alike but for chance."""

    environment: str
    workload: str
    setting: str


SeenValues = Mapping[str, Sequence[AlikeTrials]]
"""Value → the arms that showed it."""


def campaign_facts(analysis: Analysis) -> tuple[Fact, ...]:
    """What was asked for, as the trials themselves record it."""
    trials = [outcome.trial for outcome in analysis.outcomes]
    workloads = _unique(
        _with_options(each.workload.name, each.workload.kind, each.workload.options) for each in trials
    )
    environments = _unique(
        _with_options(each.environment.name, each.environment.technology, each.environment.options)
        for each in trials
        if each.environment.name != NATIVE
    )
    facts = [
        Fact("campaign", (analysis.campaign,)),
        Fact("workloads", workloads),
        Fact("layouts", _unique(trial.setting for trial in trials)),
        Fact("environments", tuple(sorted(environments))),
        Fact("limits of a trial", _unique(_limits(outcome) for outcome in analysis.outcomes)),
        Fact("blocks begun", (str(len({trial.block for trial in trials})),)),
        Fact("trials", (f"{len(trials)} of {analysis.planned_trials} planned",)),
        Fact("margin", (f"±{analysis.margin * 100:.4g} %",)),
    ]
    return tuple(fact for fact in facts if fact.values)


def session_facts(analysis: Analysis) -> tuple[Fact, ...]:
    """Versions, seeds and image; more than one value where the sessions of the result differ."""
    sessions = analysis.sessions
    images = (*(each.image_digest for each in sessions), *(each.image_digest for each in analysis.outcomes))
    facts = [
        Fact("started", _unique(moment(session.started_utc) for session in sessions)),
        Fact("seed", _unique(str(session.seed) for session in sessions)),
        Fact("Tare", _unique(session.tare_version for session in sessions)),
        Fact("image", _unique(session.image_name for session in sessions)),
        Fact("image digest", _unique(images)),
        Fact("chosen by a scan", _unique(_choice(each) for session in sessions for each in session.choices)),
        Fact("journal", _journal_facts(analysis) if sessions else ()),
        Fact("calibration", (citation(analysis.calibration),) if analysis.sessions else ()),
    ]
    return tuple(fact for fact in facts if fact.values)


def _choice(choice: ScanChoice) -> str:
    return f"{choice.workload} with {counted(choice.processors, 'processor')}: {choice.said}"


def _journal_facts(analysis: Analysis) -> tuple[str, ...]:
    integrity = analysis.integrity
    damage = ("not as it was written: see the top of the page",) if integrity.damage else ()
    return (*damage, *integrity.remarks) or ("every line checked",)


def host_facts(analysis: Analysis) -> tuple[Fact, ...]:
    """The host's facts; a value that changed between sessions stands with all its values."""
    labels = _unique(label for session in analysis.sessions for label in session.host)
    return tuple(
        Fact(label, _unique(session.host[label] for session in analysis.sessions if label in session.host))
        for label in labels
    )


def seen_values(outcomes: Iterable[Outcome]) -> dict[str, SeenValues]:
    """Label → every value of the outcomes' facts, with the arms that showed it, as they came."""
    seen: dict[str, dict[str, dict[AlikeTrials, None]]] = {}
    for outcome in outcomes:
        trial = outcome.trial
        arm = AlikeTrials(trial.environment.name, trial.workload.name, trial.setting)
        for label, value in outcome.facts.items():
            seen.setdefault(label, {}).setdefault(value, {})[arm] = None
    return {label: {value: tuple(arms) for value, arms in values.items()} for label, values in seen.items()}


def evidence(analysis: Analysis) -> tuple[Fact, ...]:
    """The outcomes' facts; where environments differ, each value with the environments that showed it.

    What differs from trial to trial of one arm, or has many values, is folded: of each environment the count and the
    first ones.
    """
    return tuple(
        Fact(label, _told(_readable_values(values)))
        for label, values in seen_values(analysis.outcomes).items()
    )


def _readable_values(values: SeenValues) -> SeenValues:
    """What reads alike is one value."""
    merged: dict[str, list[AlikeTrials]] = {}
    for value, arms in values.items():
        merged.setdefault(_readable(value), []).extend(arms)
    return {value: tuple(dict.fromkeys(arms)) for value, arms in merged.items()}


def _readable(value: str) -> str:
    """Sizes in the units that a person counts in, and signs as elsewhere on the page; no sign of 0."""
    value = re.sub(r"\b(\d+) byte\b", lambda size: format_byte(int(size[1])), value)
    value = re.sub(r"(?<![\w.])[-+](?=0\.0 )", "", value)
    return re.sub(r"(?<![\w.])-(?=\d+\.\d)", MINUS, value)


def environments_of(arms: Iterable[AlikeTrials]) -> list[str]:
    return sorted({arm.environment for arm in arms})


def _told(values: SeenValues) -> tuple[str, ...]:
    if len(values) == 1:
        return tuple(values)
    arms = [arm for shown in values.values() for arm in shown]
    if len(set(arms)) < len(arms) or len(values) > _MOST_VALUES:
        words = list(_folded(values))
    else:
        words = [f"{value} ({', '.join(environments_of(shown))})" for value, shown in values.items()]
    if len(words) > _MOST_VALUES:
        words = [*words[:_MOST_VALUES], f"and {counted(len(words) - _MOST_VALUES, 'more value')}"]
    return tuple(words)


def _folded(values: SeenValues) -> Iterator[str]:
    """One text for each environment."""
    by_environment: dict[str, list[str]] = {}
    for value, arms in values.items():
        for name in environments_of(arms):
            by_environment.setdefault(name, []).append(value)
    for name, own in sorted(by_environment.items()):
        if len(own) == 1:
            yield f"{own[0]} ({name})"
        else:
            first = "; ".join(own[:_FIRST_VALUES])
            yield f"{len(own)} different values, first {first} ({name})"


def _limits(outcome: Outcome) -> str:
    limits = outcome.trial.limits
    parts = [
        f"memory {format_byte(limits.memory_byte)}",
        f"shared memory {format_byte(limits.shm_byte)} a node",
    ]
    if limits.cpu_quota is not None:
        parts.append(f"CPU quota {limits.cpu_quota:g} processors a node")
    return ", ".join([*parts, f"time {format_duration(limits.time_s)}", *_bounds(limits.bounds)])


def _bounds(bounds: Bounds) -> Iterator[str]:
    if bounds.processes is not None:
        yield f"{bounds.processes} processes a node"
    if bounds.open_files is not None:
        yield f"{bounds.open_files} open files a process"
    if bounds.output_byte is not None:
        yield f"{format_byte(bounds.output_byte)} a file"
    if bounds.disk_byte is not None:
        yield f"{format_byte(bounds.disk_byte)} of disk"
    if bounds.core_byte is not None:
        yield f"core files of {format_byte(bounds.core_byte)}" if bounds.core_byte else "no core files"


def _with_options(name: str, kind: str, options: Mapping[str, OptionValue]) -> str:
    stated = ", ".join(f"{key} = {_option(value)}" for key, value in options.items() if value not in ([], ""))
    own = "" if name == kind else f" ({kind})"
    return f"{name}{own}{': ' if stated else ''}{stated}"


def _option(value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(value) if isinstance(value, list) else str(value)


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


class ValueShape(JsonShape):
    """A value that some trial reported."""

    value: str = key("the text")
    environments: list[str] = key("the environments whose trials reported it")


class EvidenceShape(JsonShape):
    """One object for each label. The report folds values that differ from trial to trial."""

    label: str = key("what was observed")
    values: list[ValueShape] = key("every value that a trial reported")


class SessionShape(JsonShape):
    """A start of the runner."""

    identity: str = key("the session's identity")
    started_utc: str = key("when it began")
    tare_version: str = key("the version that ran")
    seed: int = key("the seed of the random order")
    image_name: str = key("the image's name")
    image_digest: str = key("the image's digest")
    host: dict[str, str] = key("the host's facts: label \N{RIGHTWARDS ARROW} text")
    planned_trials: int = key("how many trials it planned")


def _evidence(outcomes: Iterable[Outcome]) -> Iterator[EvidenceShape]:
    for label, values in seen_values(outcomes).items():
        shown = [
            ValueShape(value=value, environments=environments_of(arms)) for value, arms in values.items()
        ]
        yield EvidenceShape(label=label, values=shown)


class ProvenanceJson(JsonShape):
    evidence: list[EvidenceShape] = key(
        "the facts of the trials beside their samples", lambda analysis: list(_evidence(analysis.outcomes))
    )
    sessions: list[SessionShape] = key("the starts of the runner")
