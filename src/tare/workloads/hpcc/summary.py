# SPDX-License-Identifier: Apache-2.0
"""The summary at the end of hpccoutf.txt: from text to keys and values.

hpcc appends to the file, which may start with an earlier run: only the part after the last header counts.
"""

import re
from collections.abc import Mapping

from tare.errors import WrongOutput
from tare.workloads import excerpt

HEADER = "This is the DARPA/DOE HPC Challenge Benchmark version"
_BEGIN = "\nBegin of Summary section.\n"
_END = "\nEnd of Summary section.\n"
_COMPLETE = "\nEnd of HPC Challenge tests.\n"
_ENTRY = re.compile(r"([A-Za-z]\w*)=(\S*)", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?", re.ASCII)
_SECTION = re.compile(r"^Begin of (\w+) section\.$", re.MULTILINE)


def last_run(text: str) -> str:
    """Reduce ``text`` to its last run; raises ``WrongOutput`` if it contains no run."""
    start = text.rfind(HEADER)
    if start < 0:
        raise WrongOutput("hpccoutf.txt is not hpcc's output", excerpt.tail(text))
    return text[start:]


def parse_summary(run: str) -> dict[str, str]:
    """Read the ``KEY=VALUE`` lines of one run; raises ``WrongOutput`` when the run or a line is cut or garbled."""
    body, end, rest = run.partition(_BEGIN)[2].partition(_END)
    if not end or _COMPLETE not in rest:
        begun = _SECTION.findall(run)
        reached = f"in or after its {begun[-1]} section" if begun else "before its first section"
        raise WrongOutput(f"hpcc's output ends {reached}: the run was cut short", excerpt.tail(run))
    summary: dict[str, str] = {}
    for line in body.split("\n"):
        entry = _ENTRY.fullmatch(line)
        if not entry or entry[1] in summary:
            raise WrongOutput(
                f"hpcc's summary holds the line {excerpt.printable(line[:80])!r}", excerpt.tail(run)
            )
        summary[entry[1]] = entry[2]
    return summary


def number(summary: Mapping[str, str], key: str) -> float:
    """Read one figure; raises ``WrongOutput`` when it is absent or not a finite number."""
    text = summary.get(key)
    if text is None:
        raise WrongOutput(f"hpcc's summary lacks {key}")
    if not _NUMBER.fullmatch(text) or (value := float(text)) in (float("inf"), float("-inf")):
        raise WrongOutput(
            f"hpcc's summary says {key}={excerpt.printable(text[:80])}", f"{key}={excerpt.tail(text)}"
        )
    return value
