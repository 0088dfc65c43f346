# SPDX-License-Identifier: Apache-2.0
"""Who used the processors between two snapshots: from recorded texts, and of this host."""

import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.host import busy
from tare.host.busy import TICK_S, Process, Snapshot, line_of, parse_process, process_in, spent_between, used
from tare.host.process_stats import ProcessStats

RECORDED = (
    b"20799 (dd) R 20780 20799 20799 0 -1 4194560 87 0 0 0 112 345 7 3 20 0 1 0 90413 2966528 471 "
    b"18446744073709551615 94 95 96 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)
KERNEL = (
    b"77 (kdamond.0) I 2 0 0 0 -1 2129984 0 0 0 0 0 214 0 0 20 0 1 0 4100 0 0 18446744073709551615 0 0 0 0 0 0 0 "
    b"2147483647 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)


def process(pid: int, cpu_s: float, parent: int = 1, name: str = "work", started: int = 5) -> Process:
    return Process(pid=pid, parent=parent, started=started, name=name, cpu_s=cpu_s, kernel=False)


def spent(before: list[Process], after: list[Process]) -> dict[int, float]:
    useds = used({item.pid: item for item in before}, {item.pid: item for item in after})
    return {item.process.pid: item.cpu_s for item in useds}


def test_a_recorded_process_is_read_with_the_time_of_its_children() -> None:
    result = parse_process(RECORDED)
    assert (result.pid, result.parent, result.name, result.started) == (20799, 20780, "dd", 90413)
    assert result.cpu_s == pytest.approx((112 + 345 + 7 + 3) * TICK_S)
    assert not result.kernel


def test_a_thread_of_the_kernel_is_known_by_its_flag() -> None:
    assert parse_process(KERNEL).kernel


@pytest.mark.parametrize("name", [b"a) R 1 (b", b"with space", b"((", b"\xff\xfe"])
def test_a_name_with_brackets_and_spaces_breaks_nothing(name: bytes) -> None:
    result = parse_process(RECORDED.replace(b"(dd)", b"(" + name + b")"))
    assert (result.parent, result.started) == (20780, 90413)


@pytest.mark.parametrize("text", [b"", b"20799 (dd", b"20799 (dd) R 1 2", RECORDED.replace(b"112", b"x")])
def test_a_broken_text_is_no_process_and_is_left_out_of_a_snapshot(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"whole line|invalid literal"):
        parse_process(text)
    taken = Snapshot(0.0, {1: text, 20799: RECORDED}, b"", ())
    assert process_in(taken, 1) is None
    assert process_in(taken, 20799) == parse_process(RECORDED)


@given(st.binary(max_size=200))
def test_no_text_at_all_is_anything_but_a_process_or_a_value_error(text: bytes) -> None:
    read = process_in(Snapshot(0.0, {1: text}, b"", ()), 1)
    assert read is None or read == parse_process(text)


def test_what_was_used_before_the_first_snapshot_does_not_count() -> None:
    assert spent([process(7, 100.0)], [process(7, 100.4)]) == pytest.approx({7: 0.4})


def test_a_process_that_is_new_counts_whole_even_under_a_number_that_was_in_use() -> None:
    before, after = process(7, 100.0, started=5), process(7, 0.3, started=9)
    assert spent([before], [after]) == pytest.approx({7: 0.3})


def test_short_lived_children_are_found_in_the_time_of_who_collected_them() -> None:
    """A make whose compilers come and go: its own time has theirs."""
    assert spent([process(7, 1.0, name="make")], [process(7, 1.9, name="make")]) == pytest.approx({7: 0.9})


def test_a_child_that_ended_takes_what_it_had_used_before_with_it() -> None:
    make, compiler = process(7, 1.0), process(8, 30.0, parent=7)
    assert spent([make, compiler], [process(7, 31.2)]) == pytest.approx({7: 0.2})


def test_a_child_of_a_child_is_taken_off_whoever_is_left() -> None:
    before = [process(7, 1.0), process(8, 2.0, parent=7), process(9, 30.0, parent=8)]
    assert spent(before, [process(7, 33.5)]) == pytest.approx({7: 0.5})


def test_nobody_has_used_less_than_nothing() -> None:
    """One that nobody collects, as where SIGCHLD is ignored, is lost to the account."""
    before = [process(7, 1.0), process(8, 2.0, parent=7)]
    assert spent(before, [process(7, 1.0)]) == {}


def test_who_used_nothing_is_left_out() -> None:
    before = [process(7, 1.0), process(8, 2.0)]
    assert spent(before, [process(7, 1.0), process(8, 2.5)]) == pytest.approx({8: 0.5})


def test_parents_in_a_circle_end() -> None:
    before = [process(8, 2.0, parent=9), process(9, 2.0, parent=8)]
    assert spent(before, [process(7, 1.0)]) == {7: 1.0}


def stat_text(process: Process) -> bytes:
    """What the kernel writes of it, its time whole ticks of its own."""
    ticks = round(process.cpu_s / TICK_S)
    fields = [b"0"] * 36
    fields[1], fields[11], fields[19] = b"%d" % process.parent, b"%d" % ticks, b"%d" % process.started
    return b"%d (%s) " % (process.pid, process.name.encode()) + b" ".join(fields)


def snapshot_of(tree: Iterable[Process]) -> Snapshot:
    return Snapshot(0.0, {item.pid: stat_text(item) for item in tree}, b"", ())


TREES = st.dictionaries(
    st.integers(1, 6),
    st.builds(process, st.just(0), st.integers(0, 3).map(lambda ticks: ticks * TICK_S), st.integers(0, 6)),
)


@given(TREES, TREES)
def test_who_used_time_is_the_same_though_only_what_changed_is_understood(
    before: dict[int, Process], after: dict[int, Process]
) -> None:
    early, late = ([replace(value, pid=pid) for pid, value in tree.items()] for tree in (before, after))
    all_used = spent(early, late)
    changed = spent_between(snapshot_of(early), snapshot_of(late))
    assert {item.process.pid: item.cpu_s for item in changed} == pytest.approx(all_used)


def test_the_line_of_a_process_leads_over_all_its_parents() -> None:
    tree = [process(1, 0, parent=0), process(7, 0), process(8, 0, parent=7), process(9, 0, parent=8)]
    assert line_of(9, snapshot_of(tree)) == {9, 8, 7, 1, 0}


def test_a_line_in_a_circle_ends() -> None:
    assert line_of(8, snapshot_of([process(8, 0, parent=9), process(9, 0, parent=8)])) == {8, 9}


def test_processes_of_one_name_and_user_are_one_program_named_by_the_busiest() -> None:
    mine = os.getpid()
    programs = busy.programs(
        [
            busy.Used(process(mine, 0, name="stress"), 1.0),
            busy.Used(process(os.getppid(), 0, name="stress"), 0.5),
            busy.Used(process(mine, 0, name="idle"), 0.0),
        ],
        span_s=2.0,
    )
    assert [(program.name, program.pid, program.processors) for program in programs] == [
        ("stress", mine, 0.75)
    ]


def test_a_user_of_a_process_that_is_gone_is_missing() -> None:
    assert busy.user_of(2**22 + 1) is None
    assert busy.user_of(os.getpid()) is not None


def test_steal_is_that_of_the_asked_processors_or_missing() -> None:
    text = b"cpu  1 2 3 4 5 6 7 800 0 0\ncpu0 1 2 3 4 5 6 7 300 0 0\ncpu1 1 2 3 4 5 6 7 500 0 0\n"
    assert busy.steal_s(text, [1]) == pytest.approx(500 * TICK_S)
    assert busy.steal_s(text, [0, 2]) is None
    assert busy.steal_s(b"cpu0 1 2 3\n", [0]) is None
    assert busy.steal_s(b"", [0]) is None


def test_a_quota_that_held_back_in_half_of_the_periods_is_half_of_the_time() -> None:
    before = Snapshot(0.0, {}, b"", (b"nr_periods 10\nnr_throttled 4\nthrottled_time 1\n", b"broken"))
    after = Snapshot(2.0, {}, b"", (b"nr_periods 30\nnr_throttled 14\nthrottled_time 9\n", b"broken"))
    assert busy.throttled_share(before, after) == pytest.approx(0.5)
    assert busy.throttled_share(before, before) == 0.0


def test_a_snapshot_has_this_process_and_leaves_out_what_it_cannot_read(tmp_path: Path) -> None:
    with closing(ProcessStats()) as stats:
        assert process_in(busy.snapshot(stats, busy.quota_files()), os.getpid()) is not None
    (tmp_path / "17").mkdir()
    (tmp_path / "self").mkdir()
    assert busy.snapshot(ProcessStats(str(tmp_path)), ["/nowhere"]).processes == {}


def test_who_used_time_is_listed_in_the_order_of_the_later_look() -> None:
    pids = [40000, 77, 5001, 100]
    early, late = ([process(pid, cpu_s) for pid in pids] for cpu_s in (0.0, TICK_S))
    assert [item.process.pid for item in spent_between(snapshot_of(early), snapshot_of(late))] == pids
