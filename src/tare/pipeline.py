# SPDX-License-Identifier: Apache-2.0
"""The whole flow: plan → measure → treat → analyze; its result is what a report draws."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.analyze import (
    across_workloads,
    activity_splits,
    answers,
    arm_spreads,
    attributions,
    busyness,
    claims,
    controls,
    courses,
    curve_estimates,
    decisions,
    dependences,
    diagnosed,
    explanations,
    failure_rates,
    helper_costs,
    host_clock_summaries,
    host_effects,
    host_excesses,
    host_shares,
    host_speeds,
    in_families,
    intervention_verdicts,
    loss_decisions,
    order_verdicts,
    rankings,
    scenes,
    sharing_losses,
    signal_tables,
    start_skew,
    steadiness,
    stopped_arms,
    suspicions,
    timer_agreements,
    variance_splits,
    verdicts,
    wait_costs,
    with_clock_warnings,
    with_order_warnings,
    with_unseen_iterations,
    with_warnings,
    without_busy_causes,
    without_busy_claims,
    without_busy_curves,
    without_busy_losses,
    without_busy_orders,
    without_steady_claims,
)
from tare.causes import LABELS
from tare.collection import without_collection
from tare.errors import InputError, JournalError
from tare.journal.calibrations import cite_calibration, read_calibration
from tare.journal.calls import read_calls
from tare.journal.large import read_result
from tare.journal.reader import Journal, Samples
from tare.journal.result import ResultFolder
from tare.measure.joining import plan_now, skipped_in
from tare.measure.kept import kept_campaign
from tare.measure.more import added_blocks
from tare.measure.stopping import spared_trials
from tare.plan.definition import Campaign, extended
from tare.plan.trials import refuse_misnamed
from tare.records import (
    HOST_FILES,
    Analysis,
    Cell,
    InterventionVerdict,
    Outcome,
    Session,
    Stopped,
    Summary,
    TracedCalls,
    Trial,
    Way,
)
from tare.records.profiled import ProfiledArm
from tare.treat import (
    activity_summaries,
    blocks_out_of_order,
    compared,
    curves,
    exclusions,
    failure_counts,
    finished_blocks,
    helper_summaries,
    host_times,
    iteration_series,
    levels,
    order_summaries,
    predecessors,
    sharing_summaries,
    signal_evidence,
    summaries,
    swept,
    timer_summaries,
    traits,
    unlike,
    wait_summaries,
    with_ranges,
)
from tare.treat.pairing import cell_of
from tare.workloads import primary_metrics, ranges_of

if TYPE_CHECKING:
    from tare.measure.campaign import Audience, Request


def run_campaign(request: "Request", audience: "Audience") -> Analysis:
    """Measure the missing part of the campaign, then judge all of it."""
    from tare.measure.campaign import measure_campaign  # noqa: PLC0415 - all that measures, which a reader needs not

    measure_campaign(replace(request, stopping=stopped), audience)
    cite_calibration(request.folder)
    return analyse_result(request.folder.path)


def stopped(
    campaign: Campaign, outcomes: Sequence[Outcome], passed_over: Sequence[Trial]
) -> tuple[Stopped, ...]:
    """Arms that have been measured enough, replayed from the finished blocks; the same at every resume."""
    own = _compared(campaign, outcomes)
    summarized = summaries(own, _primary_metrics(campaign))
    return stopped_arms(courses(summarized, finished_blocks(own, passed_over), campaign.design, ended=False))


def analyse_result(path: Path) -> Analysis:
    """The complete analysis of a result folder, from its journal alone."""
    with without_collection():
        return _analysed(path)


def _analysed(path: Path) -> Analysis:
    folder = ResultFolder(path)
    campaign = kept_campaign(folder)
    journal = _journal(folder, campaign)
    campaign = extended(campaign, added_blocks(campaign, journal))
    outcomes = _compared(campaign, journal.outcomes)
    primary = _primary_metrics(campaign)
    headlines = {name: metrics[0] for name, metrics in primary.items()}
    analysed = summaries(outcomes, primary)
    shared = sharing_summaries(outcomes, campaign.shared_cells, headlines)
    now = plan_now(campaign, journal, _missing_last(journal))
    skipped = skipped_in(journal, now)
    done = finished_blocks(outcomes, now.passed_over)
    spared = spared_trials(
        campaign, now.usable, stopped_arms(courses(analysed, done, campaign.design, ended=False))
    )
    planned = journal.sessions[-1].planned_trials - spared if journal.sessions else 0
    cut = campaign.budget_s is not None and len(journal.outcomes) < planned
    looked = courses(analysed, done, campaign.design, ended=cut)
    taken_out = exclusions(outcomes)
    single = diagnosed(verdicts(analysed, campaign.margin, looked), predecessors(outcomes))
    steady = steadiness(iteration_series(outcomes, headlines))
    standing = without_busy_claims(in_families(without_steady_claims(single, steady)))
    judged = with_clock_warnings(with_warnings(standing, taken_out, unlike(outcomes)), journal.outcomes)
    judged = with_order_warnings(judged, blocks_out_of_order(outcomes))
    hosts = {each.name for each in campaign.environments if each.technology == HOST_FILES}
    contained = tuple(verdict for verdict in judged if verdict.overhead.summary.environment not in hosts)
    claimed = () if campaign.intervention else claims(contained)
    own = [verdict.overhead.summary for verdict in claimed]
    evidence = signal_evidence(
        outcomes, [summary for summary in analysed if summary.primary or summary in own]
    )
    attributed = attributions(evidence, contained)
    interventions = _interventions(folder, campaign, journal.sessions, analysed)
    suspected = suspicions(scenes(claimed, attributed, evidence, traits(outcomes, LABELS), _traced(folder)))
    ranked = rankings(judged)
    losses = without_busy_losses(sharing_losses(shared, campaign.margin, len(campaign.added_from)))
    measured = [environment.name for environment in campaign.environments]
    return Analysis(
        campaign=campaign.name,
        result=str(path),
        sessions=journal.sessions,
        verdicts=with_unseen_iterations(judged, _repeated(campaign)) if journal.condensed else judged,
        controls=controls(analysed, looked),
        outcomes=journal.outcomes,
        skipped=skipped,
        margin=campaign.margin,
        planned_trials=planned,
        answers=answers(judged),
        cut_by_budget=cut,
        repeated_trials=journal.repeated,
        integrity=journal.integrity,
        busy=busyness(journal.outcomes, journal.sessions, judged),
        spared_trials=spared,
        decisions=(
            *decisions(analysed, looked, campaign.design, measured, skipped),
            *loss_decisions(losses, campaign.fail_if, measured),
        ),
        sharing=losses,
        helper_costs=helper_costs(helper_summaries(outcomes)),
        wait_costs=wait_costs(wait_summaries(outcomes)),
        curves=without_busy_curves(curve_estimates((*curves(outcomes), *curves(swept(outcomes, primary))))),
        rankings=ranked,
        host_shares=host_shares(ranked, hosts),
        host_speeds=host_speeds(journal.outcomes),
        host_excesses=host_excesses(journal.outcomes),
        host_clocks=host_clock_summaries(journal.outcomes),
        start_skew=start_skew(journal.outcomes),
        host_effects=host_effects(host_times(outcomes, primary)),
        across_workloads=across_workloads(judged),
        spreads=arm_spreads(analysed),
        variances=() if journal.condensed else variance_splits(levels(outcomes, headlines)),
        exclusions=taken_out,
        calibration=read_calibration(folder.calibration),
        attributions=attributed,
        interventions=interventions,
        suspicions=suspected,
        explanations=explanations(
            claimed,
            suspected,
            interventions,
            {environment.name: environment.technology for environment in campaign.environments},
        ),
        signals=signal_tables(evidence, outcomes),
        orders=without_busy_orders(
            order_verdicts(order_summaries(journal.outcomes, _ordered_metrics(campaign)))
        ),
        dependences=dependences(judged, campaign.factor_cells, len(campaign.added_from)),
        steadiness=steady,
        timers=timer_agreements(timer_summaries(outcomes)),
        activities=activity_splits(activity_summaries(outcomes), judged),
        call_sites=_call_sites(folder, campaign, outcomes),
        failures=failure_rates(failure_counts(outcomes)),
        scaled=campaign.scaled,
    )


def _call_sites(
    folder: ResultFolder, campaign: Campaign, outcomes: Sequence[Outcome]
) -> tuple[ProfiledArm, ...]:
    if not any(workload.options.get("profile") for workload in campaign.workloads_at_levels):
        return ()
    from tare.measure.profiles import profiled_arms  # noqa: PLC0415 - few results are profiled

    return profiled_arms(folder.raw, outcomes, cell_of)


def _missing_last(journal: Journal) -> frozenset[str]:
    """The environments that the last session skipped."""
    return frozenset(skipped.environment for session in journal.sessions[-1:] for skipped in session.skipped)


def _ordered_metrics(campaign: Campaign) -> dict[tuple[Cell, str], Sequence[str]]:
    """The metrics judged in each order experiment, by its cell and its varied option."""
    return {
        (Cell(workload=order.workload.name, layout=str(order.layout)), order.option): order.metrics
        for order in campaign.orders
    }


def _journal(folder: ResultFolder, campaign: Campaign) -> Journal:
    """The journal; in a large one the samples are joined to one for each trial and metric.

    They are not joined if instances, iterations or rounds themselves are compared.
    """
    by_turns = any(workload.way is not Way.WHOLE for workload in campaign.workloads)
    as_measured = campaign.shared_cells or campaign.orders or by_turns
    return _own(read_result(folder, None if as_measured else _joined))


def _joined(*columns: Any) -> Samples:
    from tare.treat.columns import JoinedSamples  # noqa: PLC0415 - loads numpy, which few results need

    return JoinedSamples(*columns)


def _own(journal: Journal) -> Journal:
    """The journal itself; ``JournalError`` if a trial has another's name."""
    refuse_misnamed(outcome.trial for outcome in journal.outcomes)
    return journal


