# SPDX-License-Identifier: Apache-2.0
"""The lock that all users of a machine share: it excludes, and nothing that lies in its place harms anybody."""

import os
import stat
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.unprivileged.ordinary_user import AS_ROOT, PYTHON, OrdinaryUser

from tare.errors import HostError, LockedError
from tare.measure.lock import host_lock
from tare.measure.machine_lock import NAME, machine_lock

HOLD = """
import sys
from pathlib import Path
from tare.measure.machine_lock import machine_lock
with machine_lock((Path(sys.argv[1]),)):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def everybodys(user: OrdinaryUser) -> Path:
    """A folder like /run/lock."""
    folder = user.home / "everybody's"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def holder(everybodys: Path, user: OrdinaryUser) -> "Iterator[subprocess.Popen[str]]":
    """The ordinary user, measuring."""
    argv = [word for word in user.argv(PYTHON, "-c", HOLD, str(everybodys)) if "TARE_STATE" not in word]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


class TestOfTwoUsers:
    pytestmark = AS_ROOT

    def test_one_keeps_the_other_from_measuring_and_is_named(
        self, holder: "subprocess.Popen[str]", everybodys: Path
    ) -> None:
        with (
            pytest.raises(LockedError, match=rf"process {holder.pid} holds .*{NAME}"),
            machine_lock((everybodys,)),
        ):
            pytest.fail("it must not be held twice")

    def test_it_is_free_as_soon_as_the_holder_ends(
        self, holder: "subprocess.Popen[str]", everybodys: Path
    ) -> None:
        holder.kill()
        holder.wait(10)
        with machine_lock((everybodys,)):
            assert (everybodys / NAME).stat().st_uid != os.geteuid()

    def test_a_state_folder_of_ones_own_is_a_machine_of_ones_own(
        self, holder: "subprocess.Popen[str]", everybodys: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TARE_STATE", str(everybodys))
        with machine_lock((everybodys,)):
            assert holder.poll() is None


class TestOfWhatLiesThere:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        tmp_path.chmod(0o1777)
        return tmp_path

    def test_everybody_can_open_what_one_has_made_whatever_the_mask(self, folder: Path) -> None:
        before = os.umask(0o077)
        try:
            with machine_lock((folder,)):
                assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o644
        finally:
            os.umask(before)

    def test_a_link_is_not_followed(self, folder: Path) -> None:
        (folder / NAME).symlink_to(folder / "precious")
        with (
            pytest.raises(HostError, match="have its owner or the administrator remove it"),
            machine_lock((folder,)),
        ):
            pytest.fail("it must not be held")
        assert not (folder / "precious").exists()

    def test_a_pipe_is_refused_without_waiting_for_its_other_end(self, folder: Path) -> None:
        os.mkfifo(folder / NAME)
        with pytest.raises(HostError, match="it is no plain file"), machine_lock((folder,)):
            pytest.fail("it must not be held")

    def test_a_folder_that_is_not_everybodys_is_passed_over(self, folder: Path, tmp_path: Path) -> None:
        private = tmp_path / "private"
        private.mkdir(mode=0o755)
        with machine_lock((tmp_path / "absent", private, folder)):
            assert (folder / NAME).exists()
        assert list(private.iterdir()) == []

    def test_where_no_folder_is_everybodys_ones_own_lock_is_the_only_one(self, tmp_path: Path) -> None:
        with machine_lock((tmp_path / "absent",)):
            assert list(tmp_path.iterdir()) == []


def test_the_hosts_lock_holds_the_machine_too(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o1777)
    monkeypatch.delenv("TARE_STATE")
    monkeypatch.setattr("tare.measure.lock.state_directory", lambda: state)
    monkeypatch.setattr("tare.measure.lock.machine_lock", partial(machine_lock, (tmp_path,)))
    with (
        host_lock("test"),
        pytest.raises(LockedError, match="maybe another user's"),
        machine_lock((tmp_path,)),
    ):
        pytest.fail("it must not be held twice")
