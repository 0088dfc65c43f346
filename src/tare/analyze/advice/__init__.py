# SPDX-License-Identifier: Apache-2.0
"""From known workloads and what an application uses to the environments that suit it (docs/advise.md).

In: known workloads with their overheads, the application, requirements. Out: one advice. Pure functions.
"""

from tare.analyze.advice.chosen import advise
from tare.analyze.advice.costs import BEYOND, LEAST_KNOWN, LEVEL
from tare.analyze.advice.suitable import unsuitable

__all__ = ["BEYOND", "LEAST_KNOWN", "LEVEL", "advise", "unsuitable"]
