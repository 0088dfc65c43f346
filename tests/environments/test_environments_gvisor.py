# SPDX-License-Identifier: Apache-2.0
"""gVisor: what runsc is told, and what its nodes do differently, for real where runsc is."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.contract.contract_nodes import execute, running
from tests.environments.environment_example import MEBIBYTE, described, inspected
from tests.real_environments import ready_provider

from tare.environments import gvisor
from tare.environments.gvisor import Gvisor
from tare.errors import NodeError
from tare.host.cgroups import V2, Group, group_of
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.counted import cpu_ns
from tare.network import plan_networks
from tare.nodes.group import SandboxGroup
from tare.nodes.provider import Bind, Node, NodeNetwork, NodeSpec, Provider
from tare.records import NetworkKind, OptionValue
from tare.workloads.kind import Shape
from tare.workloads.mpi import CLOCK_FAULT, preflight

SHARED = NodeNetwork(kind=NetworkKind.HOST)
ALONE = ("env", "OMPI_MCA_ess_singleton_isolated=1", "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=self")
"""How Open MPI starts one process without a daemon, so that its clock is read as early as can be."""


def mounts_of(spec: NodeSpec, root: Path) -> Mapping[str, Any]:
    return {mount["destination"]: mount for mount in gvisor.configuration(spec, root)["mounts"]}


def network_of(spec: NodeSpec) -> list[dict[str, str]]:
    document = gvisor.configuration(spec, Path("/root"))["linux"]["namespaces"]
    return [namespace for namespace in document if namespace["type"] == "network"]


class TestBundle:
    def test_it_has_the_network_that_was_made_for_it_or_the_hosts_or_an_empty_one(self) -> None:
        made = NodeNetwork(namespace=Path("/nodes/tare-1/network"))
        assert network_of(described(network=made)) == [{"type": "network", "path": "/nodes/tare-1/network"}]
        assert network_of(described(network=SHARED)) == []
        assert network_of(described(network=NodeNetwork(kind=NetworkKind.DEFAULT))) == [{"type": "network"}]

    def test_bound_folders_are_guarded_unless_asked_and_keep_their_names(self, tmp_path: Path) -> None:
        binds = (Bind(path=Path("/data/in,put")), Bind(path=Path('/data/o"ut'), writable=True))
        mounts = mounts_of(described(binds=binds), tmp_path)
        assert mounts["/data/in,put"]["options"] == ["rbind", "ro"]
        assert mounts['/data/o"ut']["options"] == ["rbind", "rw"]
        assert mounts["/mnt/tare"]["source"] == "/state/nodes/tare-1/layer/work"

    def test_shm_has_the_size_that_was_asked_for(self, tmp_path: Path) -> None:
        assert f"size={16 * MEBIBYTE}" in mounts_of(described(), tmp_path)["/dev/shm"]["options"]

    def test_tmp_lies_where_the_rest_lies_but_never_behind_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "plain" / "tmp").mkdir(parents=True)
        (tmp_path / "linked").mkdir()
        (tmp_path / "linked" / "tmp").symlink_to("/var/tmp")
        own = described(options={"storage": "own"})
        assert mounts_of(described(), tmp_path / "plain")["/tmp"]["source"] == f"{tmp_path}/plain/tmp"
        assert "/tmp" not in mounts_of(described(), tmp_path / "linked")
        assert "/tmp" not in mounts_of(own, tmp_path / "plain")


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "wrong"),
        [
            ({}, set()),
            ({"platform": "ptrace", "storage": "own", "runsc": "/opt/runsc"}, set()),
            ({"platform": "magic"}, {"platform"}),
            ({"storage": "elsewhere"}, {"storage"}),
            ({"runsc": 1}, {"runsc"}),
            ({"runsc": ""}, {"runsc"}),
        ],
    )
    def test_a_wrong_value_is_named(self, options: Mapping[str, OptionValue], wrong: set[str]) -> None:
        assert set(Gvisor().check_options(options)) == wrong

    def test_a_node_with_a_wrong_option_makes_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(NodeError, match="platform must be one of systrap, ptrace, kvm"):
            Gvisor().start(described(tmp_path, options={"platform": "magic"}))
        assert list(tmp_path.iterdir()) == []

    def test_a_retransmission_timeout_is_refused_as_it_could_not_act(self, tmp_path: Path) -> None:
        network = NodeNetwork(kind=NetworkKind.VETH, rto_min_s=0.002)
        with pytest.raises(NodeError, match="a TCP of its own"):
            Gvisor().start(described(tmp_path, network=network))
        assert list(tmp_path.iterdir()) == []

    def test_own_storage_is_runscs_default_and_else_it_is_the_layer(self) -> None:
        layered = gvisor._Runsc(program="/runsc", platform="systrap", own_storage=False)
        own = gvisor._Runsc(program="/runsc", platform="systrap", own_storage=True)
        assert "--overlay2=none" in layered.run(described())
        assert not any("overlay" in word for word in own.run(described()))

    def test_only_the_hosts_network_is_passed_through(self) -> None:
        runsc = gvisor._Runsc(program="/runsc", platform="systrap", own_storage=False)
        assert "--network=sandbox" in runsc.run(described())
        assert "--network=host" in runsc.run(described(network=SHARED))


class TestProbe:
    @pytest.fixture
    def runsc(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A stand-in that knows its version; what it does else is the test's."""
        monkeypatch.setattr("tare.nodes.confined.os.geteuid", lambda: 0)
        return tmp_path / "runsc"

    def write(self, runsc: Path, last: str) -> Gvisor:
        lines = ["#!/bin/sh", 'case "$*" in --version) echo runsc version 7; exit;; esac', last]
        runsc.write_text("\n".join(lines))
        runsc.chmod(0o755)
        return Gvisor({"runsc": str(runsc), "platform": "kvm"})

    def test_a_missing_runsc_names_the_script_that_builds_it(self, runsc: Path) -> None:
        probe = Gvisor({"runsc": str(runsc)}).probe()
        assert not probe.usable
        assert "scripts/build-runsc" in probe.remedy

    def test_a_sandbox_that_works_gives_the_version(self, runsc: Path) -> None:
        probe = self.write(runsc, "exit 0").probe()
        assert (probe.usable, probe.version) == (True, "runsc version 7")

    def test_a_sandbox_that_fails_gives_its_reason(self, runsc: Path) -> None:
        probe = self.write(runsc, "echo no such device >&2; exit 128").probe()
        assert (probe.usable, probe.reason) == (False, "a sandbox fails: no such device")

    def test_a_sandbox_that_hangs_is_ended_and_told(
        self, runsc: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gvisor, "_TRIAL_LIMIT_S", 0.3)
        probe = self.write(runsc, "sleep 60").probe()
        assert not probe.usable
        assert "platform kvm does not get to its first program" in probe.reason


