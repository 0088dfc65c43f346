# SPDX-License-Identifier: Apache-2.0
"""A user's domain by the real virsh and a real libvirtd, whose hypervisor is libvirt's own for tests.

In place of the domain's system a real sshd of this host answers.
"""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.far_example import far_spec, inside, leftovers
from tests.environments.loopback_sshd import Sshd

from tare.environments import PROVIDERS
from tare.environments.libvirt.daemon import OwnDaemon
from tare.environments.libvirt.once import processor_count
from tare.environments.libvirt.virsh import Virsh
from tare.environments.managed.machine import wait_for
from tare.errors import NodeError
from tare.host import process
from tare.image.store import Image
from tare.measure.running import NodeTimes, running_nodes
from tare.node_life import stop_node
from tare.nodes.provider import NodeSpec
from tare.nodes.record import write_down

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and cgroups"),
    pytest.mark.skipif(shutil.which("libvirtd") is None, reason="apt-get install libvirt-daemon"),
]
PROVIDER = PROVIDERS["libvirt"]
DOMAIN = "test"


@pytest.fixture
def virsh(state: Path) -> Iterator[Virsh]:
    """A hypervisor with one domain, which runs; it is there as long as somebody is connected."""
    assert state
    daemon = OwnDaemon.of(f"tare-test-{secrets.token_hex(4)}")
    daemon.start([])
    result = Virsh(f"test+unix:///default?socket={daemon.state}/libvirt-sock")
    listening = result.argv("event", "--loop", "--event", "lifecycle")
    with subprocess.Popen(
        listening, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=process.tool_environment()
    ) as holder:
        try:
            wait_for(lambda: _is_kept_off(result), 20, "the hypervisor that somebody keeps", pause_s=0.05)
            yield result
        finally:
            holder.terminate()
            os.kill(int((daemon.state / "libvirtd.pid").read_text()), 15)
            holder.wait(timeout=20)
            daemon.remove()


def _is_kept_off(virsh: Virsh) -> bool:
    """Whether the domain stays off: without anybody else connected, the next one would find all as in the beginning."""
    if virsh.is_on(DOMAIN):
        virsh.ask("destroy", DOMAIN)
    return not virsh.is_on(DOMAIN)


@pytest.fixture
def spec(virsh: Virsh, sshd: Sshd, far: Path, image: Image, state: Path) -> Iterator[NodeSpec]:
    options = {**sshd.reach(far), "connection": virsh.uri, "domain": DOMAIN}
    made = far_spec(options, image, state, technology="libvirt", processors=(0,), cpu_quota=None)
    yield made
    stop_node(made, PROVIDER)
    assert leftovers(far, made.name) == []


def test_a_node_runs_in_the_domain_which_has_its_limits_for_once(spec: NodeSpec, virsh: Virsh) -> None:
    times = NodeTimes()
    with running_nodes([spec], PROVIDERS, times) as (node,):
        assert virsh.is_on(DOMAIN)
        said = inside(node, "sh", "-c", "cat; exit 7", given=b"through")
        group = PROVIDER.group(node)
        assert group is not None
        held = group.settings()
        live = processor_count(virsh.ask("dumpxml", DOMAIN))
    assert times.problems == []
    assert (said.returncode, said.stdout) == (7, b"through")
    assert (held.processors, held.memory_byte, held.cpu_quota) == ((0,), spec.memory_byte, None)
    assert (live, processor_count(virsh.ask("dumpxml", "--inactive", DOMAIN))) == (1, 2)
    assert not virsh.is_on(DOMAIN)
    assert "TEST" in node.facts["libvirt"]


def test_a_domain_that_runs_is_left_alone(spec: NodeSpec, virsh: Virsh) -> None:
    virsh.ask("start", DOMAIN)
    write_down(spec)
    with pytest.raises(NodeError, match="test is on already"):
        PROVIDER.start(spec)
    stop_node(spec, PROVIDER)
    assert virsh.is_on(DOMAIN)


def test_a_domain_that_is_not_there_is_told_by_the_probe_and_by_the_start(
    spec: NodeSpec, virsh: Virsh
) -> None:
    provider = PROVIDER.configured({"connection": virsh.uri, "domain": [DOMAIN, "nobody"]})
    assert "has no domain nobody" in provider.probe().reason
    assert PROVIDER.configured({"connection": virsh.uri, "domain": DOMAIN}).probe().usable
    missing = replace(spec, options={**spec.options, "domain": "nobody"})
    write_down(missing)
    with pytest.raises(NodeError, match="failed to get domain 'nobody'"):
        PROVIDER.start(missing)


def test_a_quota_that_this_hypervisor_cannot_keep_is_found_by_the_check(spec: NodeSpec, virsh: Virsh) -> None:
    times = NodeTimes()
    asked = replace(spec, cpu_quota=0.5)
    with running_nodes([asked], PROVIDERS, times) as (node,):
        group = PROVIDER.group(node)
        assert group is not None
        assert group.settings().cpu_quota is None
    assert not virsh.is_on(DOMAIN)
