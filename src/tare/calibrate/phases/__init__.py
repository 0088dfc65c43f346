# SPDX-License-Identifier: Apache-2.0
"""The explicit list of phases; the phases of a stage judge the same runs, and are repeated together."""

from tare.calibrate.phases.p0_noise import NOISE
from tare.calibrate.phases.p1_truth import TRUTH
from tare.calibrate.phases.p2_equivalence import EQUIVALENCE
from tare.calibrate.phases.p3_redrawn import REDRAWN
from tare.calibrate.phases.p4_drift import DRIFTING
from tare.calibrate.phases.p5_link import LINK
from tare.calibrate.phases.p6_quota import QUOTA_PHASE
from tare.calibrate.phases.p7_clocks import CLOCKS
from tare.calibrate.phases.p8_boots import BOOTS
from tare.calibrate.phases.phase import Phase

STAGES: tuple[tuple[Phase, ...], ...] = (
    (NOISE,),
    (TRUTH, EQUIVALENCE, REDRAWN),
    (DRIFTING,),
    (LINK,),
    (QUOTA_PHASE,),
    (CLOCKS,),
    (BOOTS,),
)
