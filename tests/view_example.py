# SPDX-License-Identifier: Apache-2.0
"""Results that measured all that a view of a paper speaks of, with planted losses."""

import math
import random
from collections.abc import Callable, Iterator, Sequence

from tare.analyze import curve_estimates, order_verdicts, overhead, sharing_losses, verdict
from tare.analyze.published import places_of
from tare.analyze.roles import ROLES
from tare.records import (
    NATIVE,
    Analysis,
    Cell,
    Coordinate,
    Direction,
    Environment,
    Layout,
    Limits,
    OrderedBlock,
    OrderedRun,
    OrderedStart,
    Ordering,
    OrderSummary,
    OrderVerdict,
    Outcome,
    Sample,
    Session,
    SharedCell,
    Status,
    Trial,
    Workload,
)
from tare.records.published import ClaimKind, ClaimPlace, View
from tare.treat import curves, sharing_summaries, summaries

Planted = Callable[[str, ClaimPlace], float]
"""Role and place → ln(time per work) beyond native's."""
_OPTIONS: dict[str, dict[str, object]] = {
    "kvm": {"devices": "paravirtual"},
    "kvm-pv": {"devices": "paravirtual"},
    "kvm-fv": {"devices": "emulated"},
    "virtualbox-pv": {"network_adapter": "virtio"},
    "xen-hvm": {"type": "hvm"},
}
_SIZES_BYTE = (65536.0, 262144.0, 4194304.0, 16777216.0)


def nothing(role: str, place: ClaimPlace) -> float:
    """All as natively."""
    del role, place
    return 0.0


def environment_of(role: str) -> Environment:
    return Environment(
        name=role,
        technology=max(ROLES[role].technologies),
        options=dict(_OPTIONS.get(role, {})),  # type: ignore[arg-type]
        rto_min_s=0.002 if role == "lxc-2ms" else None,
    )


def roles_of(view: View) -> tuple[str, ...]:
    named = (role for claim in view.claims for role in (*claim.environments, *claim.among, claim.against))
    return tuple(role for role in dict.fromkeys((NATIVE, *named)) if role != "same")


def places(view: View) -> tuple[ClaimPlace, ...]:
    """Each once, with those without company."""
    known: dict[str, ClaimPlace] = {}
    for claim in view.claims:
        for place in places_of(claim):
            known.setdefault(repr(place), place)
            if claim.alone:
                alone = ClaimPlace(
                    kinds=place.kinds, metric=place.metric, layout=claim.alone, options=place.options
                )
                known.setdefault(repr(alone), alone)
    return tuple(known.values())


def analysis_of(
    view: View,
    planted: Planted = nothing,
    *,
    roles: Sequence[str] | None = None,
    blocks: int = 12,
    noise: float = 0.004,
    facts: dict[str, str] | None = None,
) -> Analysis:
    """A result of everything, or of some environments, in all places of a view."""
    chosen = roles_of(view) if roles is None else (NATIVE, *roles)
    outcomes = tuple(_outcomes(view, planted, chosen, blocks, noise, facts or {}))
    primary = {name: tuple(metrics) for name, metrics in _metrics(view).items()}
    verdicts = [verdict(overhead(each), 0.01) for each in summaries(outcomes, primary) if each.blocks]
    pairs = tuple(dict.fromkeys(_shared_cells(view)))
    return Analysis(
        campaign=view.preset,
        sessions=(_SESSION,),
        verdicts=tuple(verdicts),
        controls=(),
        outcomes=outcomes,
        skipped=(),
        margin=0.01,
        planned_trials=len(outcomes),
        sharing=sharing_losses(
            sharing_summaries(outcomes, pairs, {name: metrics[0] for name, metrics in primary.items()}), 0.01
        ),
        curves=curve_estimates(curves(outcomes)),
    )


def _metrics(view: View) -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    for place in places(view):
        own = known.setdefault(_workload(place).name, [])
        if place.metric not in own:
            own.append(place.metric)
    return known


def _workload(place: ClaimPlace) -> Workload:
    options = {key: value for key, value in place.options.items() if value != "unset"}
    name = "-".join((place.kinds[0], *map(str, options.values())))
    return Workload(name=name, kind=place.kinds[0], options=options)


