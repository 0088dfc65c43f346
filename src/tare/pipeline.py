# SPDX-License-Identifier: Apache-2.0
"""The flow, once: plan → measure → treat → analyze; what comes out is what a report draws."""

from pathlib import Path

from tare.analyze import controls, curve_estimates, helper_costs, sharing_losses, verdicts, wait_costs
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Audience, Request, kept_campaign, measure_campaign
from tare.plan.campaign import Campaign
from tare.records import Analysis
from tare.treat import curves, helper_summaries, sharing_summaries, summaries, wait_summaries
from tare.workloads import KINDS


def run_campaign(request: Request, audience: Audience) -> Analysis:
    """Measure what is missing of the campaign, then judge all of it."""
    measure_campaign(request, audience)
    return analyse_result(request.folder.path)


def analyse_result(path: Path) -> Analysis:
    """Everything that can be said of a result folder, from its journal alone."""
    folder = ResultFolder(path)
    campaign = kept_campaign(folder)
    journal = read_journal(folder.journal)
    primary = _primary_metrics(campaign)
    found = summaries(journal.outcomes, primary)
    shared = sharing_summaries(journal.outcomes, campaign.shared_cells, primary)
    planned = journal.sessions[-1].planned_trials if journal.sessions else 0
    return Analysis(
        campaign=campaign.name,
        sessions=journal.sessions,
        verdicts=verdicts(found, campaign.margin),
        controls=controls(found),
        outcomes=journal.outcomes,
        skipped=tuple(
            {one.environment: one for session in journal.sessions for one in session.skipped}.values()
        ),
        margin=campaign.margin,
        planned_trials=planned,
        cut_by_budget=campaign.budget_s is not None and len(journal.outcomes) < planned,
        sharing=sharing_losses(shared, campaign.margin),
        helper_costs=helper_costs(helper_summaries(journal.outcomes)),
        wait_costs=wait_costs(wait_summaries(journal.outcomes)),
        curves=curve_estimates(curves(journal.outcomes)),
    )


def _primary_metrics(campaign: Campaign) -> dict[str, str]:
    return {workload.name: KINDS[workload.kind].primary_metric for workload in campaign.workloads}
