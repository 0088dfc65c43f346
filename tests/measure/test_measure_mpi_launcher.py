# SPDX-License-Identifier: Apache-2.0
"""The site's launcher: refused at the start where it cannot serve, and ranks that do not know of each other as well."""

from pathlib import Path

import pytest
from tests.environments.engine_words import StandIn

from tare.errors import HostError, InputError, NodeError
from tare.measure import launches
from tare.measure.instances import refuse_strangers
from tare.measure.launches import require_launcher
from tare.measure.mpi_facts import launcher_version
from tare.records import MpiLauncher, User

PROBED = '{"processes":2,"library":"Open MPI v4.1.4","clock_difference_s":0}\n'
LISTED = """MPI plugin types are...
	none
	pmi2
	pmix
specific pmix plugin versions available: pmix_v4
"""


@pytest.fixture(autouse=True)
def _asked_anew() -> None:
    launcher_version.cache_clear()


def stand_in(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    StandIn(folder, name, monkeypatch).does(script)


def test_tares_own_launch_asks_nothing_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    require_launcher(MpiLauncher.TARE, None)


def test_an_mpirun_of_open_mpi_4_is_known_by_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("mpirun", tmp_path, monkeypatch, "echo 'mpirun (Open MPI) 4.1.4'")
    require_launcher(MpiLauncher.MPIRUN, User(65530, 65530))
    assert launcher_version(MpiLauncher.MPIRUN).startswith("mpirun: this host's, Open MPI 4.1.4,")


@pytest.mark.parametrize("said", ["HYDRA build details:", "mpirun (Open MPI) 5.0.3"])
def test_another_mpirun_is_refused(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("mpirun", tmp_path, monkeypatch, f"echo '{said}'")
    with pytest.raises(HostError, match="takes that of Open MPI 4"):
        require_launcher(MpiLauncher.MPIRUN, None)


def test_srun_is_known_by_its_version_and_its_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"[ $1 = --version ] && echo slurm-wlm 22.05.8 || echo '{LISTED}'"
    stand_in("srun", tmp_path, monkeypatch, script)
    assert launcher_version(MpiLauncher.SRUN) == "srun --mpi=pmix: slurm-wlm 22.05.8, pmix_v4"
    monkeypatch.setattr(launches, "ordinary_user", lambda: False)
    with pytest.raises(InputError, match=r"run as 65530:65530: run Tare as that user.*mpirun"):
        require_launcher(MpiLauncher.SRUN, User(65530, 65530))
    monkeypatch.setattr(launches, "ordinary_user", lambda: True)
    require_launcher(MpiLauncher.SRUN, User(65530, 65530))


def test_a_slurm_without_pmix_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("srun", tmp_path, monkeypatch, "echo none pmi2")
    with pytest.raises(HostError, match="names none here"):
        require_launcher(MpiLauncher.SRUN, None)


def test_a_missing_launcher_is_said_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise NodeError("mpirun cannot be started: No such file or directory")

    monkeypatch.setattr("tare.host.process.run", missing)
    with pytest.raises(HostError, match=r"mpirun cannot be started.*openmpi"):
        require_launcher(MpiLauncher.MPIRUN, None)


def test_ranks_that_each_are_the_first_are_strangers() -> None:
    refuse_strangers(PROBED)
    refuse_strangers("")
    with pytest.raises(NodeError, match="2 MPI processes were started, and each believes to be the only one"):
        refuse_strangers(2 * PROBED.replace("2", "1", 1))
