# SPDX-License-Identifier: Apache-2.0
"""A run that is interrupted takes its trial down, journals nothing of it, and says how to go on."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.fake_campaign import FAKES, command_workload, fake_campaign
from tests.measure.measure_nodes import AS_ROOT, campaign_file, state_with, wait_until

from tare.host import mounts
from tare.image.store import Image
from tare.journal.reader import read_journal
from tare.measure.context import Context
from tare.measure.session import Allowance, interruptible, run_trials
from tare.plan.trials import plan_trials
from tare.records import Outcome, Trial

STUBBORN = ("/bin/sh", "-c", "trap '' TERM INT HUP; echo begun; while :; do sleep 0.1; done")
QUICK = ("/bin/sh", "-c", "echo begun; exec sleep 60")


class TestInterruptible:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_the_first_signal_interrupts_and_further_ones_do_not(self, number: signal.Signals) -> None:
        unwound = False

        def interrupted() -> None:
            nonlocal unwound
            with interruptible():
                try:
                    os.kill(os.getpid(), number)
                    time.sleep(5)
                finally:
                    for again in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                        os.kill(os.getpid(), again)
                    time.sleep(0.05)
                    unwound = True

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert unwound

    def test_afterwards_signals_mean_what_they_meant(self) -> None:
        before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
        with interruptible():
            assert signal.getsignal(signal.SIGTERM) != before[1]
        assert before == [
            signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        ]

    def test_a_run_under_nohup_outlives_its_terminal(self) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with interruptible():
                os.kill(os.getpid(), signal.SIGHUP)
                time.sleep(0.05)
        except KeyboardInterrupt:
            pytest.fail("the end of the terminal ended the run")
        finally:
            signal.signal(signal.SIGHUP, before)

    def test_in_another_thread_signals_are_left_alone(self) -> None:
        seen: list[bool] = []
        before = signal.getsignal(signal.SIGINT)

        def enter() -> None:
            with interruptible():
                seen.append(signal.getsignal(signal.SIGINT) is before)

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        assert seen == [True]


@dataclass
class Watching:
    """A watcher that remembers."""

    begun: list[str]
    outcomes: list[str]

    def begins(self, trial: Trial) -> None:
        self.begun.append(trial.identity)

    def ended(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome.trial.identity)


def context(folder: Path, programs: Path) -> Context:
    """Fakes with the programs from where they were built."""
    return Context(
        image_root=programs.parents[2],
        image_digest="sha256:0",
        raw_directory=folder / "raw",
        available_processors=(0,),
        providers=FAKES,
    )


@pytest.mark.usefixtures("state")
class TestRunTrials:
    def trials(self, programs: Path, *argv: str) -> tuple[Trial, ...]:
        planned = plan_trials(fake_campaign(workload=command_workload(*argv), blocks=2, time_s=5.0), 1)
        tools = {"tools": str(programs)}
        return tuple(
            replace(trial, environment=replace(trial.environment, options=tools)) for trial in planned
        )

    def test_each_outcome_is_written_before_the_next_trial_begins(
        self, tmp_path: Path, programs: Path
    ) -> None:
        order: list[str] = []
        watching = Watching([], [])
        watching.begins = lambda trial: order.append(f"begins {trial.identity}")  # type: ignore[method-assign]
        trials = self.trials(programs, "/bin/true")
        allowance = Allowance(may_begin=lambda _: True, remaining_s=lambda: 1e9)
        cut = run_trials(
            context(tmp_path, programs),
            trials,
            lambda outcome: order.append(f"writes {outcome.trial.identity}"),
            allowance,
            watching,
        )
        assert not cut
        expected = [f"{word} {trial.identity}" for trial in trials for word in ("begins", "writes")]
        assert order == expected

    def test_a_trial_that_may_not_begin_ends_the_session(self, tmp_path: Path, programs: Path) -> None:
        watching, written = Watching([], []), list[Outcome]()
        trials = self.trials(programs, "/bin/true")
        allowance = Allowance(may_begin=lambda trial: trial != trials[2], remaining_s=lambda: 1e9)
        cut = run_trials(context(tmp_path, programs), trials, written.append, allowance, watching)
        assert cut
        assert watching.begun == [trial.identity for trial in trials[:2]] == watching.outcomes

    def test_a_trial_that_the_budget_cuts_is_not_written(self, tmp_path: Path, programs: Path) -> None:
        watching, written = Watching([], []), list[Outcome]()
        trials = self.trials(programs, "/bin/sleep", "60")
        allowance = Allowance(may_begin=lambda _: True, remaining_s=lambda: 0.2)
        assert run_trials(context(tmp_path, programs), trials, written.append, allowance, watching)
        assert written == []

    def test_a_trial_that_fits_the_rest_of_the_budget_keeps_its_own_limit_in_the_record(
        self, tmp_path: Path, programs: Path
    ) -> None:
        written = list[Outcome]()
        trials = self.trials(programs, "/bin/true")
        allowance = Allowance(may_begin=lambda _: True, remaining_s=lambda: 2.0)
        run_trials(context(tmp_path, programs), trials, written.append, allowance, Watching([], []))
        assert tuple(outcome.trial for outcome in written) == trials


@dataclass(frozen=True)
class Run:
    """``tare run`` in a process of its own, its command at work."""

    process: "subprocess.Popen[str]"
    state: Path
    result: Path

    def ends(self) -> tuple[int, str]:
        """The exit code and what was said."""
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


class TestCommandLine:
    pytestmark = AS_ROOT

    @pytest.fixture(params=[QUICK])
    def run(self, request: pytest.FixtureRequest, image: Image, tmp_path: Path) -> Iterator[Run]:
        state, result = state_with(image, tmp_path / "state"), tmp_path / "result"
        argv = ["run", str(campaign_file(tmp_path, *request.param)), "--output", str(result)]
        # The shell that runs the tests in the background may have made them, and so this, deaf to Ctrl-C.
        deaf = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        script = f"{deaf} import sys; from tare.cli import main; sys.argv[0] = 'tare'; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", script, *argv],
            env={**os.environ, "TARE_STATE": str(state)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            printed = "nodes/*/layer/work/i0.output/stdout"
            wait_until(lambda: any(path.read_text() for path in state.glob(printed)))
            yield Run(process, state, result)
        finally:
            process.kill()
            process.communicate(timeout=10)

    def check_clean(self, run: Run) -> None:
        assert list((run.state / "nodes").iterdir()) == []
        assert mounts.mounts_below(run.state) == []
        journal = read_journal(run.result / "journal")
        assert len(journal.sessions) == 1
        assert journal.outcomes == ()

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_ends_the_trial_cleanly_and_says_how_to_continue(
        self, number: signal.Signals, run: Run
    ) -> None:
        run.process.send_signal(number)
        code, said = run.ends()
        assert code == 130
        assert f"continue with: tare run {run.result}" in said
        assert "Traceback" not in said
        self.check_clean(run)

    @pytest.mark.parametrize("run", [STUBBORN], indirect=True)
    def test_further_signals_do_not_disturb_the_unwinding(self, run: Run) -> None:
        run.process.send_signal(signal.SIGINT)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            time.sleep(0.1)
            assert run.process.poll() is None, "it ended too soon for this test to tell anything"
            run.process.send_signal(number)
        code, said = run.ends()
        assert code == 130
        assert "Traceback" not in said
        self.check_clean(run)
