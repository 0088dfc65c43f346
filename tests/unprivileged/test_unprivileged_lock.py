# SPDX-License-Identifier: Apache-2.0
"""The lock that all users of a machine share: it excludes, and nothing that lies in its place harms anybody."""

import fcntl
import os
import re
import signal
import stat
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.fake_campaign import Listener
from tests.unprivileged.ordinary_user import AS_ROOT, PYTHON, USER, OrdinaryUser

from tare.errors import LockedError
from tare.measure.campaign import held_host
from tare.measure.machine_lock import NAME, machine_lock

HOLD = """
import sys
from pathlib import Path
from tare.measure.machine_lock import machine_lock
with machine_lock((Path(sys.argv[1]),)):
    print("held", flush=True)
    sys.stdin.read()
"""


TRY = """
import sys
from pathlib import Path
from tare.errors import TareError
from tare.measure.machine_lock import machine_lock
try:
    with machine_lock((Path(sys.argv[1]),)):
        pass
except TareError as error:
    print(error)
    sys.exit(3)
"""


def try_as_another(folder: Path) -> "subprocess.CompletedProcess[str]":
    """A second ordinary user takes the lock, or hears why not."""
    ids = [f"--reuid={USER + 1}", f"--regid={USER + 1}", "--clear-groups"]
    variables = {name: value for name, value in os.environ.items() if name != "TARE_STATE"}
    argv = ["setpriv", *ids, PYTHON, "-P", "-c", TRY, str(folder)]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20, env=variables)


@pytest.fixture
def everybodys(user: OrdinaryUser) -> Path:
    """A folder like /run/lock."""
    folder = user.home / "everybody's"
    folder.mkdir()
    folder.chmod(0o1777)
    user.home.chmod(0o711)
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
        done = try_as_another(everybodys)
        assert done.returncode == 3, done.stderr
        assert re.search(rf"process {holder.pid} \(python.*, user {USER}\) holds .*{NAME}", done.stdout)

    def test_whoever_holds_it_does_not_stop_root_and_is_named(
        self, holder: "subprocess.Popen[str]", everybodys: Path
    ) -> None:
        with machine_lock((everybodys,)) as remark:
            assert remark is not None
            assert f"process {holder.pid} (" in remark
            assert holder.poll() is None
            done = try_as_another(everybodys)
            assert f"process {os.getpid()} (" in done.stdout, "root's lock is respected from now on"
        assert try_as_another(everybodys).returncode == 0

    def test_a_lock_whose_process_handed_it_on_does_not_stop_root(
        self, everybodys: Path, user: OrdinaryUser
    ) -> None:
        """/proc/locks names the process that took a lock, even when that one has ended."""
        with subprocess.Popen(
            user.argv(
                "sh", "-c", 'exec 9>"$0"; flock 9; sleep 60 >/dev/null & echo $!', str(everybodys / NAME)
            ),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            heir = int(process.communicate(timeout=10)[0])
        try:
            with machine_lock((everybodys,)) as remark:
                assert remark is not None
                assert f"holds {everybodys / NAME}" in remark
        finally:
            os.kill(heir, signal.SIGKILL)

    def test_it_is_free_as_soon_as_the_holder_ends(
        self, holder: "subprocess.Popen[str]", everybodys: Path
    ) -> None:
        holder.kill()
        holder.wait(10)
        with machine_lock((everybodys,)):
            assert (everybodys / NAME).stat().st_uid != os.geteuid()

    @pytest.mark.parametrize("kind", ["link", "pipe", "folder", "second name"])
    def test_what_is_no_lock_is_refused_at_once_and_root_goes_on(
        self, kind: str, everybodys: Path, user: OrdinaryUser
    ) -> None:
        precious = everybodys / "precious"
        make = {
            "link": 'ln -s "$1" "$2"',
            "pipe": 'mkfifo "$2"',
            "folder": 'mkdir "$2"',
            "second name": 'echo kept >"$1"; ln "$1" "$2"',
        }[kind]
        assert user.run("sh", "-c", make, "sh", str(precious), str(everybodys / NAME)).returncode == 0
        done = try_as_another(everybodys)
        assert done.returncode == 3, done.stderr
        assert "have its owner or the administrator remove it" in done.stdout
        with machine_lock((everybodys,)) as remark:
            assert remark is not None
        assert precious.exists() == (kind == "second name")
        assert kind == "folder" or try_as_another(everybodys).returncode == 0

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

    def test_a_folder_that_is_not_everybodys_is_passed_over(self, folder: Path, tmp_path: Path) -> None:
        private = tmp_path / "private"
        private.mkdir(mode=0o755)
        with machine_lock((tmp_path / "absent", private, folder)):
            assert (folder / NAME).exists()
        assert list(private.iterdir()) == []

    def test_where_no_folder_is_everybodys_ones_own_lock_is_the_only_one(self, tmp_path: Path) -> None:
        with machine_lock((tmp_path / "absent",)):
            assert list(tmp_path.iterdir()) == []


def test_a_run_holds_the_machine_and_says_who_does_but_root_goes_on(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o1777)
    monkeypatch.setattr("tare.host.paths._chosen", lambda: state)
    monkeypatch.delenv("TARE_STATE")
    monkeypatch.setattr("tare.measure.campaign.machine_lock", partial(machine_lock, (tmp_path,)))
    listener = Listener()
    with (tmp_path / NAME).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if os.geteuid() == 0:
            with held_host("test", listener):
                pass
            assert any(f"process {os.getpid()} (" in words for words in listener.words)
        else:
            with pytest.raises(LockedError, match="maybe another user's"), held_host("test", listener):
                pytest.fail("it must not be held twice")
