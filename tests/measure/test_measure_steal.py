# SPDX-License-Identifier: Apache-2.0
"""What a thread ran and waited for a processor is known from outside, or said to be unknown."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator

import pytest

from tare.measure.counted import HelperMeter, cpu_ns
from tare.measure.steal import ThreadTimes, ThreadWatch, parse_schedstat, thread_times

NO_THREAD = 1 << 22  # beyond the kernel's largest number


@pytest.fixture
def spinning() -> Iterator[int]:
    """A process that works."""
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as process:
        yield process.pid
        process.kill()


def test_the_first_two_numbers_are_what_it_ran_and_what_it_waited() -> None:
    assert parse_schedstat("1099159 2884160 17\n") == ThreadTimes(run_ns=1099159, wait_ns=2884160)


@pytest.mark.parametrize("text", ["", "12", "12 x 3", "-1 2 3", "1.5 2 3"])
def test_anything_else_is_unknown(text: str) -> None:
    assert parse_schedstat(text) is None


def test_a_thread_of_another_process_is_found_there() -> None:
    stay = threading.Event()
    other = threading.Thread(target=stay.wait)
    other.start()
    try:
        assert other.native_id is not None
        assert thread_times(other.native_id, [1, os.getpid()]) is not None
        assert thread_times(other.native_id, []) is None
    finally:
        stay.set()
        other.join()


def test_what_a_thread_ran_agrees_with_its_processs_clock(spinning: int) -> None:
    watch, before = ThreadWatch([spinning], [spinning]), cpu_ns(spinning)
    time.sleep(0.4)
    used, after = watch.used(), cpu_ns(spinning)
    assert used is not None
    assert before is not None
    assert after is not None
    assert used.run_ns == pytest.approx(after - before, abs=50_000_000)
    assert used.wait_ns >= 0


def test_two_that_share_a_processor_wait_for_each_other() -> None:
    processor = min(os.sched_getaffinity(0))
    busy = ["taskset", "--cpu-list", str(processor), "sh", "-c", "while :; do :; done"]
    with subprocess.Popen(busy) as first, subprocess.Popen(busy) as second:
        time.sleep(0.1)
        watch = ThreadWatch([first.pid, second.pid], [first.pid, second.pid])
        begun = time.monotonic()
        time.sleep(0.5)
        used, span_s = watch.used(), time.monotonic() - begun
        first.kill()
        second.kill()
    assert used is not None
    assert used.wait_s > 0.3 * span_s
    assert (used.run_ns + used.wait_ns) * 1e-9 == pytest.approx(2 * span_s, rel=0.2)


def test_no_threads_and_lost_threads_have_no_time() -> None:
    own = os.getpid()
    assert ThreadWatch([], [own]).used() is None
    assert ThreadWatch([own, NO_THREAD], [own]).used() is None


def test_a_helpers_cost_leaves_out_the_threads_that_are_the_nodes_processors(spinning: int) -> None:
    cost, watch = HelperMeter([spinning]), ThreadWatch([spinning], [spinning])
    time.sleep(0.4)
    used = watch.used()
    whole_s, rest_s = cost.used_s(), cost.used_s(used)
    assert whole_s is not None
    assert rest_s is not None
    assert 0 <= rest_s < whole_s / 2
