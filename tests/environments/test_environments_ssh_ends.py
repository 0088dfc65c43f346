# SPDX-License-Identifier: Apache-2.0
"""Whatever ends of a connection, the node on the other host ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY
from tests.environments.dying_runner import start_in_a_run_that_is_killed
from tests.environments.far_example import (
    PROVIDER,
    far_spec,
    leftovers,
    own_connections,
    running,
    wait_until_gone,
)
from tests.environments.loopback_sshd import Sshd

from tare.errors import NodeError
from tare.image.store import Image
from tare.measure.clean import remove_leftovers
from tare.node_life import start_node, stop_node
from tare.nodes.provider import Bind, NodeSpec

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and cgroups"),
]


class TestEnds:
    """Whatever ends, the node ends."""

    def test_a_killed_runner_takes_its_node_with_it(self, spec_on_far: NodeSpec, far: Path) -> None:
        start_in_a_run_that_is_killed(spec_on_far)
        wait_until_gone(far, spec_on_far.name)
        assert remove_leftovers().removed == [spec_on_far.name]
        assert not spec_on_far.directory.exists()

    def test_a_connection_that_breaks_takes_the_node_with_it(self, spec_on_far: NodeSpec, far: Path) -> None:
        start_node(spec_on_far, PROVIDER)
        (master,) = own_connections()
        os.kill(master, signal.SIGKILL)
        wait_until_gone(far, spec_on_far.name)
        stop_node(spec_on_far, PROVIDER)
        assert not spec_on_far.directory.exists()

    def test_a_node_whose_keeper_there_was_killed_is_found_and_removed(
        self, spec_on_far: NodeSpec, far: Path
    ) -> None:
        start_node(spec_on_far, PROVIDER)
        keeper = int((far / "nodes" / spec_on_far.name / "keeper").read_text())
        os.kill(keeper, signal.SIGKILL)
        time.sleep(0.2)
        assert leftovers(far, spec_on_far.name)
        stop_node(spec_on_far, PROVIDER)
        assert leftovers(far, spec_on_far.name) == []

    def test_what_nobody_stopped_there_goes_with_the_next_run(
        self, spec_on_far: NodeSpec, far: Path, sshd: Sshd, image: Image
    ) -> None:
        start_node(spec_on_far, PROVIDER)
        os.kill(int((far / "nodes" / spec_on_far.name / "keeper").read_text()), signal.SIGKILL)
        time.sleep(0.2)
        PROVIDER.configured(sshd.reach(far)).prepare(image.root, image.digest)
        assert leftovers(far, spec_on_far.name) == []
        stop_node(spec_on_far, PROVIDER)

    def test_another_process_can_stop_a_node_that_is_still_looked_after(
        self, spec_on_far: NodeSpec, far: Path
    ) -> None:
        start_node(spec_on_far, PROVIDER)
        script = "from tare.measure.clean import remove_leftovers; print(remove_leftovers().removed)"
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=REPOSITORY,
        )
        assert done.stdout == f"['{spec_on_far.name}']\n", done.stderr
        assert leftovers(far, spec_on_far.name) == []
        PROVIDER.stop(spec_on_far)

    def test_a_start_that_fails_there_is_told_here_and_leaves_nothing(
        self, sshd: Sshd, far: Path, image: Image, state: Path, tmp_path: Path
    ) -> None:
        spec = far_spec(sshd.reach(far), image, state, binds=(Bind(path=tmp_path / "lost"),))
        with pytest.raises(NodeError, match=r"127.0.0.1: cannot mount .*/lost on"), running(spec):
            pytest.fail("it must not run")
        assert leftovers(far, spec.name) == []
        assert not spec.directory.exists()

    def test_two_runs_at_once_are_refused(
        self, spec_on_far: NodeSpec, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        other = "tare-other-1"
        with running(spec_on_far):
            second = far_spec(sshd.reach(far), image, state, name=other, directory=state / "nodes" / other)
            with (
                pytest.raises(NodeError, match=f"another run is measuring here .node {spec_on_far.name}"),
                running(second),
            ):
                pytest.fail("it must not run")

    def test_a_run_on_that_host_itself_is_respected(self, spec_on_far: NodeSpec, far: Path) -> None:
        script = (
            "import time; from tare.measure.lock import host_lock\n"
            "with host_lock('its own'): print('held', flush=True); time.sleep(60)"
        )
        with subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            env={**os.environ, "TARE_STATE": str(far)},
        ) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            with (
                pytest.raises(NodeError, match=f"another run .*its own, process {holder.pid}"),
                running(spec_on_far),
            ):
                pytest.fail("it must not run")
            holder.kill()
