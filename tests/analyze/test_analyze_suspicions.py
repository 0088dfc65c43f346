# SPDX-License-Identifier: Apache-2.0
"""What speaks for a known cause, and what is said of each claim: from signals, traits and counted calls to a cure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from tests.attribution_example import (
    BACKGROUND,
    ENVIRONMENT,
    MARGIN,
    Kind,
    Plant,
    planted_outcomes,
    seconds,
)

from tare.analyze import attributions, claims, explanations, scenes, suspicions, verdicts
from tare.causes import KNOWN_CAUSES
from tare.records import (
    NATIVE,
    Attributed,
    CallCounts,
    Cell,
    Change,
    Estimate,
    Explanation,
    Intervention,
    InterventionVerdict,
    Outcome,
    Role,
    Shift,
    SignalEvidence,
    Strength,
    Suspicion,
    TracedCalls,
    Trait,
    Verdict,
)
from tare.treat import signal_evidence, summaries, traits

CELL = Cell(workload="work", layout="1c1p1i")
SLOWER = Plant(slowdown=lambda random: 0.3 * random.lognormal(0, 0.05))
FASTER = Plant(slowdown=lambda random: -0.3 * random.lognormal(0, 0.05))
FILTER = Trait(
    cell=CELL, environment=ENVIRONMENT, label="system call filter", value="filter (1)", native="none"
)
REFUSED = Trait(
    cell=CELL,
    environment=ENVIRONMENT,
    label="mpi single copy",
    value="natural, refused here",
    native="natural",
)
SMALL_SHM = Trait(cell=CELL, environment=ENVIRONMENT, label="size of shm", value="1048576 byte", native=None)
NO_CALLS = TracedCalls(counts={}, untraced={})


MAPPINGS = Trait(
    cell=CELL, environment=ENVIRONMENT, label="mappings of a process", value="93", native="up to 64"
)


def calls(here: CallCounts, natively: CallCounts) -> TracedCalls:
    return TracedCalls(counts={CELL: {ENVIRONMENT: here, NATIVE: natively}}, untraced={})


def counted(made: Mapping[str, int], failed: Mapping[str, int] | None = None) -> CallCounts:
    return CallCounts(made=made, failed=failed or {}, traced_s=1.0)


def suspected(
    plant: Plant, own_traits: Sequence[Trait] = (), traced: TracedCalls = NO_CALLS
) -> tuple[Suspicion, ...]:
    outcomes = planted_outcomes(plant)
    judged, evidence, claimed = _judged(outcomes)
    return suspicions(scenes(claimed, attributions(evidence, judged), evidence, own_traits, traced))


def _judged(
    outcomes: Sequence[Outcome],
) -> tuple[tuple[Verdict, ...], tuple[SignalEvidence, ...], tuple[Verdict, ...]]:
    known = summaries(outcomes, {"work": ("wall_s",)})
    judged = verdicts(known, MARGIN)
    return judged, signal_evidence(outcomes, known), claims(judged)


def explained(
    plant: Plant, own: Sequence[Suspicion], tried: Sequence[InterventionVerdict] = ()
) -> Explanation:
    judged, _, _ = _judged(planted_outcomes(plant))
    (explanation,) = explanations(claims(judged), own, tried, {ENVIRONMENT: "docker"})
    return explanation


def tried(cause: str | None, knob: str, role: Role, left: float = 0.0, n: int = 10) -> InterventionVerdict:
    turned = Change(
        knob=knob, change=f"with {knob}", subject=f"the {knob}", changed=f"docker-{knob}", cause=cause
    )
    overhead = Estimate(point=0.3, low=0.29, high=0.31, level=0.95, n=10)
    return InterventionVerdict(
        intervention=Intervention(
            parent="", parent_campaign="one", parent_session="0a", environment=ENVIRONMENT, changes=(turned,)
        ),
        turned=turned,
        cell=CELL,
        metric="wall_s",
        before=overhead,
        after=replace(overhead, point=left, low=left - 0.01, high=left + 0.01, n=n),
        change=overhead,
        shift=Shift.FALLS,
        role=role,
        chance=0.001,
        sentence="",
    )


def test_a_signal_that_accounts_for_the_loss_is_strong_evidence() -> None:
    plant = replace(SLOWER, signals={**BACKGROUND, "throttled_s": seconds(lambda run: run.lost_s)})
    first, *_ = suspected(plant)
    assert (first.cause, first.strength) == ("cpu-quota", Strength.STRONG)
    assert "of the time lost" in first.grounds


def test_without_a_claim_nothing_is_suspected() -> None:
    plant = Plant(signals={**BACKGROUND, "throttled_s": seconds(lambda run: run.lost_s)})
    assert suspected(plant, [FILTER, REFUSED]) == ()


def test_a_mechanism_seen_at_work_comes_before_one_that_could_be() -> None:
    names = [(suspicion.cause, suspicion.strength) for suspicion in suspected(SLOWER, [FILTER, REFUSED])]
    assert names[0] == ("refused-single-copy", Strength.STRONG)
    assert ("system-call-filter", Strength.POSSIBLE) in names


def test_a_gain_has_only_causes_that_can_speed_up() -> None:
    names = {suspicion.cause for suspicion in suspected(FASTER, [FILTER, REFUSED])}
    assert names == {"refused-single-copy"}


def test_a_refused_call_is_evidence_and_so_is_it_not_where_native_fails_alike() -> None:
    here = counted({"process_vm_readv": 60}, {"process_vm_readv": 60})
    first, *_ = suspected(SLOWER, traced=calls(here, counted({"process_vm_readv": 60})))
    assert (first.cause, first.strength) == ("refused-single-copy", Strength.STRONG)
    assert "process_vm_readv is refused (60 of 60 calls" in first.grounds
    assert suspected(SLOWER, traced=calls(here, here)) == ()


@pytest.mark.parametrize(
    ("own", "strength"),
    [([SMALL_SHM], Strength.STRONG), ([], Strength.POSSIBLE)],
    ids=["small", "as natively"],
)
def test_refused_space_is_strong_evidence_where_there_is_less_of_it(
    own: list[Trait], strength: Strength
) -> None:
    here = counted({"fallocate": 6}, {"fallocate": 6})
    first, *_ = suspected(SLOWER, own, traced=calls(here, counted({"fallocate": 6})))
    assert (first.cause, first.strength) == ("small-shm", strength)


def test_many_more_calls_than_natively_are_evidence() -> None:
    first, *_ = suspected(SLOWER, traced=calls(counted({"fsync": 500}), counted({"fsync": 1})))
    assert (first.cause, first.strength) == ("synchronous-writes", Strength.SEEN)


@pytest.mark.parametrize(
    ("made", "strength"),
    [(2000, Strength.STRONG), (400_000, Strength.SEEN), (2, Strength.POSSIBLE)],
    ids=["many calls", "so many that tracing hides the rest", "few calls"],
)
def test_a_dearer_call_counts_only_for_a_program_that_makes_many(made: int, strength: Strength) -> None:
    cost = Kind(drawn=lambda run: 2e-7 if run.is_native else 9e-5, unit="s")
    plant = replace(SLOWER, signals={**BACKGROUND, "system_call_cost_s": cost})
    counts = counted({"getppid": made})
    own = suspected(plant, [FILTER], calls(counts, counts))
    strengths = [suspicion.strength for suspicion in own if suspicion.cause == "system-call-filter"]
    assert strengths == [strength]


@pytest.mark.parametrize(
    ("readings", "strength"),
    [(None, Strength.POSSIBLE), (1_000_000, Strength.SEEN), (100, None)],
    ids=["not traced", "many readings", "few readings"],
)
def test_a_native_run_does_not_show_how_often_the_clock_is_read(
    readings: int | None, strength: Strength | None
) -> None:
    cost = Kind(drawn=lambda run: 2e-8 if run.is_native else 3e-7, unit="s")
    plant = replace(SLOWER, signals={**BACKGROUND, "clock_read_cost_s": cost})
    natively = {NATIVE: counted({"write": 10})}
    here = {} if readings is None else {ENVIRONMENT: counted({"clock_gettime": readings})}
    traced = TracedCalls(counts={CELL: {**natively, **here}}, untraced={})
    own = [suspicion for suspicion in suspected(plant, traced=traced) if suspicion.cause == "slow-clock"]
    assert [suspicion.strength for suspicion in own][:1] == ([strength] if strength else [])


def test_a_suspected_cause_has_its_cure_in_the_words_of_the_technology() -> None:
    explanation = explained(SLOWER, suspected(SLOWER, [REFUSED]))
    assert (explanation.standing, explanation.cause) == (Attributed.CANDIDATE, "refused-single-copy")
    assert explanation.cure.startswith("docker run --cap-add SYS_PTRACE (in a Slurm job: export OMPI_MCA")


def test_a_gain_says_how_native_has_it_too() -> None:
    explanation = explained(FASTER, suspected(FASTER, [REFUSED]))
    assert explanation.is_gain
    assert "OMPI_MCA_btl_vader_single_copy_mechanism=none" in explanation.cure


def test_what_a_knob_confirmed_is_the_cause_whatever_else_was_believed() -> None:
    verdicts_ = [
        tried("refused-single-copy", "sys-ptrace", Role.NONE),
        tried("system-call-filter", "seccomp-off", Role.CAUSE),
    ]
    explanation = explained(SLOWER, suspected(SLOWER, [REFUSED]), verdicts_)
    assert (explanation.standing, explanation.cause, explanation.knob) == (
        Attributed.CAUSE,
        "system-call-filter",
        "seccomp-off",
    )
    assert explanation.tried == ("the sys-ptrace",)
    assert (
        explanation.before and explanation.before.point,
        explanation.after and explanation.after.point,
    ) == (0.3, 0.0)


def test_a_cause_that_its_knob_has_cleared_is_no_longer_suspected() -> None:
    cleared = [tried("refused-single-copy", "sys-ptrace", Role.NONE)]
    explanation = explained(SLOWER, suspected(SLOWER, [REFUSED]), cleared)
    assert (explanation.standing, explanation.tried) == (Attributed.UNEXPLAINED, ("the sys-ptrace",))


def test_a_knob_clears_every_cause_that_it_tests_also_when_it_is_turned_by_hand() -> None:
    cleared = [tried(None, "seccomp-off", Role.NONE)]
    assert explained(SLOWER, suspected(SLOWER, [REFUSED]), cleared).standing is Attributed.UNEXPLAINED


@pytest.mark.parametrize("role", [Role.UNDECIDED, Role.ABSENT])
def test_what_did_not_decide_leaves_the_suspicion(role: Role) -> None:
    explanation = explained(
        SLOWER, suspected(SLOWER, [REFUSED]), [tried("refused-single-copy", "sys-ptrace", role)]
    )
    assert (explanation.standing, explanation.tried) == (Attributed.CANDIDATE, ())
    assert explanation.undecided == (("the sys-ptrace",) if role is Role.UNDECIDED else ())
    assert explanation.is_absent is (role is Role.ABSENT)


def test_of_two_causes_the_one_that_leaves_less_is_named_first() -> None:
    both = [
        tried("refused-single-copy", "sys-ptrace", Role.CAUSE, left=0.2),
        tried("cpu-quota", "quota-off", Role.CAUSE, left=0.0),
    ]
    explanation = explained(SLOWER, (), both)
    assert (explanation.cause, explanation.further) == ("cpu-quota", ("the sys-ptrace",))
    assert explanation.cure.startswith("docker run without --cpus")


def test_of_two_that_leave_as_much_the_one_with_more_evidence_is_named() -> None:
    both = [
        tried("refused-single-copy", "sys-ptrace", Role.CAUSE, left=0.01),
        tried("system-call-filter", "seccomp-off", Role.CAUSE, left=0.0),
    ]
    assert explained(SLOWER, (), both).cause == "refused-single-copy"


def test_the_cure_is_of_the_knob_that_confirmed_it() -> None:
    explanation = explained(SLOWER, (), [tried("refused-single-copy", "seccomp-off", Role.CAUSE)])
    assert explanation.cure.startswith("docker run --security-opt seccomp=unconfined")


def test_a_longer_intervention_on_the_same_knob_counts() -> None:
    again = [
        tried("system-call-filter", "seccomp-off", Role.UNDECIDED),
        tried("system-call-filter", "seccomp-off", Role.CAUSE, n=20),
    ]
    assert explained(SLOWER, (), again).standing is Attributed.CAUSE


def test_the_calls_of_many_processes_at_once_are_not_added_up() -> None:
    cost = Kind(drawn=lambda run: 2e-7 if run.is_native else 1e-4, unit="s")
    counts = counted({"poll": 2000})
    strengths = []
    for threads in (1, 8):
        plant = replace(SLOWER, signals={**BACKGROUND, "system_call_cost_s": cost}, threads=threads)
        cell = replace(CELL, layout=f"1c{threads}p1i")
        traced = TracedCalls(counts={cell: {ENVIRONMENT: counts, NATIVE: counts}}, untraced={})
        own = suspected(plant, [replace(FILTER, cell=cell)], traced)
        strengths.append(
            next(suspicion.strength for suspicion in own if suspicion.cause == "system-call-filter")
        )
    assert strengths[0] > strengths[1]


def test_without_a_filter_a_dearer_call_is_no_evidence_of_one() -> None:
    cost = Kind(drawn=lambda run: 2e-7 if run.is_native else 9e-6, unit="s")
    counts = counted({"getppid": 40_000})
    plant = replace(SLOWER, signals={**BACKGROUND, "system_call_cost_s": cost})
    assert "system-call-filter" not in {
        suspicion.cause for suspicion in suspected(plant, traced=calls(counts, counts))
    }


def test_a_knob_turned_by_hand_confirms_the_cause_that_it_tests() -> None:
    explanation = explained(SLOWER, (), [tried(None, "quota-off", Role.CAUSE)])
    assert (explanation.cause, explanation.title) == ("cpu-quota", KNOWN_CAUSES["cpu-quota"].title)
    other = explained(SLOWER, (), [tried(None, "slowdown-0", Role.CAUSE)])
    assert (other.cause, other.title, other.cure) == ("slowdown-0", "the slowdown-0", "")


def test_only_traits_that_native_has_not_are_kept() -> None:
    outcomes = [
        replace(
            outcome, facts={"clock source": "tsc" if outcome.trial.environment.name == NATIVE else "hpet"}
        )
        for outcome in planted_outcomes(SLOWER)
    ]
    (trait,) = traits(outcomes, {"clock source"})
    assert (trait.environment, trait.value, trait.native) == (ENVIRONMENT, "hpet", "tsc")
    assert traits(outcomes, {"another"}) == ()


def test_mappings_that_native_has_not_are_possible_where_it_is_slower_and_nothing_where_it_is_faster() -> (
    None
):
    (own,) = suspected(SLOWER, [MAPPINGS])
    assert (own.cause, own.strength) == ("extra-mappings", Strength.POSSIBLE)
    assert own.grounds == "mappings of a process: 93, natively up to 64"
    assert suspected(FASTER, [MAPPINGS]) == ()
