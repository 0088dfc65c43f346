# SPDX-License-Identifier: Apache-2.0
"""An analysis of a sharing experiment, as a report gets it."""

from tare.analyze import controls, helper_costs, sharing_losses, verdicts
from tare.records import Analysis
from tare.treat import helper_summaries, sharing_summaries, summaries
from tests.report.report_example import MARGIN, example, with_verdicts
from tests.sharing_example import ALONE, PRIMARY, Planted, cells, sharing_outcomes

SETTINGS = (ALONE, "1c2p2i", "2c1p2i", "1c1p1i+1xstream@docker")
PLANTED = {
    "native": Planted(loss=0.039),
    "docker": Planted(overhead=0.004, loss=0.075, unfairness=0.02, helpers=2, helper_share=0.006),
    "lxc": Planted(overhead=0.002, loss=0.09, helpers=1, helper_share=0.0004),
    "podman": Planted(overhead=0.01, loss=0.031, helpers=1),
    "systemd-nspawn": Planted(loss=0.0, helpers=0),
}


def sharing_analysis(blocks: int = 10) -> Analysis:
    outcomes = sharing_outcomes(PLANTED, settings=SETTINGS, blocks=blocks)
    treated = summaries(outcomes, {name: (metric,) for name, metric in PRIMARY.items()})
    shared = sharing_summaries(outcomes, [cells(setting) for setting in SETTINGS[1:]], PRIMARY)
    return with_verdicts(
        example(),
        verdicts(treated, MARGIN),
        campaign="sharing",
        outcomes=tuple(outcomes),
        planned_trials=len(outcomes),
        controls=controls(treated),
        sharing=sharing_losses(shared, MARGIN),
        helper_costs=helper_costs(helper_summaries(outcomes)),
        skipped=(),
    )
