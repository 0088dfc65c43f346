# SPDX-License-Identifier: Apache-2.0
"""Domains of Tare's own on qemu:///session, for real: a libvirtd for each, and guests by software emulation."""

import os
import secrets
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.environment_example import described
from tests.fake_campaign import Listener

from tare.environments import PROVIDERS
from tare.environments.libvirt.daemon import OwnDaemon
from tare.errors import NodeError
from tare.host import process
from tare.host.cgroups import Settings, named_groups
from tare.host.facts import online_processors
from tare.host.mounts import mounts_below
from tare.image.store import Image
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.measure.running import NodeTimes, running_nodes
from tare.node_life import start_node, stop_node
from tare.nodes.provider import Bind, Node, NodeSpec
from tare.pipeline import run_campaign
from tare.plan.campaign import load_campaign
from tare.records import NATIVE, Status, Storage

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("guest_state")]
PROVIDER = PROVIDERS["libvirt"]
MEBIBYTE = 1 << 20
CAMPAIGN = """\
name = "by-libvirt"
blocks = 1

[limits]
memory = "256 MiB"
shm = "16 MiB"
time = "60s"

[[environment]]
technology = "libvirt"
name = "paravirtual"
accelerator = "tcg"

[[environment]]
technology = "libvirt"
name = "emulated"
accelerator = "tcg"
devices = "emulated"
network = "default"

[[workload]]
kind = "command"
name = "burn"
argv = ["{tools}/burn", "1000000"]
"""


@pytest.fixture
def spec(image: Image, guest_state: Path) -> Iterator[NodeSpec]:
    """A paravirtual guest, of which nothing may be left."""
    name = f"tare-test-{secrets.token_hex(4)}"
    made = described(
        guest_state / "nodes" / name,
        name=name,
        technology="libvirt",
        options={"accelerator": "tcg"},
        image_root=image.root,
        image_digest=image.digest,
        processors=(online_processors()[-1],),
        memory_byte=256 * MEBIBYTE,
    )
    yield made
    left = leftovers(made)
    PROVIDER.stop(made)
    assert left == []


def leftovers(spec: NodeSpec) -> list[Path]:
    groups = named_groups(f"tare/{spec.name}").directories
    return [
        *mounts_below(spec.directory),
        *(path for path in (OwnDaemon.of(spec.name).folder, *groups) if path.exists()),
    ]


@contextmanager
def running(spec: NodeSpec) -> Iterator[Node]:
    times = NodeTimes()
    with running_nodes([spec], PROVIDERS, times) as (node,):
        yield node
    assert times.problems == []


def test_a_campaign_measures_both_kinds_of_guests(guest_state: Path, tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text(CAMPAIGN)
    campaign = load_campaign(tmp_path / "campaign.toml", host_processors=1, host_memory_byte=1 << 32)
    folder = ResultFolder(tmp_path / "result")
    analysis = run_campaign(Request(campaign=campaign, folder=folder), Listener())
    reasons = [outcome.reason for outcome in analysis.outcomes if outcome.status is not Status.OK]
    assert reasons == []
    result = {outcome.trial.environment.name: outcome.facts for outcome in analysis.outcomes if outcome.facts}
    assert set(result) == {NATIVE, "paravirtual", "emulated"}
    for kind, disk, link in (("paravirtual", "virtio_blk", "none"), ("emulated", "ata_piix", "e1000")):
        facts = result[kind]
        assert (facts["disk driver"], facts["network driver"]) == (disk, link)
        assert facts["memory limit"] == f"{256 * MEBIBYTE} byte"
        assert facts["accelerator"] == "TCG, software emulation: says nothing about KVM"
        assert "qemu:///session" in facts["libvirt"]
    assert result["emulated"]["virtio devices"] == "none"
    assert list((guest_state / "nodes").iterdir()) == []
    assert list(Path("/run").glob(f"tare-{analysis.sessions[0].identity}-*")) == []


def test_what_serves_the_guest_is_in_its_group_and_a_killed_qemu_is_told(spec: NodeSpec) -> None:
    with running(spec) as node:
        helpers = {Path(f"/proc/{pid}/comm").read_text().strip() for pid in PROVIDER.helpers(node)}
        assert {"libvirtd", "qemu-system-x86", "keeper"} <= helpers
        (thread,) = PROVIDER.virtual_processors(node)
        assert os.sched_getaffinity(thread) == set(spec.processors)
        assert node.init_pid is not None
        assert Path(f"/proc/{node.init_pid}/task/{thread}").exists()
        group = PROVIDER.group(node)
        assert group is not None
        assert group.memory_kills() == 0
        waiting = subprocess.Popen(
            [*PROVIDER.prefix(node), "sh", "-c", "echo runs; exec sleep 60"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=process.tool_environment(),
        )
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == b"runs\n"
        os.kill(node.init_pid, signal.SIGKILL)
        said = waiting.communicate(timeout=20)[1].decode()
        assert waiting.returncode == 125
        assert "the guest is gone" in said
        with pytest.raises(NodeError, match=r"the guest's console: .*; QEMU's log: "):
            group.memory_kills()


def test_a_node_that_cannot_start_is_taken_away(spec: NodeSpec) -> None:
    whole = replace(spec, options={"accelerator": "tcg", "kernel": "/no/such/kernel"})
    with pytest.raises(NodeError, match="/no/such/kernel"):
        start_node(whole, PROVIDER)
    stop_node(whole, PROVIDER)


def test_files_pass_and_a_run_that_knows_its_record_alone_takes_the_node_away(
    spec: NodeSpec, tmp_path: Path
) -> None:
    (tmp_path / "bound").mkdir()
    binds = (Bind(path=tmp_path / "bound", writable=True),)
    odd_byte = spec.memory_byte + 12288
    whole = replace(spec, binds=binds, storage=Storage.DISK, memory_byte=odd_byte)
    node = start_node(whole, PROVIDER)
    (whole.work / "given").write_text("through")
    PROVIDER.send(node, ["given"])
    script = f"cat given > taken; cp given {tmp_path}/bound/there; grep ' / ' /proc/mounts"
    done = process.run([*PROVIDER.prefix(node), "sh", "-c", f"cd {node.work_directory} && {script}"])
    PROVIDER.fetch(node, ["taken", "missing"])
    taken = (whole.work / "taken").read_text()
    group = PROVIDER.group(node)
    assert group is not None
    assert group.settings() == Settings(processors=spec.processors, memory_byte=odd_byte, cpu_quota=None)
    stop_node(whole, PROVIDER.configured({}))
    assert (done.code, "overlay" in done.stdout) == (0, True), done.stderr
    assert taken == "through"
    assert (tmp_path / "bound" / "there").read_text() == "through"
    assert not whole.directory.exists()