class TestOwnKernel:
    def test_the_hosts_numbers_become_those_of_the_node(self) -> None:
        spec = described(processors=(2, 5, 7))
        sandboxed = Node(spec=spec, init_pid=1, own_kernel=True)
        assert sandboxed.numbered_inside((5, 7)) == (1, 2)
        assert Node(spec=spec, init_pid=1).numbered_inside((5, 7)) == (5, 7)

    def test_a_sandbox_outside_the_group_is_not_held_by_it(self, tmp_path: Path) -> None:
        group = Group(V2, {"cpu": tmp_path, "memory": tmp_path})
        (tmp_path / "cgroup.procs").write_text("12\n")
        assert SandboxGroup(group, 12).lacks(3) == []
        assert SandboxGroup(group, 13).lacks(3) is None


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.parametrize("provider", ["gvisor"], indirect=True)
class TestRealNode:
    @pytest.fixture
    def provider(self, request: pytest.FixtureRequest, image: Image) -> Provider:
        return ready_provider(request, image)

    def spec(
        self, image: Image, state: Path, options: Mapping[str, OptionValue] | None = None, **changes: object
    ) -> NodeSpec:
        directory = state / "nodes" / f"tare-test-{secrets.token_hex(4)}"
        (network,) = plan_networks(NetworkKind.NONE, [directory], None)
        values: dict[str, object] = {
            "name": directory.name,
            "technology": "gvisor",
            "options": options or {},
            "image_root": image.root,
            "image_digest": image.digest,
            "processors": (online_processors()[-1],),
            "network": network,
        }
        return described(directory, **{**values, **changes})

    @pytest.mark.parametrize("platform", ["systrap", "ptrace"])
    def test_it_runs_on_a_platform_and_says_which(
        self, provider: Provider, platform: str, image: Image, state: Path
    ) -> None:
        with running(provider, self.spec(image, state, {"platform": platform})) as (node,):
            kernel = execute(provider, node, "uname", "-v").stdout
            assert node.facts["gVisor"].endswith(f", platform {platform}")
        assert os.uname().version not in kernel.decode()

    def test_kvm_runs_or_the_probe_tells_that_it_does_not(
        self, provider: Provider, image: Image, state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gvisor, "_TRIAL_LIMIT_S", 3.0)
        probe = provider.configured({"platform": "kvm"}).probe()
        if probe.usable:
            with running(provider, self.spec(image, state, {"platform": "kvm"})) as (node,):
                assert execute(provider, node, "true").returncode == 0
                assert provider.helpers(node) == []
        else:
            assert probe.reason.startswith("a sandbox ")

    def test_its_limits_are_verified_though_it_numbers_its_processors_itself(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        asked: list[float] = []
        with running(provider, self.spec(image, state, cpu_quota=0.5)) as (node,):
            facts = inspected(provider, node, asked.append).facts
        assert facts["processors"] == "0"
        assert facts["CPU quota"] == "0.5 processors"

    def test_all_that_is_written_lies_in_the_layer(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        with running(provider, self.spec(image, state)) as (node,):
            execute(provider, node, "touch", "/root/mark", "/tmp/mark")
            upper = node.spec.directory / "layer" / "upper"
            assert (upper / "root" / "mark").exists()
            assert (upper / "tmp" / "mark").exists()

    def test_own_storage_keeps_what_is_written_from_layer_and_image(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        with running(provider, self.spec(image, state, {"storage": "own"})) as (node,):
            seen = execute(provider, node, "sh", "-c", "echo x >/root/mark; cat /root/mark").stdout
            assert not (node.spec.directory / "layer" / "upper" / "root" / "mark").exists()
        assert seen == b"x\n"
        assert not (image.root / "root" / "mark").exists()
        assert list(image.root.glob(".gvisor*")) == []

    def test_the_programs_own_instructions_do_not_count_as_the_sentrys(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        with running(provider, self.spec(image, state)) as (node,):
            assert node.init_pid is not None
            helpers, group = provider.helpers(node), group_of(node.init_pid)
            assert node.init_pid in helpers
            before_s, before_ns = group.cpu_s() or 0.0, [cpu_ns(pid) or 0 for pid in helpers]
            execute(provider, node, f"{node.tools_directory}/burn", "500000000")
            after_s, after_ns = group.cpu_s() or 0.0, [cpu_ns(pid) or 0 for pid in helpers]
        assert 0 < (sum(after_ns) - sum(before_ns)) * 1e-9 < (after_s - before_s) / 2

    def test_mpi_starts_in_one_node_without_a_network(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        with running(provider, self.spec(image, state)) as (node,):
            inspected(provider, node)
            shape = Shape(
                processors=2, memory_byte=MEBIBYTE, instance=0, tools_directory=node.tools_directory
            )
            done = execute(provider, node, *preflight(shape))
        assert (done.returncode, b'"processes":2' in done.stdout) == (0, True), done.stderr

    def test_the_first_second_of_a_node_stops_the_clock_of_mpi_and_waiting_it_out_cures_that(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        with running(provider, self.spec(image, state)) as (node,):
            probe = [*ALONE, f"{node.tools_directory}/mpiprobe"]
            early = execute(provider, node, *probe)
            inspected(provider, node)
            late = execute(provider, node, *probe)
        assert early.returncode == CLOCK_FAULT
        assert b"counted 0.000000 s" in early.stderr
        assert late.returncode == 0, late.stderr

    def test_nothing_of_runscs_stays(self, provider: Provider, image: Image, state: Path) -> None:
        spec = self.spec(image, state)
        with running(provider, spec):
            assert Path("/run", spec.name).exists()
        assert not Path("/run", spec.name).exists()
        assert not spec.directory.exists()
