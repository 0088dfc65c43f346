# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analyze.verdict_example import verdict_of

from tare.analyze import answers
from tare.analyze.answers import joined, primary_names
from tare.records import Cell, Estimate, Verdict, Withheld, Word

MINUS = "\N{MINUS SIGN}"
ANY = verdict_of([0.0] * 10)


def said(  # noqa: PLR0913
    metric: str,
    word: Word,
    low: float | None = None,
    high: float | None = None,
    *,
    within: float | None = None,
    withheld: bool = False,
    environment: str = "docker",
    workload: str = "work",
    layout: str = "1c2p1i",
) -> Verdict:
    """A verdict of which only what an answer says of it matters."""
    middle = 0.0 if low is None or high is None else (low + high) / 2
    shown = Estimate(point=middle, low=low, high=high, level=0.95, n=16)
    summary = replace(
        ANY.overhead.summary,
        cell=Cell(workload=workload, layout=layout),
        environment=environment,
        metric=metric,
    )
    return replace(
        ANY,
        overhead=replace(ANY.overhead, summary=summary, typical=shown, mean=shown, slow=None),
        word=word,
        within=within,
        at_most=high if word is Word.BOUNDED else None,
        withheld=Withheld.BUSY if withheld else None,
        claim=f"{metric} as it is said alone (n = 16)",
    )


def sentences(*verdicts: Verdict) -> list[str]:
    return [answer.sentence for answer in answers(verdicts)]


QUICK = (
    said("compute", Word.WITHIN, -0.002, 0.003, within=0.01),
    said("memory bandwidth", Word.WITHIN, -0.01, 0.012, within=0.02),
    said("random access", Word.UNDECIDED, -0.03, 0.14),
    said("system calls", Word.WITHIN, -0.001, 0.002, within=0.01),
    said("process start", Word.BOUNDED, -0.02, 0.07),
    said("message latency", Word.FASTER, -0.05, -0.03),
    said("message bandwidth", Word.SLOWER, 0.31, 0.38),
    said("start", Word.SLOWER, 0.04, 0.05),
)


def test_a_sentence_begins_with_the_losses_and_ends_with_what_is_open() -> None:
    (sentence,) = sentences(*QUICK)
    assert sentence == (
        "docker: message bandwidth 31 to 38 % slower; start 4.0 to 5.0 % slower; "
        "compute and system calls within ±1 % of native; memory bandwidth within ±2 % of native; "
        "message latency 3.0 to 5.0 % faster; process start at most 7 % slower; "
        f"undecided: random access ({MINUS}3 to +14 %)"
    )


def test_what_holds_for_the_typical_run_alone_is_said_so_and_not_with_what_holds_for_the_mean() -> None:
    verdicts = [replace(each, overhead=replace(each.overhead, slow=ANY.overhead.slow)) for each in QUICK[:2]]
    (sentence,) = sentences(*verdicts, QUICK[3])
    assert sentence == (
        "docker: compute typically within ±1 % of native; system calls within ±1 % of native; "
        "memory bandwidth typically within ±2 % of native"
    )


@given(st.permutations(QUICK))
def test_the_parts_do_not_depend_on_the_order_of_the_verdicts(verdicts: list[Verdict]) -> None:
    (answer,), (known,) = answers(verdicts), answers(QUICK)
    assert [part.word for part in answer.parts] == [part.word for part in known.parts]
    assert [set(part.metrics) for part in answer.parts] == [set(part.metrics) for part in known.parts]


@given(st.lists(st.sampled_from(QUICK), min_size=1, unique_by=lambda each: each.overhead.summary.metric))
def test_every_metric_is_named_exactly_once(verdicts: list[Verdict]) -> None:
    (answer,) = answers(verdicts)
    named = [name for part in answer.parts for name in part.metrics]
    assert sorted(named) == sorted(each.overhead.summary.metric for each in verdicts)


