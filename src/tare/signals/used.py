# SPDX-License-Identifier: Apache-2.0
"""How much of the trial's processors everything on the host used, between the two looks of a watch."""

from tare.signals.processors import Processors, ProcessorTimes, parse_times
from tare.signals.watch import SignalWatch


def used_between(watch: SignalWatch) -> float | None:
    """CPU time, with what a hypervisor below took, in seconds; ``None`` where /proc/stat does not say."""
    texts = watch.text_of(Processors)
    if texts is None:
        return None
    try:
        before, after = (parse_times(text, watch.place.processors) for text in texts)
    except ValueError:
        return None
    return _of_all(after) - _of_all(before)


def _of_all(times: ProcessorTimes) -> float:
    return times.working_s + times.steal_s
