# SPDX-License-Identifier: Apache-2.0
"""scripts/with-dockerd with stand-ins for docker and dockerd."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "with-dockerd"
DAEMON = """#!/bin/bash
trap 'echo ended >>{folder}/daemon; exit 0' TERM
echo "$@" >{folder}/arguments
echo started $$ >>{folder}/daemon
while :; do sleep 0.05; done
"""
LIMIT_S = 20


@dataclass(frozen=True)
class Host:
    folder: Path

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("{folder}", str(self.folder)))
        path.chmod(0o755)

    def start(self, *command: str) -> subprocess.Popen[str]:
        variables = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "TARE_DOCKERD_LOG": str(self.folder / "log"),
            "TARE_DOCKERD_CONFIGURATION": str(self.folder / "daemon.json"),
        }
        script = str(self.folder / "scripts" / SCRIPT.name)
        return subprocess.Popen(
            [script, *command], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, *command: str) -> tuple[int, str, str]:
        with self.start(*command) as process:
            out, err = process.communicate(timeout=LIMIT_S)
        return process.returncode, out, err

    def daemon_words(self) -> list[str]:
        file = self.folder / "daemon"
        return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def host(tmp_path: Path) -> Host:
    made = Host(tmp_path)
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    made.program("docker", "#!/bin/sh\nexit 1\n")
    made.program("dockerd", DAEMON)
    return made


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def children_called(parent: int, name: str) -> list[int]:
    """Those that have got as far as their own program."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text().strip() == name]


WAIT_FOR_DAEMON = "until [ -s {folder}/daemon ]; do sleep 0.02; done; "


@pytest.mark.root
def test_a_daemon_is_started_beside_the_command_and_ended_after_it(host: Host) -> None:
    script = WAIT_FOR_DAEMON.replace("{folder}", str(host.folder)) + "echo $TARE_DOCKERD_STARTING; exit 7"
    assert host.run("sh", "-c", script)[:2] == (7, "1\n")
    assert host.daemon_words() == ["started", "ended"]


@pytest.mark.root
def test_a_daemon_that_answers_is_left_alone(host: Host) -> None:
    host.program("docker", "#!/bin/sh\nexit 0\n")
    assert host.run("sh", "-c", "echo ${TARE_DOCKERD_STARTING-unset}") == (0, "unset\n", "")
    assert host.daemon_words() == []


@pytest.mark.root
def test_the_command_runs_though_the_daemon_fails(host: Host) -> None:
    host.program("dockerd", "#!/bin/sh\necho no space >&2\nexit 3\n")
    code, out, err = host.run("sh", "-c", "sleep 0.5; echo done")
    assert (code, out) == (0, "done\n")
    assert f"dockerd ended with exit code 3; its log is {host.folder}/log" in err
    assert (host.folder / "log").read_text() == "no space\n"


@pytest.mark.root
def test_a_signal_reaches_the_command_and_the_daemon_still_ends(host: Host) -> None:
    process = host.start(
        "sh", "-c", f"trap 'echo told; exit 5' TERM; echo up >{host.folder}/up; while :; do sleep 0.02; done"
    )
    wait_for(lambda: (host.folder / "up").exists() and host.daemon_words())
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, out) == (5, "told\n")
    assert host.daemon_words() == ["started", "ended"]


@pytest.mark.root
def test_the_command_can_be_interrupted(host: Host) -> None:
    """A shell in the background would start it with SIGINT ignored, and Ctrl-C would do nothing."""
    code, out, _ = host.run("/usr/bin/python3", "-c", "import signal; print(signal.getsignal(signal.SIGINT))")
    assert (code, "default_int_handler" in out) == (0, True)


@pytest.mark.root
def test_the_daemon_ends_though_the_script_is_killed(host: Host) -> None:
    with host.start("sleep", "30") as process:
        wait_for(host.daemon_words)
        wait_for(lambda: children_called(process.pid, "sleep"))
        (command,) = children_called(process.pid, "sleep")
        process.kill()
        wait_for(lambda: host.daemon_words() == ["started", "ended"])
        os.kill(command, signal.SIGKILL)


@pytest.mark.root
def test_a_command_that_is_killed_gives_the_shells_exit_code(host: Host) -> None:
    assert host.run("sh", "-c", "kill -9 $$")[0] == 137


def test_a_command_that_is_missing_is_said(host: Host) -> None:
    code, _, err = host.run("no-such-command")
    assert code == 127
    assert "no-such-command cannot be run" in err


@dataclass(frozen=True)
class Started:
    """What the daemon was told."""

    arguments: str
    settings: Mapping[str, Any]


def started(host: Host, *, settings: str, runsc: bool) -> Started:
    (host.folder / "daemon.json").write_text(settings)
    if runsc:
        (host.folder / "build" / "gvisor").mkdir(parents=True)
        (host.folder / "build" / "gvisor" / "runsc").touch(mode=0o755)
    host.run("sh", "-c", WAIT_FOR_DAEMON.replace("{folder}", str(host.folder)))
    written = host.folder / "dockerd.json"
    return Started(
        arguments=(host.folder / "arguments").read_text().strip(),
        settings=json.loads(written.read_text()) if written.exists() else {},
    )


@pytest.mark.root
def test_a_runsc_that_was_built_is_a_runtime_beside_the_hosts_own(host: Host) -> None:
    own = {"runtimes": {"other": {"path": "/other"}}, "debug": True}
    seen = started(host, settings=json.dumps(own), runsc=True)
    assert seen.arguments == f"--config-file={host.folder}/dockerd.json"
    assert seen.settings["debug"] is True
    assert seen.settings["runtimes"].pop("other") == {"path": "/other"}
    assert {name: value["runtimeArgs"] for name, value in seen.settings["runtimes"].items()} == {
        "runsc": ["--overlay2=none", "--platform=systrap"],
        "runsc-ptrace": ["--overlay2=none", "--platform=ptrace"],
        "runsc-kvm": ["--overlay2=none", "--platform=kvm"],
    }
    assert {entry["path"] for entry in seen.settings["runtimes"].values()} == {
        f"{host.folder}/build/gvisor/runsc"
    }


@pytest.mark.root
def test_without_runsc_the_daemon_has_the_hosts_configuration_alone(host: Host) -> None:
    assert started(host, settings="{}", runsc=False) == Started(arguments="", settings={})


@pytest.mark.root
def test_a_configuration_that_is_no_json_is_left_to_the_daemon_to_complain_about(host: Host) -> None:
    assert started(host, settings="{oops", runsc=True) == Started(arguments="", settings={})
