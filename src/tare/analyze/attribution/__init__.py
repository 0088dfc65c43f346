# SPDX-License-Identifier: Apache-2.0
"""Why an environment is slower: accounting, events beyond native's, covariation, and interventions (docs/causes.md)."""

from tare.analyze.attribution.attribution import attributions
from tare.analyze.attribution.explained import claims, explanations
from tare.analyze.attribution.intervention import intervention_verdicts
from tare.analyze.attribution.suspicions import scenes, suspicions

__all__ = ["attributions", "claims", "explanations", "intervention_verdicts", "scenes", "suspicions"]
