# SPDX-License-Identifier: Apache-2.0
"""CG sends the reference's messages if asked: as many, as large, between the same ranks."""

from collections import Counter
from pathlib import Path

import pytest

from tests.native.profile.conftest import Launcher

STEPS = 16
"""Of class S: 15, and one that is not timed."""

# Counted in cg.S.x of NPB 3.4 by the same profiler.
