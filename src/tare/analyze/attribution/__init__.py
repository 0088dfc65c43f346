# SPDX-License-Identifier: Apache-2.0
"""Why an environment is slower: accounting, events beyond native's, covariation, and interventions (docs/causes.md)."""

from tare.analyze.attribution.attribution import attributions
from tare.analyze.attribution.intervention import intervention_verdicts

__all__ = ["attributions", "intervention_verdicts"]