def _repeated(campaign: Campaign) -> frozenset[str]:
    return frozenset(workload.name for workload in campaign.workloads if workload.iterations > 1)


def _primary_metrics(campaign: Campaign) -> dict[str, tuple[str, ...]]:
    """Workload → its metrics declared as primary, at any of its levels."""
    metrics: dict[str, dict[str, None]] = {}
    for workload in campaign.workloads_at_levels:
        metrics.setdefault(workload.name, {}).update(dict.fromkeys(primary_metrics(workload)))
    return {name: tuple(own) for name, own in metrics.items()}


def _compared(campaign: Campaign, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The outcomes that are compared with native, with the figures of ranges."""
    return with_ranges(
        compared(outcomes), {workload.name: ranges_of(workload) for workload in campaign.workloads_at_levels}
    )


def _traced(folder: ResultFolder) -> TracedCalls:
    """The calls of extra runs traced by ``tare explain``; a result can be read without them."""
    try:
        kept = read_calls(folder.explanation)
    except JournalError:
        kept = None
    return kept or TracedCalls(counts={}, untraced={})


def _interventions(
    folder: ResultFolder, campaign: Campaign, sessions: Sequence[Session], summarized: Sequence[Summary]
) -> tuple[InterventionVerdict, ...]:
    """The verdicts of this result if it is an intervention, else of the interventions below that explain it."""
    if campaign.intervention is not None:
        return without_busy_causes(
            intervention_verdicts(summarized, campaign.intervention, campaign.margin), summarized
        )
    own = sessions[0].identity if sessions else None
    below = (_child_verdicts(child, own) for child in folder.explanations())
    return tuple(verdict for verdicts_below in below for verdict in verdicts_below)


def _child_verdicts(child: ResultFolder, parent_session: str | None) -> Sequence[InterventionVerdict]:
    """Its verdicts; none if it explains another result or cannot be read: damaged, or from another version."""
    try:
        campaign, outcomes = kept_campaign(child), _own(read_result(child)).outcomes
    except (InputError, JournalError):
        return ()
    if campaign.intervention is None or campaign.intervention.parent_session != parent_session:
        return ()
    known = summaries(_compared(campaign, outcomes), _primary_metrics(campaign))
    claimed = set(campaign.intervention.claims)
    own = [
        summary for summary in known if summary.primary or (summary.cell.workload, summary.metric) in claimed
    ]
    return without_busy_causes(intervention_verdicts(own, campaign.intervention, campaign.margin), own)
