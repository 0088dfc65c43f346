# SPDX-License-Identifier: Apache-2.0
"""The times that hpcc prints beside its rates: wall time, and for RandomAccess the first rank's CPU time too.

Where the two differ, the processor was elsewhere, or a clock is wrong: Luszczek and others (2012) looked at this.
PTRANS and FFT print theirs in hundredths and thousandths of a second, too coarse to be figures; the single tests print
theirs only when the first rank happens to be the chosen one.
"""

import re
from collections.abc import Iterator, Mapping

from tare.records import Direction, Sample
from tare.workloads.hpcc.summary import number

WALL_TIMES = {"HPL_time": "hpl_wall_s", "PTRANS_time": "ptrans_wall_s"}
"""Key of the summary → our name."""
SECTIONS = {
    f"{mode}RandomAccess{generator}": f"random_access{generator.lower()}_{mode.lower()}"
    for generator in ("", "_LCG")
    for mode in ("MPI", "Star")
}
"""Section with both times → the beginning of our names."""
_CLOCKS = {"Real": "wall_s", "CPU": "cpu_s"}
_USED = re.compile(r"^(Real|CPU) time used {1,2}= (\d{1,9}\.\d{1,9}) seconds$", re.MULTILINE | re.ASCII)


def times(run: str, summary: Mapping[str, str]) -> Iterator[Sample]:
    """The times of one run; times that are missing, or shorter than hpcc can print, are left out."""
    for key, name in WALL_TIMES.items():
        if key in summary:
            yield from _time(name, number(summary, key))
    for section, name in SECTIONS.items():
        text = run.partition(f"\nBegin of {section} section.\n")[2].partition(
            f"\nEnd of {section} section.\n"
        )[0]
        for clock, value in _USED.findall(text):
            yield from _time(f"{name}_{_CLOCKS[clock]}", float(value))


def _time(name: str, value: float) -> Iterator[Sample]:
    if value > 0:
        yield Sample(name=name, value=value, unit="s", direction=Direction.LESS)
