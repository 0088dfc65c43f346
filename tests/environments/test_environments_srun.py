# SPDX-License-Identifier: Apache-2.0
"""A node of a Slurm job is reached by srun, and srun's words become errors with a remedy."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tare.environments.ssh.channel import FarAnswer
from tare.environments.ssh.connection import Far, complaints, failed, last_words
from tare.environments.ssh.group import FarGroup, FarUserGroup, far_group
from tare.host import slurm
from tare.host.slurm import Allocation
from tare.records import OptionValue

OPTIONS: Mapping[str, OptionValue] = {"host": "n2", "job": "7"}
FAR = Far.of(OPTIONS)
GONE = """\
srun: error: Unable to confirm allocation for job 99: Invalid job id specified
srun: Check SLURM_JOB_ID environment variable. Expired or invalid job 99
"""
ENDED = """\
srun: error: n2: task 0: Exited with exit code 3
"""


class TestWords:
    def test_a_command_is_one_word_for_a_shell_there_in_a_step_beside_all_others(self) -> None:
        argv = FAR.ssh()
        assert argv[0] == "srun"
        assert {"--overlap", "--mem=0", "--ntasks=1", "--jobid=7", "--nodelist=n2"} <= set(argv)
        assert argv[-2:] == ["/bin/sh", "-c"]

    def test_of_the_callers_variables_only_home_and_path_are_there(self) -> None:
        assert "--export=HOME,PATH" in FAR.ssh()

    def test_a_commands_standard_error_has_none_of_sruns_words(self) -> None:
        assert FAR.ssh().count("--quiet") == 1
        assert FAR.enter(None, ["true"]).count("--quiet") == 2

    def test_a_step_has_the_processors_that_the_job_has_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        own = Allocation(job="7", nodes=("n1", "n2"), processors={"n1": 2, "n2": 16})
        monkeypatch.setattr(slurm, "is_allocated", lambda: True)
        monkeypatch.setattr(slurm, "allocation", lambda: own)
        assert "--cpus-per-task=16" in FAR.ssh()

    def test_no_socket_is_shared_and_the_image_is_looked_for_first(self) -> None:
        assert (FAR.multiplexes, FAR.by, FAR.seen(Path("/i/rootfs"))) == (False, "srun", "/i/rootfs")
        by_ssh = Far.of({"host": "n2"})
        assert (by_ssh.multiplexes, by_ssh.by, by_ssh.seen(Path("/i/rootfs"))) == (True, "ssh", None)

    @pytest.mark.parametrize("job", ["", "7;true", "-1", "seven", "7_1"])
    def test_a_job_is_a_number(self, job: str) -> None:
        assert set(complaints({"host": "n2", "job": job})) == {"job"}


class TestErrors:
    @pytest.mark.parametrize(
        ("said", "words"),
        [
            (
                GONE,
                "allocation for job 99: Invalid job id specified; the job has ended: begin another with salloc",
            ),
            (
                "srun: error: Unable to create step for job 2: Requested node configuration is not available\n",
                "it is none of the job's nodes, or it is down",
            ),
            (
                "slurmstepd-n2: error: *** STEP 3.4 ON n2 CANCELLED AT 2026-11-26T17:59:58 ***\n",
                "STEP 3.4 ON n2 CANCELLED",
            ),
        ],
    )
    def test_what_srun_says_comes_with_what_to_do(self, said: str, words: str) -> None:
        error = failed(FAR, 1, said)
        assert error is not None
        assert words in str(error)

    @pytest.mark.parametrize(
        ("code", "said"), [(3, "no such file\n" + ENDED), (3, ENDED), (0, ""), (255, "")]
    )
    def test_a_program_that_failed_there_is_no_failure_of_srun(self, code: int, said: str) -> None:
        assert failed(FAR, code, said) is None

    def test_the_last_words_are_the_programs(self) -> None:
        assert last_words("no such file\n" + ENDED) == "no such file"
        assert last_words(ENDED) == "it said nothing"


class Told:
    """A far side that always gives the same answers."""

    def __init__(self, **answers: Mapping[str, object]) -> None:
        self._answers = answers

    def __call__(self, do: str, **_: object) -> FarAnswer:
        return FarAnswer("n2", self._answers[do])


HELD = {"processors": None, "memory_byte": None, "cpu_quota": None, "processes": None}


class TestGroups:
    def test_a_users_node_there_is_held_by_the_means_that_it_says(self) -> None:
        means: Mapping[str, object] = {"group": None, "controllers": []}
        process = {"affinity": [0, 3], "data_limit_byte": 1 << 20}
        group = far_group(Told(group={"settings": HELD, "means": means}, process=process))
        assert isinstance(group, FarUserGroup)
        assert (group.means.group, group.means.memory_by_group) == (None, False)
        assert (group.affinity(5), group.data_limit_byte(5)) == ((0, 3), 1 << 20)

    def test_roots_node_there_is_held_by_its_group(self) -> None:
        assert type(far_group(Told(group={"settings": HELD}))) is FarGroup

    def test_nothing_holds_a_node_without_settings(self) -> None:
        assert far_group(Told(group={"settings": None})) is None
