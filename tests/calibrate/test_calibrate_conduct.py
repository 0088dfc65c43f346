# SPDX-License-Identifier: Apache-2.0
"""A whole calibration in small, with fakes: every phase runs, is judged, is repeated once, and can be continued."""

from dataclasses import replace
from pathlib import Path

import pytest

from tare import __version__
from tare.calibrate.bench import PhaseSetting, Run, campaign
from tare.calibrate.conduct import CalibrationRequest, Conductor, iterations_for
from tare.calibrate.evidence import Evidence
from tare.calibrate.gates import Named
from tare.calibrate.phases.phase import Phase
from tare.errors import HostError
from tare.host.facts import host_facts, host_identity
from tare.journal.reader import read_journal
from tare.records import Gate, Outcome, Passing, Status
from tests.calibrate.fake_bench import FAKE_BENCH, TINY, Heard
from tests.calibrate.outcomes import outcome

pytestmark = pytest.mark.usefixtures("fake_image")


@pytest.fixture
def asked(tmp_path: Path) -> CalibrationRequest:
    return CalibrationRequest(size=TINY, folder=tmp_path / "calibration", bench=FAKE_BENCH)


@pytest.mark.timeout(180)
def test_a_whole_calibration_runs_and_judges_every_phase(asked: CalibrationRequest) -> None:
    heard = Heard()
    calibration = Conductor(asked, heard).run()
    assert calibration.complete
    assert calibration.gates == tuple(heard.gates)
    assert {gate.phase for gate in calibration.gates} == {f"P{number}" for number in range(9)}
    skipped = {gate.phase for gate in calibration.gates if gate.passing is Passing.NOT_RUN}
    assert skipped == {"P1", "P3", "P4", "P5", "P6", "P8"}, (
        "too few blocks for some, and fakes count no CPU time"
    )
    assert all(gate.seen for gate in calibration.gates)
    assert calibration.gate("P7", "step") is not None
    assert calibration.tare_version == __version__
    assert calibration.host_identity == host_identity(host_facts())
    assert len(read_journal(asked.folder / "truth" / "journal").outcomes) == 6 * TINY.truth_blocks


def _counting_phase(judged: list[int], passes_with: int) -> Phase:
    """Passes when there are so many outcomes."""

    def runs(setting: PhaseSetting) -> tuple[Run, ...]:
        return (Run(name="few", campaign=campaign("few", setting.bench.work(1), 2)),)

    def judge(evidence: Evidence) -> tuple[Gate, ...]:
        count = len(evidence.outcomes("few"))
        judged.append(count)
        return (Named("P1", "count", "there are enough").passed(count >= passes_with, f"{count} runs"),)

    return Phase(name="P1", title="a few", runs=runs, judge=judge)


@pytest.mark.parametrize(("passes_with", "rounds"), [(4, [4]), (8, [4, 8]), (99, [4, 8])])
def test_what_fails_is_run_once_more_and_judged_together(
    asked: CalibrationRequest, passes_with: int, rounds: list[int]
) -> None:
    judged: list[int] = []
    heard = Heard()
    calibration = Conductor(replace(asked, stages=((_counting_phase(judged, passes_with),),)), heard).run()
    assert judged == rounds
    assert calibration.repeated == (() if len(rounds) == 1 else ("P1",))
    assert calibration.passed is (passes_with <= rounds[-1])
    assert heard.begun == [("P1", False), ("P1", True)][: len(rounds)]


def test_a_broken_estimator_is_judged_on_what_was_run_and_nothing_is_repeated(
    asked: CalibrationRequest,
) -> None:
    judged: list[int] = []
    broken = replace(asked, estimator="trimmed-t", stages=((_counting_phase(judged, 99),),))
    assert not Conductor(broken, Heard()).run().passed
    assert judged == [4]


def test_what_was_run_is_not_run_again(asked: CalibrationRequest) -> None:
    small = replace(asked, stages=((_counting_phase([], 4),),))
    Conductor(small, Heard()).run()
    heard = Heard()
    assert Conductor(small, heard).run().passed
    assert heard.outcomes == []


def test_an_interrupted_calibration_tells_what_it_saw_and_goes_on_where_it_was(
    asked: CalibrationRequest,
) -> None:
    class Impatient(Heard):
        def ended(self, outcome: Outcome) -> None:
            super().ended(outcome)
            if len(self.outcomes) == 3:
                raise KeyboardInterrupt

    small = replace(asked, stages=((_counting_phase([], 4),),))
    conductor = Conductor(small, Impatient())
    with pytest.raises(KeyboardInterrupt):
        conductor.run()
    assert not conductor.found().complete
    assert not conductor.found().passed
    heard = Heard()
    assert Conductor(small, heard).run().passed
    assert len(heard.outcomes) == 1


def test_the_length_of_a_run_follows_from_the_first_ones() -> None:
    first = replace(outcome("native", 0, wall_s=0.05), cpu_s=0.04)
    assert iterations_for(0.1, [first] * 3) == 50_000_000
    failed = replace(first, status=Status.FAILED, reason="no way in")
    with pytest.raises(HostError, match="no way in"):
        iterations_for(0.1, [failed])
