# SPDX-License-Identifier: Apache-2.0
"""Many nodes at the same time, by a few threads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import NodeError
from tare.measure import at_once
from tare.measure.at_once import in_two_steps


@given(count=st.integers(0, 40), threads=st.integers(1, 8))
def test_each_is_begun_before_it_ends_and_the_results_keep_the_order(count: int, threads: int) -> None:
    begun: set[int] = set()

    def end(item: int) -> tuple[int, bool]:
        return item, item in begun

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(at_once, "_FEW_THREADS", threads)
        assert in_two_steps(begun.add, end, range(count)) == [(item, True) for item in range(count)]


def test_a_thread_begins_all_that_it_has_before_it_waits_for_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(at_once, "_FEW_THREADS", 1)
    done: list[str] = []
    in_two_steps(lambda item: done.append(f"begin {item}"), lambda item: done.append(f"end {item}"), [1, 2])
    assert done == ["begin 1", "begin 2", "end 1", "end 2"]


@pytest.mark.parametrize("step", ["begin", "end"])
def test_after_a_failure_all_others_end_before_it_is_raised(step: str) -> None:
    ended: list[int] = []

    def fail(at: str, item: int) -> None:
        if (at, item) == (step, 2):
            raise NodeError("no node 2")

    def end(item: int) -> None:
        fail("end", item)
        ended.append(item)

    with pytest.raises(NodeError, match="no node 2"):
        in_two_steps(lambda item: fail("begin", item), end, [1, 2, 3])
    assert sorted(ended) == [1, 3]
