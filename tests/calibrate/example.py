# SPDX-License-Identifier: Apache-2.0
"""A calibration as one might have ended."""

from tare.records import Calibration, Gate, Passing

CALIBRATION = Calibration(
    started_utc="2026-03-01T10:00:00+00:00",
    ended_utc="2026-03-01T10:40:00+00:00",
    tare_version="1.0",
    image_digest="sha256:0",
    host_identity="0123456789abcdef",
    host={"kernel": "6.1"},
    size="full",
    estimator="aligned-ranks",
    gates=(
        Gate(
            phase="P1",
            name="false positives, native again",
            claim="native again differs from native",
            passing=Passing.PASSED,
            seen="2 of 60",
            count=2,
            of=60,
            allowed=7,
        ),
        Gate(
            phase="P1",
            name="coverage, plus-5",
            claim="the interval misses +5 %",
            passing=Passing.PASSED,
            seen="2 of 60",
            count=2,
            of=60,
            allowed=7,
        ),
    ),
    folder="calibration-20260301",
    measured={"noise_wall_s": 0.02},
)
FAILED = Gate(
    phase="P7",
    name="step",
    claim="a step of 50 ms stays unnoticed",
    passing=Passing.FAILED,
    seen="1 of 20 runs",
    count=1,
    of=20,
    allowed=0,
)
SKIPPED = Gate(
    phase="P6",
    name="quota-50",
    claim="the cost of a quota is found",
    passing=Passing.NOT_RUN,
    seen="not attributable: pressure was 3.0% of the time before, over 1.0%",
)
