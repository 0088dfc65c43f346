# SPDX-License-Identifier: Apache-2.0
"""Known causes with evidence on a claim: candidates among the signals, traits, refused calls, costlier calls."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from tare.analyze.attribution.gates import LEVEL
from tare.analyze.attribution.known import title_of
from tare.analyze.attribution.sentences import grounds_said
from tare.causes import ANY, DEARER, KNOWN_CAUSES, KnownCause
from tare.records import (
    NATIVE,
    Attribution,
    CallCounts,
    Clue,
    Ground,
    SignalEvidence,
    SignalSummary,
    Strength,
    Suspicion,
    TracedCalls,
    Trait,
    Verdict,
    Word,
)
from tare.statistics.exchange import chance_above

MOST_OF_IT = 0.5
_LEAST_PART = 0.05
_REFUSED_PART = 0.5
"""Of the calls of one name: at least this part fails where a filter or a missing permission refuses them."""
_MANY_TIMES = 10
_MOST_TRACING_S = 2e-4
"""Of a traced call; 0.1 ms on a slow host, a tenth on others."""
_LEAST_UNTRACED_PART = 0.1
"""Of a traced run's time: where tracing left less, the time without tracing is unknown."""
_DEARER_FROM = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything known about a claim besides its verdict."""

    verdict: Verdict
    attribution: Attribution | None
    evidence: SignalEvidence | None
    traits: Sequence[Trait]
    calls: CallCounts | None
    native_calls: CallCounts | None
    tracing_s: float
    """Most time that tracing adds to a call."""

    @property
    def is_gain(self) -> bool:
        return self.verdict.word is Word.FASTER


@dataclass(frozen=True, slots=True, order=True)
class _Ground:
    strength: Strength
    words: str


def suspicions(scenes: Iterable[Scene]) -> tuple[Suspicion, ...]:
    """Suspicions claim by claim, the strongest first; among equals, the more specific first."""
    return tuple(suspicion for scene in scenes for suspicion in _suspected(scene))


def scenes(
    claimed: Iterable[Verdict],
    attributions: Sequence[Attribution],
    evidence: Sequence[SignalEvidence],
    traits: Sequence[Trait],
    traced: TracedCalls,
) -> tuple[Scene, ...]:
    """One scene per claim, in order."""
    tracing_s = _tracing_s(traced)
    attributed = {
        (attribution.cell, attribution.environment, attribution.metric): attribution
        for attribution in attributions
    }
    counted = {
        (signal_evidence.cell, signal_evidence.environment, signal_evidence.metric): signal_evidence
        for signal_evidence in evidence
    }
    return tuple(
        Scene(
            verdict=verdict,
            attribution=attributed.get((own.cell, own.environment, own.metric)),
            evidence=counted.get((own.cell, own.environment, own.metric)),
            traits=[
                trait for trait in traits if (trait.cell, trait.environment) == (own.cell, own.environment)
            ],
            calls=traced.counts.get(own.cell, {}).get(own.environment),
            native_calls=traced.counts.get(own.cell, {}).get(NATIVE),
            tracing_s=tracing_s,
        )
        for verdict in claimed
        for own in [verdict.overhead.summary]
    )


def _suspected(scene: Scene) -> list[Suspicion]:
    summary = scene.verdict.overhead.summary
    rated = ((cause, sorted(_grounds(cause, scene), reverse=True)) for cause in KNOWN_CAUSES.values())
    judged = [
        Suspicion(
            cell=summary.cell,
            environment=summary.environment,
            metric=summary.metric,
            cause=cause.name,
            strength=grounds[0].strength,
            grounds="; ".join(ground.words for ground in grounds),
        )
        for cause, grounds in rated
        if grounds and (cause.speeds_up or not scene.is_gain)
    ]
    return sorted(judged, key=lambda suspicion: (-suspicion.strength, _place(suspicion, scene)))


def _place(suspicion: Suspicion, scene: Scene) -> int:
    """Place of its first signal among the candidates; a suspicion without a signal counts as most specific."""
    cause = KNOWN_CAUSES[suspicion.cause]
    candidates = scene.attribution.candidates if scene.attribution else ()
    places = [place for place, clue in enumerate(candidates, start=1) if clue.signal in cause.signals]
    return min(places, default=0)


def _grounds(cause: KnownCause, scene: Scene) -> Iterator[_Ground]:
    if cause.needs_label and not any(_by_traits(cause, scene)):
        return
    if not scene.is_gain:
        yield from _by_signals(cause, scene)
        yield from _by_cost(cause, scene)
        yield from _by_repeated_calls(cause, scene)
    yield from _by_traits(cause, scene)
    yield from _by_refused_calls(cause, scene)


def _by_signals(cause: KnownCause, scene: Scene) -> Iterator[_Ground]:
    candidates = scene.attribution.candidates if scene.attribution else ()
    for clue in candidates:
        if clue.signal in cause.signals:
            yield _Ground(
                _strength_of(clue, cause), f"{title_of(clue.signal, clue.scope)} ({grounds_said(clue)})"
            )


def _strength_of(clue: Clue, cause: KnownCause) -> Strength:
    if clue.share is not None and clue.share.point >= MOST_OF_IT:
        return Strength.STRONG
    if Ground.EVENTS in clue.grounds and cause.decisive and clue.after is None:
        return Strength.STRONG
    return Strength.SEEN if {Ground.TIME, Ground.EVENTS} & set(clue.grounds) else Strength.POSSIBLE


def _by_traits(cause: KnownCause, scene: Scene) -> Iterator[_Ground]:
    for trait in scene.traits:
        part = cause.labels.get(trait.label)
        if (
            part is None
            or (part != ANY and part not in trait.value)
            or (part and part in (trait.native or ""))
        ):
            continue
        natively = "" if trait.native is None else f", natively {trait.native}"
        words = f"{trait.label}: {trait.value}{natively}"
        yield _Ground(Strength.STRONG if cause.decisive else Strength.POSSIBLE, words)


def _by_refused_calls(cause: KnownCause, scene: Scene) -> Iterator[_Ground]:
    """Grounds by refused calls; if the mechanism also leaves signals or a label, a refusal alone is not enough."""
    here, natively = scene.calls, scene.native_calls
    if here is None:
        return
    label_lacks = bool(cause.labels) and not cause.decisive and not any(_by_traits(cause, scene))
    for call in cause.refused:
        if not _is_refused(here, call) or (natively is not None and _is_refused(natively, call)):
            continue
        alone = cause.signals or label_lacks or natively is None
        counted = f"{_failed(here, call)} of {_made(here, call)} calls in a traced run"
        yield _Ground(Strength.POSSIBLE if alone else Strength.STRONG, f"{call} is refused ({counted})")


def _is_refused(counts: CallCounts, call: str) -> bool:
    failed = _failed(counts, call)
    return failed > 0 and failed >= _REFUSED_PART * _made(counts, call)


def _by_repeated_calls(cause: KnownCause, scene: Scene) -> Iterator[_Ground]:
    if scene.calls is None or scene.native_calls is None:
        return
    for call in cause.repeated:
        here, natively = _made(scene.calls, call), _made(scene.native_calls, call)
        if here > _MANY_TIMES * (natively + 1):
            yield _Ground(Strength.SEEN, f"{here} calls of {call} in a traced run, natively {natively}")


def _by_cost(cause: KnownCause, scene: Scene) -> Iterator[_Ground]:
    """Grounds by cost: a call that takes longer, and a program that makes enough such calls for it to matter."""
    signal = _signal(cause.dearer, scene)
    if signal is None:
        return
    here_s = median(block.environment for block in signal.blocks)
    natively_s = median(value for block in signal.blocks for value in block.native)
    if here_s < _DEARER_FROM * natively_s or not _stands_out(signal):
        return
    cost = f"{1e9 * here_s:.0f} ns, natively {1e9 * natively_s:.0f} ns"
    words = f"{title_of(signal.name, signal.scope)} ({cost}; n = {len(signal.blocks)})"
    share = _share(signal.name, here_s - natively_s, scene)
    if share is None:
        yield _Ground(Strength.POSSIBLE, words)
    elif share >= _LEAST_PART:
        strength = Strength.STRONG if share >= MOST_OF_IT else Strength.SEEN
        yield _Ground(strength, f"{words}, and it makes many")


def _stands_out(signal: SignalSummary) -> bool:
    own = np.array([block.environment for block in signal.blocks])
    return chance_above(own, np.array([block.native for block in signal.blocks])) <= LEVEL


def _signal(name: str | None, scene: Scene) -> SignalSummary | None:
    signals = scene.evidence.signals if scene.evidence else ()
    return next((signal for signal in signals if signal.name == name and signal.blocks), None)


def _share(signal: str, excess_s: float, scene: Scene) -> float | None:
    """Share of the loss that the calls of a traced run would account for; ``None`` where no run was traced.

    A native run does not show how often the clock is read, because natively that is not a system call (vdso(7)).
    """
    counts = scene.calls or (None if DEARER[signal] else scene.native_calls)
    if counts is None or not counts.traced_s:
        return None
    names = DEARER[signal] or tuple(counts.made)
    calls = sum(counts.made.get(name, 0) for name in names) / _threads(scene)
    untraced_s = counts.traced_s - sum(counts.made.values()) * scene.tracing_s
    if untraced_s < _LEAST_UNTRACED_PART * counts.traced_s:
        return _LEAST_PART
    lost = 1 - 1 / (1 + scene.verdict.overhead.typical.point)
    return calls * excess_s / untraced_s / lost if lost > 0 else None


def _tracing_s(traced: TracedCalls) -> float:
    """Tracing time per call: at most the time per call in the run with the most calls per time."""
    counts = [call_counts for own in traced.counts.values() for call_counts in own.values()]
    spans_s = (
        call_counts.traced_s / sum(call_counts.made.values()) for call_counts in counts if call_counts.made
    )
    return min([_MOST_TRACING_S, *spans_s])


def _threads(scene: Scene) -> float:
    """Number of threads that make calls at the same time."""
    blocks = scene.evidence.blocks if scene.evidence else ()
    return median(block.environment.runnable_threads for block in blocks) if blocks else 1.0


def _made(counts: CallCounts | None, call: str) -> int:
    return counts.made.get(call, 0) if counts else 0


def _failed(counts: CallCounts | None, call: str) -> int:
    return counts.failed.get(call, 0) if counts else 0
