# SPDX-License-Identifier: Apache-2.0
"""What the stopwatch and drop take from a command: root's rights, core files, descriptors, processes."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.native.conversation import conversation, eventually, pid_in, process_exists

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

USER = 65530
WHO = f"{USER}:{USER}"
PATH = f"PATH={os.environ['PATH']}"
LOOK = "grep -E '^(Uid|Gid|Groups|Cap(Inh|Prm|Eff|Amb)|NoNewPrivs):' /proc/self/status; ulimit -c -n -u"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One that everybody can reach, with a folder ``own`` of the command's user in it."""
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == 0 and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o011)
    (tmp_path / "own").mkdir()
    os.chown(tmp_path / "own", USER, USER)
    return tmp_path


def looked(text: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if ":" in line.split()[0]}


def test_drop_leaves_a_command_no_right_and_no_group_of_roots(programs: Path) -> None:
    done = subprocess.run(
        [programs / "drop", "--user", WHO, "--limit", "core=0", "--", "bash", "-c", LOOK],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    seen = looked(done.stdout)
    assert seen["Uid:"] == seen["Gid:"] == [str(USER)] * 4
    assert seen["Groups:"] == []
    assert {int(seen[name][0], 16) for name in ("CapInh:", "CapPrm:", "CapEff:", "CapAmb:")} == {0}
    assert seen["NoNewPrivs:"] == ["1"], "a set-user-id program in a folder that the user lends gives nothing"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--user", "me:me"], "'me:me' is not UID:GID"),
        (["--user", "4294967295:1"], "'4294967295:1' is not UID:GID"),
        (["--user", "1"], "'1' is not UID:GID"),
        (["--limit", "stack=1"], "'stack' is not one of core, nofile and nproc"),
        (["--limit", "core"], "'core' is not NAME=NUMBER"),
        (["--nice", "1"], "write: drop"),
    ],
)
def test_drop_refuses_what_it_does_not_know(programs: Path, options: list[str], complaint: str) -> None:
    done = subprocess.run(
        [programs / "drop", *options, "--", "true"], capture_output=True, text=True, check=False, timeout=20
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"drop: {complaint}")


def test_the_stopwatch_says_what_its_command_will_be_under_and_it_is(programs: Path, folder: Path) -> None:
    options = ["--directory", folder / "own", "--stdout", "out", "--env", PATH]
    options += ["--user", WHO, "--limit", "core=0", "--limit", "nofile=512", "--limit", "nproc=64"]
    with conversation([programs / "stopwatch", *options, "--", "bash", "-c", f"{LOOK}; touch mine"]) as talk:
        ready = talk.expect("READY")
        assert talk.run()["exit_code"] == 0
    confinement = ready["confinement"]
    assert (ready["pid"], ready["uid"]) == (talk.process.pid, USER)
    assert confinement["user"].split() == [str(USER)] * 4
    assert int(confinement["effective_capabilities"], 16) == 0
    assert confinement["limits"]["core"] == "0:0"
    assert confinement["limits"]["nofile"] == "512:512"
    assert confinement["limits"]["nproc"] == "64:64"
    seen = looked((folder / "own/out").read_text())
    assert seen["Uid:"] == [str(USER)] * 4
    assert seen["CapEff:"] == [confinement["effective_capabilities"]]
    assert (folder / "own/mine").stat().st_uid == USER


def test_a_restricted_command_can_open_its_output_again(programs: Path, folder: Path) -> None:
    options = ["--stdout", folder / "own/out", "--env", PATH, "--user", WHO]
    script = "echo once >> /dev/stdout; echo twice >> /dev/stderr"
    options += ["--stderr", folder / "own/err"]
    with conversation([programs / "stopwatch", *options, "--", "sh", "-c", script]) as talk:
        talk.expect("READY")
        assert talk.run()["exit_code"] == 0
    assert (folder / "own/out").read_text() + (folder / "own/err").read_text() == "once\ntwice\n"


def test_a_restricted_command_works_in_turns(programs: Path, folder: Path) -> None:
    options = ["--stdout", folder / "own/out", "--env", PATH, "--user", WHO, "--turns", "yes"]
    script = "while read -r turn; do echo $turn by $(id -u); done < /dev/stdin"
    with conversation([programs / "stopwatch", *options, "--", "sh", "-c", script]) as talk:
        talk.expect("READY")
        talk.send("GO", "TURN a")
        assert talk.expect("TOOK")["line"] == f"a by {USER}"
        talk.send("END")
        assert talk.expect("DONE")["exit_code"] == 0


def test_a_restricted_command_dies_with_its_stopwatch(programs: Path, folder: Path) -> None:
    options = ["--directory", folder / "own", "--env", PATH, "--user", WHO]
    script = "echo $$ > pid; exec sleep 300"
    with conversation([programs / "stopwatch", *options, "--", "sh", "-c", script]) as talk:
        talk.expect("READY")
        talk.send("GO")
        eventually(
            lambda: (folder / "own/pid").exists() and pid_in(folder / "own/pid") > 0, "the command runs"
        )
        talk.process.send_signal(signal.SIGKILL)
        eventually(lambda: not process_exists(pid_in(folder / "own/pid")), "the command is gone")


def test_a_command_of_the_same_user_cannot_reach_into_its_stopwatch(programs: Path, folder: Path) -> None:
    """As where the technology has made it that user already: it could write its own time there."""
    user = [str(programs / "drop"), "--user", WHO, "--"]
    own = folder / "own"
    script = "import os; open(f'/proc/{os.getppid()}/mem', 'r+b')"
    options = ["--directory", own, "--stderr", "err", "--env", PATH]
    with conversation([*user, programs / "stopwatch", *options, "--", "python3", "-c", script]) as talk:
        talk.expect("READY")
        assert talk.run()["exit_code"] == 1
    assert "PermissionError" in (own / "err").read_text()
