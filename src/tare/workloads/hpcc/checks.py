# SPDX-License-Identifier: Apache-2.0
"""hpcc's own correctness checks, repeated on its summary.

``Success=1`` already says that every test passed. The figures behind it are checked again where the summary has them,
because a wrong result must never count as a fast one.
"""

import math
import re
from collections.abc import Mapping

from tare.errors import WrongOutput
from tare.workloads import excerpt
from tare.workloads.hpcc.summary import number

THRESHOLD = 16.0
"""Limit of scaled residuals: HPL's check, which hpcc uses for PTRANS and FFT too."""
RANDOM_ACCESS_ERRORS = 0.01
"""Largest fraction of wrong words: RandomAccess's rules allow this many lost updates."""

_FAILURES = re.compile(
    r"FAILED|Node\(s\) with error [1-9]|(?<!\d)[1-9]\d* tests.{0,200}(?:failed|skipped)|Found \d+ errors.{0,200}failed"
)
"""Bounded repeats, so that the matching time stays linear in the output's length."""
_INPUT_LINES = {"HPL_N": 5, "HPL_NB": 7, "HPL_nprow": 10, "HPL_npcol": 11}
"""Key of the summary → line of hpccinf.txt, from 0, that it must repeat."""


def check_success(run: str, summary: Mapping[str, str]) -> None:
    """Raise ``WrongOutput``, with the explaining line, unless hpcc itself calls the run a success."""
    if summary.get("Success") == "1":
        return
    match = _FAILURES.search(run)
    start = match.start() if match else run.rfind("Success=")
    line = run[run.rfind("\n", 0, start) + 1 :].split("\n", 1)[0].strip()
    raise WrongOutput(f"hpcc's own check failed: {excerpt.printable(line[:200])}", excerpt.around(run, start))


def check_residuals(summary: Mapping[str, str]) -> None:
    """Raise ``WrongOutput`` when a residual or an error count in the summary exceeds hpcc's threshold."""
    residuals = {
        "HPL's scaled residual": hpl_residual(summary),
        "PTRANS's residual": number(summary, "PTRANS_residual"),
        "MPIFFT's scaled error": _fft_error(summary),
    }
    for name, residual in residuals.items():
        if not residual < THRESHOLD:
            raise WrongOutput(f"{name} is {residual:g}, not below {THRESHOLD:g}")
    for test in ("MPIRandomAccess", "MPIRandomAccess_LCG"):
        errors, words = number(summary, f"{test}_Errors"), number(summary, f"{test}_N")
        if errors > RANDOM_ACCESS_ERRORS * words:
            raise WrongOutput(f"{test} left {errors:.0f} of {words:.0f} words wrong, more than 1 %")


def hpl_residual(summary: Mapping[str, str]) -> float:
    """Compute HPL's check, ‖Ax-b‖ / (eps · (‖A‖ · ‖x‖ + ‖b‖) · N) in the maximum norm."""
    names = ("RnormI", "eps", "AnormI", "XnormI", "BnormI", "N")
    rest, eps, matrix, solution, right, size = (number(summary, f"HPL_{name}") for name in names)
    scale = eps * (matrix * solution + right) * size
    return rest / scale if scale > 0 and rest >= 0 else math.inf


def _fft_error(summary: Mapping[str, str]) -> float:
    error, eps, size = (number(summary, key) for key in ("MPIFFT_maxErr", "HPL_eps", "MPIFFT_N"))
    if error < 0 and number(summary, "MPIFFT_Gflops") < 0:
        return 0.0
    return error / eps / math.log(size) if eps > 0 and size > 1 and error >= 0 else math.inf


def check_input_was_read(summary: Mapping[str, str], input_text: str | None) -> None:
    """Raise ``WrongOutput`` unless hpcc ran the problem in its input file.

    When it cannot read the file, hpcc runs a small problem of its own and calls that a success.
    """
    lines = (input_text or "").splitlines()
    for key, index in _INPUT_LINES.items():
        asked = (
            lines[index].split(maxsplit=1)[0] if index < len(lines) and lines[index].strip() else "nothing"
        )
        if summary.get(key) != asked:
            raise WrongOutput(
                f"hpcc ran {key}={excerpt.printable(str(summary.get(key))[:80])}, hpccinf.txt asks {asked}"
            )