def _shared_cells(view: View) -> Iterator[SharedCell]:
    for claim in view.claims:
        if claim.kind is not ClaimKind.LOSS or claim.alone is None:
            continue
        for place in claim.places:
            name = _workload(place).name
            yield SharedCell(
                shared=Cell(workload=name, layout=place.layout), alone=Cell(workload=name, layout=claim.alone)
            )


def _outcomes(
    view: View, planted: Planted, roles: Sequence[str], blocks: int, noise: float, facts: dict[str, str]
) -> Iterator[Outcome]:
    chance = random.Random(1)  # noqa: S311 - samples, not secrets
    cells: dict[tuple[str, str], list[ClaimPlace]] = {}
    for place in places(view):
        cells.setdefault((_workload(place).name, place.layout), []).append(place)
    for block in range(blocks):
        for slot, ((name, layout), own) in enumerate(cells.items()):
            for role in roles:
                for replicate in range(2 if role == NATIVE else 1):
                    trial = Trial(
                        identity=f"b{block}-{name}-{layout}-{role}-{replicate}",
                        block=block,
                        slot=slot,
                        environment=environment_of(role),
                        replicate=replicate,
                        layout=Layout.parse(layout),
                        workload=_workload(own[0]),
                        limits=Limits(memory_byte=1 << 30, shm_byte=1 << 20),
                    )
                    yield _outcome(trial, own, role, planted, noise, chance, facts if role != NATIVE else {})


def _outcome(
    trial: Trial,
    own: Sequence[ClaimPlace],
    role: str,
    planted: Planted,
    noise: float,
    chance: random.Random,
    facts: dict[str, str],
) -> Outcome:
    samples: list[Sample] = []
    for place in own:
        losses = planted(role, place)
        for instance in range(trial.layout.instances):
            log_time = losses + chance.gauss(0, noise)
            samples += _samples(place, log_time, instance if trial.layout.instances > 1 else None)
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc="2026-01-01T00:00:00+00:00",
        elapsed_s=1.0,
        node_start_s=0.1,
        node_stop_s=0.1,
        barrier_skew_s=None,
        cpu_s=1.0,
        samples=tuple(
            {repr((each.name, each.instance, each.coordinates)): each for each in samples}.values()
        ),
        instances=(),
        image_digest="sha256:0",
        facts=facts,
    )


def _samples(place: ClaimPlace, log_time: float, instance: int | None) -> Iterator[Sample]:
    rate = place.metric.endswith("per_s")
    value = 1e9 * math.exp(-log_time) if rate else 1e-3 * math.exp(log_time)
    for size in (None,) if place.at is None else _SIZES_BYTE:
        yield Sample(
            name=place.metric,
            value=value,
            unit="flop/s" if rate else "s",
            direction=Direction.MORE if rate else Direction.LESS,
            instance=instance,
            coordinates=() if size is None else (Coordinate("size", size, "B"),),
        )


def ordered(environment: str, descending: float = 0.0, blocks: int = 12) -> OrderVerdict:
    """An order experiment of HPCC: N = 1000 takes so much more time in descending order, where it comes last."""
    chance = random.Random(environment)  # noqa: S311 - noise
    orders = {Ordering.ASCENDING: (1000.0, 2000.0), Ordering.DESCENDING: (2000.0, 1000.0)}

    def start(ordering: Ordering) -> OrderedStart:
        more = math.log1p(descending) if ordering is Ordering.DESCENDING else 0.0
        runs = (
            OrderedRun(
                value=value,
                uptime_s=float(place),
                log_time=chance.gauss(more if value == min(orders[ordering]) else 0.0, 0.01),
            )
            for place, value in enumerate(orders[ordering])
        )
        return OrderedStart(ordering=ordering, runs=tuple(runs))

    summary = OrderSummary(
        cell=Cell(workload="hpcc", layout="1c4p1i"),
        environment=environment,
        option="problem_size",
        metric="hpl_flop_per_s",
        unit="flop/s",
        blocks=tuple(OrderedBlock(block=block, starts=tuple(map(start, orders))) for block in range(blocks)),
        dropped_blocks=0,
    )
    (verdict,) = order_verdicts([summary])
    return verdict


_SESSION = Session(
    identity="view",
    started_utc="2026-01-01T00:00:00+00:00",
    tare_version="0",
    seed=1,
    image_name="none",
    image_digest="sha256:0",
    host={},
    skipped=(),
    planned_trials=1,
)
