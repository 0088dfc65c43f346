# SPDX-License-Identifier: Apache-2.0
"""memory: its options and what they become, its curves and ranges, and what is known of its pages."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import InputError, WrongOutput
from tare.records import Coordinate, Workload
from tare.units import MEBIBYTE
from tare.workloads import primary_metrics
from tare.workloads.kind import Output
from tare.workloads.memory import HUGE_PAGES, MEMORY, RANGES, SIZES, MemoryOptions

SIZED = MemoryOptions(
    operations=["copy", "scale", "add", "triad", "chase", "updates"],
    sizes=["32 KiB", "4 MiB"],
    strides=["64 B", "4 KiB"],
    huge_pages=True,
)


def sized() -> Output:
    return recorded("memory", "sized")


def names(options: MemoryOptions) -> list[str]:
    return [piece.name for piece in MEMORY.pieces(options)]


def said(evidence: str, huge_pages: bool | None = True) -> dict[str, str]:
    output = replace(sized(), stderr=f"something else\nslices: {evidence}\n")
    return MEMORY.facts(MemoryOptions(huge_pages=huge_pages), output)


def test_without_operations_it_does_the_usual_two_pieces() -> None:
    assert names(MemoryOptions()) == ["bandwidth", "random"]
    assert MEMORY.ranges(MemoryOptions()) == ()
    assert MEMORY.resident(MemoryOptions(), SHAPE).argv == ("/opt/tare/bin/slices",)


def test_each_operation_and_size_is_a_piece_with_its_place() -> None:
    chosen = MemoryOptions(
        operations=["triad", "chase"], sizes=["64 MiB", "16 KiB"], strides=["4 KiB", "64 B"]
    )
    assert names(chosen) == [
        *("triad:16384", "triad:67108864"),
        *("chase:16384:64", "chase:16384:4096", "chase:67108864:64", "chase:67108864:4096"),
    ]
    first, last = MEMORY.pieces(chosen)[0], MEMORY.pieces(chosen)[-1]
    assert (first.metric, first.coordinates) == ("triad", (Coordinate("size", 16384, "B"),))
    assert last.metric == "pointer chase"
    assert last.coordinates == (Coordinate("size", 64 * MEBIBYTE, "B"), Coordinate("stride", 4096, "B"))


def test_named_pieces_and_operations_go_together() -> None:
    chosen = MemoryOptions(pieces=["random"], operations=["copy"], sizes=["1 MiB"])
    assert names(chosen) == ["random", "copy:1048576"]
    assert MEMORY.pieces(chosen)[0].coordinates == ()


def test_what_is_asked_of_pages_and_nodes_goes_to_the_program() -> None:
    chosen = MemoryOptions(huge_pages=False, numa_node=1, processor_node=0)
    argv = ("--huge-pages", "off", "--numa-node", "1", "--processor-node", "0")
    assert MEMORY.resident(chosen, SHAPE).argv[1:] == argv
    assert MEMORY.job(chosen, SHAPE).argv[1 : 1 + len(argv)] == argv
    assert MEMORY.resident(MemoryOptions(huge_pages=True), SHAPE).argv[1:] == ("--huge-pages", "on")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sizes": ["1 MiB"]}, "sizes and strides belong to operations"),
        ({"operations": ["copy"], "strides": ["64 B"]}, "strides belong to the operation chase"),
        ({"operations": ["copy", "copy"]}, "one of the operations stands there twice"),
        ({"operations": ["copy"], "sizes": ["1 MiB", "1024 KiB"]}, "one of the sizes stands there twice"),
        ({"operations": ["copy"], "sizes": ["1 mile"]}, "is not a size"),
        ({"operations": ["copy"], "sizes": ["64 B"]}, "is not from 1 KiB"),
        ({"operations": ["updates"], "sizes": ["96 MiB"]}, "a power of two"),
        ({"operations": ["chase"], "sizes": ["4 KiB"], "strides": ["4 KiB"]}, "at most half"),
        ({"operations": ["chase"], "strides": ["8 B"]}, "a multiple of 16 B"),
        ({"operations": ["sort"]}, "Input should be 'copy'"),
        ({"numa_node": -1}, "greater than or equal to 0"),
        ({"huge_pages": "on"}, "valid boolean"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        MemoryOptions.model_validate(options)


def test_memory_for_all_pieces_is_checked_before_the_start() -> None:
    chosen = MemoryOptions(operations=["copy", "triad"], sizes=["128 MiB", "256 MiB"])
    assert MEMORY.job(chosen, SHAPE).argv
    with pytest.raises(InputError, match="need 768 MiB together, and an instance has 512 MiB"):
        MEMORY.job(chosen, replace(SHAPE, memory_byte=512 * MEBIBYTE))


def test_the_usual_sizes_give_a_figure_for_each_cache_and_for_memory() -> None:
    ranges = MEMORY.ranges(MemoryOptions(operations=["triad"]))
    assert [each.name for each in ranges] == [f"triad {words}" for words, _, _ in RANGES]
    assert {each.metric for each in ranges} == {"triad"}
    sizes = [piece.coordinates[0].value for piece in MEMORY.pieces(MemoryOptions(operations=["triad"]))]
    assert len(sizes) == len(SIZES)
    for size in sizes:
        within = [each for each in ranges if _holds(size, *each.bounds["size"])]
        assert len(within) == 1


def _holds(size: float, least: float | None, most: float | None) -> bool:
    return (least is None or least <= size) and (most is None or size <= most)


@given(st.lists(st.integers(10, 36), min_size=1, max_size=5, unique=True))
def test_whatever_the_sizes_something_is_judged(powers: list[int]) -> None:
    sizes = [f"{2**power} B" for power in powers]
    options: dict[str, str | int | float | bool | list[str]] = {
        "operations": ["copy", "chase"],
        "sizes": sizes,
    }
    judged = primary_metrics(Workload(name="memory", kind="memory", options=options))
    assert {name.split(" of ")[0] for name in judged} == {"copy", "pointer chase"}


def test_a_recorded_run_has_a_time_at_every_place() -> None:
    samples = MEMORY.samples(SIZED, sized())
    places = {(sample.name, *(each.value for each in sample.coordinates)) for sample in samples}
    assert len(places) == len(samples) == 5 * 2 + 2 * 2
    assert ("pointer chase", 4 * MEBIBYTE, 4096) in places
    assert all(1e-10 < sample.value < 1e-3 for sample in samples)


def test_a_piece_of_another_size_was_not_asked_for() -> None:
    altered = replace(sized(), stdout=sized().stdout.replace("triad:32768", "triad:32769", 1))
    with pytest.raises(WrongOutput, match="was not asked for"):
        MEMORY.samples(SIZED, altered)


def test_the_facts_say_what_was_asked_and_what_was_had() -> None:
    facts = MEMORY.facts(SIZED, sized())
    assert facts[HUGE_PAGES] == "all"
    assert facts["huge pages of the pieces"].startswith("asked for; 28 MiB of ")
    assert facts["NUMA nodes of the pieces"] == "0: 28.2 MiB"
    assert facts["check of chase:32768:64"] == "3"


@pytest.mark.parametrize(
    ("evidence", "asked", "share", "words"),
    [
        ("memory 4194304 huge 0 nodes 0:4194304", True, "none", "asked for; 0 B of 4 MiB"),
        ("memory 4194304 huge 2097152 nodes -", None, "part", "left to the kernel; 2 MiB of 4 MiB"),
        ("memory 4194304 huge 6291456 nodes -", False, "all", "asked for none; 4 MiB of 4 MiB"),
        ("memory 4194304 huge - nodes -", True, "not known", "asked for; not known"),
    ],
)
def test_huge_pages_that_were_not_had_are_said(
    evidence: str, asked: bool | None, share: str, words: str
) -> None:
    facts = said(evidence, asked)
    assert (facts[HUGE_PAGES], facts["huge pages of the pieces"]) == (share, words)
    assert ("NUMA nodes of the pieces" in facts) == ("0:" in evidence)


@pytest.mark.parametrize("evidence", ["", "memory x huge 0 nodes -", "memory 4096 huge 0 nodes 0:"])
def test_a_garbled_line_of_evidence_is_none(evidence: str) -> None:
    assert HUGE_PAGES not in said(evidence)