def test_what_is_undecided_is_told_with_its_interval_or_that_there_is_none() -> None:
    open_claims = (said("a", Word.UNDECIDED, -0.03, 0.14), said("b", Word.UNDECIDED))
    assert sentences(*open_claims) == [
        f"docker: undecided: a ({MINUS}3 to +14 %) and b (no interval, n = 16)"
    ]


def test_what_is_withheld_comes_last_and_with_what_was_measured() -> None:
    busy = (said(name, Word.UNDECIDED, 0.01, 0.02, withheld=True) for name in ("a", "b"))
    calm = said("c", Word.WITHIN, 0.0, 0.0, within=0.05)
    (sentence,) = sentences(*busy, calm)
    measured = "a (measured +1.0 to +2.0 %) and b (measured +1.0 to +2.0 %)"
    assert sentence == f"docker: c within ±5 % of native; too busy to tell: {measured}"


def test_a_cost_of_ten_times_and_more_is_told_in_times() -> None:
    verdicts = (said("a", Word.SLOWER, 9.0, 31.4), said("b", Word.SLOWER, 0.05, 0.05))
    assert sentences(*verdicts) == ["docker: a at 10 to 33 times native's time; b 5.00 % slower"]


def test_a_single_primary_metric_keeps_its_verdicts_sentence() -> None:
    verdict = verdict_of([0.05 + 0.001 * (block % 3) for block in range(10)])
    (answer,) = answers([verdict])
    assert answer.sentence == verdict.sentence
    assert answer.parts[0].word is Word.SLOWER


def test_a_single_primary_metric_in_two_layouts_is_told_of_each() -> None:
    verdicts = (said("wall_s", Word.SLOWER, 0.1, 0.2, layout=layout) for layout in ("1c1p1i", "2c1p1i"))
    assert sentences(*verdicts) == [
        "docker on 1c1p1i: wall_s as it is said alone (n = 16)",
        "docker on 2c1p1i: wall_s as it is said alone (n = 16)",
    ]


def test_what_an_environment_has_no_result_of_is_named() -> None:
    verdicts = (
        said("compute", Word.WITHIN, 0, 0, within=0.01),
        said("latency", Word.WITHIN, 0, 0, within=0.01),
        said("compute", Word.WITHIN, 0, 0, within=0.01, environment="lxc"),
    )
    assert sentences(*verdicts) == [
        "docker: compute and latency within ±1 % of native",
        "lxc: compute within ±1 % of native; no result: latency",
    ]
    assert answers(verdicts)[1].parts[-1].word is None


def test_only_primary_metrics_are_told() -> None:
    other = said("cpu_s", Word.SLOWER, 0.1, 0.2)
    summary = replace(other.overhead.summary, primary=False)
    exploratory = replace(other, overhead=replace(other.overhead, summary=summary))
    assert sentences(exploratory) == []
    assert sentences(*QUICK, exploratory) == sentences(*QUICK)


@pytest.mark.parametrize(
    ("metrics", "names"),
    [
        ((("work", "compute"),), ["compute"]),
        ((("sort", "wall_s"), ("solver", "wall_s")), ["sort", "solver"]),
        ((("ep", "operation_per_s"), ("cg", "operation_per_s")), ["ep", "cg"]),
        ((("a", "x"), ("a", "y"), ("b", "x")), ["a x", "y", "b"]),
        ((("sort", "wall_s"), ("sort", "memory")), ["sort wall_s", "memory"]),
    ],
)
def test_a_metric_is_called_by_its_workload_where_its_own_name_says_too_little(
    metrics: tuple[tuple[str, str], ...], names: list[str]
) -> None:
    verdicts = [said(metric, Word.WITHIN, workload=workload) for workload, metric in metrics]
    assert list(primary_names(each.overhead.summary for each in verdicts).values()) == names


def test_names_are_joined_as_in_english() -> None:
    assert joined(["a"]) == "a"
    assert joined(["a", "b"]) == "a and b"
    assert joined(["a", "b", "c"]) == "a, b and c"
