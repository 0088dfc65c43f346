# SPDX-License-Identifier: Apache-2.0
"""A shim outlives a killed daemon: it ends with its node, and no other shim does."""

import os
import shutil
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.environments.engine_words import StandIn
from tests.environments.environment_example import described

from tare.environments import PROVIDERS, docker, docker_shims
from tare.errors import NodeError

DOCKER = PROVIDERS["docker"]


@pytest.mark.parametrize("way", ["after a failed command", "by another process"])
def test_a_nodes_shim_is_ended_where_its_start_or_stop_may_have_been_cut_off_and_no_other_shim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(docker_shims, "_GRACE_S", 0.1)
    monkeypatch.setattr(docker, "_STARTING_LIMIT_S", 0.1)
    (tmp_path / "bin").mkdir()
    daemon = StandIn(tmp_path / "bin", "docker", monkeypatch)
    spec = described(tmp_path / "tare-1")
    (spec.directory / "layer").mkdir(parents=True)
    (spec.directory / "container.id").write_text("ours")
    program = shutil.copy("/bin/sh", tmp_path / docker_shims.NAME)
    with ExitStack() as stack:
        own, other = (
            stack.enter_context(
                subprocess.Popen([program, "-c", "read x", "-id", name], stdin=subprocess.PIPE)
            )
            for name in ("ours", "another")
        )
        docker_shims.trust(spec)
        if way == "after a failed command":
            daemon.does("echo no daemon >&2\nexit 1\n")
            with pytest.raises(NodeError, match="no daemon"):
                DOCKER.stop(spec)
        else:
            monkeypatch.setattr(os, "getpid", os.getppid)
        assert own.poll() is None
        daemon.does("exit 0\n")
        DOCKER.stop(spec)
        assert own.wait(5) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()
    assert [path.name for path in spec.directory.iterdir()] == ["container.id"]


def test_a_node_that_nothing_happened_to_is_removed_without_a_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    daemon = StandIn(tmp_path / "bin", "docker", monkeypatch)
    daemon.does("exit 0\n")
    spec = described(tmp_path / "tare-1")
    (spec.directory / "layer").mkdir(parents=True)
    (spec.directory / "container.id").write_text("ours")
    docker_shims.trust(spec)
    DOCKER.stop(spec)
    assert daemon.asked() == ["rm --force --volumes ours"]
