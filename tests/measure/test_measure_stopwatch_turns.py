# SPDX-License-Identifier: Apache-2.0
"""A stopwatch that gives turns: an answer for each, or an error with words, in time."""

import json
import select
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.measure.test_measure_stopwatch import DONE, SAY_READY, refusal, short_ends, speaking

from tare.errors import EndedInTurn
from tare.measure.stopwatch import Command, Stopwatch, wait_all

__all__ = ["short_ends"]

TOOK = {"wall_ns": 5, "begin_ns": 7, "end_ns": 12, "line": "slice 5 4 - 1f"}


def take_a_turn(stopwatch: Stopwatch) -> None:
    stopwatch.wait_ready(1.0)
    stopwatch.turn("compute 3")
    stopwatch.await_took(0.3)


def polled(stopwatch: Stopwatch) -> Mapping[str, Any] | None:
    """The answer once it is whole, asked for whenever something is there to be read."""
    while (answer := stopwatch.took()) is None and select.select([stopwatch], [], [], 5.0)[0]:
        pass
    return answer


class TestTurns:
    def test_a_turn_is_a_line_and_its_answer_is_taken(self) -> None:
        script = f"{SAY_READY} read -r word; test \"$word\" = 'TURN compute 3' && echo 'TOOK {json.dumps(TOOK)}'; cat"
        with speaking(script) as stopwatch:
            stopwatch.wait_ready(1.0)
            stopwatch.turn("compute 3")
            assert stopwatch.await_took(1.0) == TOOK

    def test_an_answer_is_taken_without_waiting_once_it_is_whole(self) -> None:
        words = json.dumps(TOOK)
        with speaking(
            f"{SAY_READY} printf 'TOOK {words[:9]}'; read -r word; echo '{words[9:]}'; cat"
        ) as stopwatch:
            stopwatch.wait_ready(1.0)
            assert stopwatch.took() is None
            stopwatch.turn("compute 3")
            assert polled(stopwatch) == TOOK

    @pytest.mark.parametrize("at_once", [True, False])
    def test_a_program_that_ends_in_its_turn_is_an_error_that_knows_its_end(self, at_once: bool) -> None:
        with speaking(f"{SAY_READY} echo 'DONE {json.dumps({**DONE, 'exit_code': 3})}'; cat") as stopwatch:
            stopwatch.wait_ready(1.0)
            with pytest.raises(EndedInTurn, match="ended in the middle of its turns: exit code 3") as caught:
                polled(stopwatch) if at_once else stopwatch.await_took(1.0)
        assert caught.value.done["exit_code"] == 3

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            ({"signal": 9, "exit_code": None}, "signal 9"),
            ({"timed_out": True, "signal": 15}, "its time limit was over"),
            ({"error": "cannot execute it"}, "cannot execute it"),
        ],
    )
    def test_how_it_ended_is_said(self, changed: dict[str, object], said: str) -> None:
        error = refusal(f"{SAY_READY} echo 'DONE {json.dumps({**DONE, **changed})}'; cat", take_a_turn)
        assert f"turns: {said};" in str(error)

    def test_an_answer_and_the_end_in_a_single_piece_are_both_taken(self) -> None:
        lines = f"TOOK {json.dumps(TOOK)}\\nDONE {json.dumps(DONE)}\\n"
        with speaking(f"{SAY_READY} read -r word; printf '{lines}'; cat") as stopwatch:
            stopwatch.wait_ready(1.0)
            stopwatch.turn("compute 3")
            assert stopwatch.await_took(1.0) == TOOK
            assert stopwatch.has_said()
            assert wait_all([stopwatch], 1.0) == [DONE]

    @pytest.mark.parametrize(
        "changed",
        [{"wall_ns": 6}, {"wall_ns": -5, "end_ns": 2}, {"begin_ns": "7"}, {"line": 3}, {"end_ns": None}],
    )
    def test_an_answer_that_makes_no_sense_is_refused(self, changed: dict[str, object]) -> None:
        error = refusal(f"{SAY_READY} echo 'TOOK {json.dumps({**TOOK, **changed})}'; cat", take_a_turn)
        assert "makes no sense" in str(error)

    @pytest.mark.parametrize("missing", TOOK)
    def test_an_answer_without_a_field_is_refused(self, missing: str) -> None:
        fields = {name: TOOK[name] for name in TOOK if name != missing}
        assert "makes no sense" in str(
            refusal(f"{SAY_READY} echo 'TOOK {json.dumps(fields)}'; cat", take_a_turn)
        )

    def test_no_answer_is_an_error_within_the_limit(self) -> None:
        assert "did not say TOOK in time" in str(refusal(f"{SAY_READY} sleep 60", take_a_turn))

    def test_a_real_program_takes_its_turns_and_ends_with_them(self, programs: Path, tmp_path: Path) -> None:
        argv = ("sh", "-c", 'while read line; do echo "did $line"; done')
        command = Command(argv=argv, directory=str(tmp_path), variables={}, limit_s=10.0, turns=True)
        with Stopwatch([str(programs / "stopwatch"), *command.options(str(tmp_path))]) as stopwatch:
            stopwatch.wait_ready(5.0)
            stopwatch.go()
            for number in range(3):
                stopwatch.turn(f"unit {number}")
                assert stopwatch.await_took(5.0)["line"] == f"did unit {number}"
            stopwatch.end_turns()
            (said,) = wait_all([stopwatch], 5.0)
        assert said["exit_code"] == 0
        assert (tmp_path / "stdout").read_text() == "did unit 0\ndid unit 1\ndid unit 2\n"
