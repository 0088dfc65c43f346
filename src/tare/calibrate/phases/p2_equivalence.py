# SPDX-License-Identifier: Apache-2.0
"""P2: 5 % more work is not called equivalent to native, in the blocks of P1."""

from tare.calibrate.evidence import Evidence
from tare.calibrate.gates import Named, count
from tare.calibrate.phases.p1_truth import RUN
from tare.calibrate.phases.phase import Phase
from tare.records import USUAL_MARGIN, Gate
from tare.statistics.contrasts import Contrast
from tare.statistics.estimate import LEVEL, as_fraction, lies_within

_PLANT = "plus-5"


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """The interval inside the default margin, in each experiment."""

    def equivalent(contrast: Contrast) -> bool:
        estimate = as_fraction(evidence.estimator.interval(contrast, 1 - LEVEL))
        return lies_within(estimate, USUAL_MARGIN)

    return tuple(
        count(
            Named(
                "P2", f"equivalence, {metric}", f"+5 % of work is called within ±{USUAL_MARGIN:.0%}, {metric}"
            ),
            evidence.series(RUN, _PLANT, metric),
            equivalent,
        )
        for metric in evidence.metrics(RUN) or (evidence.headline,)
    )


EQUIVALENCE = Phase(name="P2", title="equivalence, of the same blocks", judge=judge)
