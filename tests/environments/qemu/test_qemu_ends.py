# SPDX-License-Identifier: Apache-2.0
"""Guests that end in the middle of a trial, or never begin: a failed trial with its reason, and nothing left."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.environments.qemu.qemu_guests import MEBIBYTE, guest_spec
from tests.machine import Machine
from tests.network.namespaces import AS_ROOT

from tare.environments import PROVIDERS
from tare.environments.qemu import Qemu, boot
from tare.environments.qemu.accelerator import boots, kvm_obstacle
from tare.environments.qemu.host import qemu_version
from tare.environments.qemu.options import Accelerator
from tare.errors import NodeError
from tare.guests.boot import DiskLayer
from tare.guests.kernel import find_kernel
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.trial import run_trial
from tare.nodes.provider import Bind, Node, NodeNetwork
from tare.records import Environment, Layout, Limits, NetworkKind, Outcome, Status, Trial, Workload

pytestmark = AS_ROOT


class Watched(Qemu):
    """Knows the nodes that it starts, so that a test can reach their processes."""

    nodes: list[Node]

    def start(self, spec):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - as the base
        node = super().start(spec)
        self.nodes.append(node)
        return node

    def left(self) -> list[str]:
        """What this machine still has of them, whatever else is at work on it; the kernel removes some things late."""
        assert self.nodes
        deadline = time.monotonic() + 10
        while (result := list(filter(self.has_named, Machine.look().things))) and time.monotonic() < deadline:
            time.sleep(0.1)
        return result

    def has_named(self, thing: str) -> bool:
        return any(node.spec.name in thing for node in self.nodes)


@pytest.fixture
def watched(provider: Qemu) -> Watched:
    result = Watched(provider.options)
    result.nodes = []
    return result


def outcome(
    image: Image, folder: Path, provider: Qemu, argv: list[str], tick: Callable[[], None] = lambda: None
) -> Outcome:
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=folder / "raw",
        available_processors=online_processors(),
        providers={**PROVIDERS, "qemu": provider},
        tick=tick,
    )
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="e", technology="qemu", options=provider.options),
        replicate=0,
        layout=Layout.parse("1c1p1i"),
        workload=Workload(name="w", kind="command", options={"argv": argv}),
        limits=Limits(memory_byte=256 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0),
    )
    return run_trial(context, trial)


class TestInMidTrial:
    @pytest.mark.parametrize("victim", ["qemu-system-x86", "keeper"])
    def test_a_killed_process_of_the_machine_fails_the_trial(
        self, victim: str, watched: Watched, image: Image, tmp_path: Path
    ) -> None:
        def kill() -> None:
            for node in watched.nodes:
                for pid in watched.helpers(node):
                    if Path(f"/proc/{pid}/comm").read_text().strip() == victim:
                        os.kill(pid, signal.SIGKILL)

        result = outcome(image, tmp_path, watched, ["sleep", "600"], kill)
        assert result.status is Status.FAILED
        assert result.reason is not None
        why = {
            "keeper": "keeper ended",
            "qemu-system-x86": "the guest is gone: qemu-system-x86_64 ended by signal 9",
        }
        assert why[victim] in result.reason
        assert "time limit" not in result.reason
        assert "not stopped cleanly" not in result.facts
        assert watched.left() == []

    def test_a_panic_of_the_guests_kernel_fails_the_trial(
        self, watched: Watched, image: Image, tmp_path: Path
    ) -> None:
        result = outcome(image, tmp_path, watched, ["sh", "-c", "echo c > /proc/sysrq-trigger"])
        assert result.status is Status.FAILED
        assert "the guest is gone" in (result.reason or "")
        assert "Kernel panic - not syncing: sysrq triggered crash" in (result.reason or "")
        assert watched.left() == []

    def test_too_much_memory_is_the_limits_fault(
        self, watched: Watched, image: Image, tmp_path: Path
    ) -> None:
        burn = ["/opt/tare/bin/burn", "--touch", str(400 * MEBIBYTE)]
        result = outcome(image, tmp_path, watched, burn)
        assert result.status is Status.FAILED
        assert result.reason == (
            "the node's memory limit of 256 MiB killed a process; give it more memory or less work"
        )
        assert watched.left() == []


class TestNoStart:
    def test_a_disk_of_another_kind_is_told_in_the_guests_own_words(
        self, provider: Qemu, image: Image, guest_state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(boot, "MemoryLayer", lambda **_: DiskLayer(device="/dev/vda"))
        self.refused(
            provider, image, guest_state, r"does not get ready: .*console: tare: the guest ends: .*/dev/vda"
        )

    def test_emulated_devices_share_no_folder(self, provider: Qemu, image: Image, guest_state: Path) -> None:
        options = {"options": {"devices": "emulated"}, "binds": (Bind(path=guest_state),)}
        self.refused(provider, image, guest_state, r"paravirtual device.*leave binds out", **options)

    def test_virtiofs_serves_no_folder_that_the_guest_may_not_write(
        self, provider: Qemu, image: Image, guest_state: Path
    ) -> None:
        options = {"options": {"share": "virtiofs"}, "binds": (Bind(path=guest_state),)}
        self.refused(provider, image, guest_state, r"is to be read only: .* or choose share = 9p", **options)

    def test_too_little_memory_is_told_before_anything_starts(
        self, provider: Qemu, image: Image, guest_state: Path
    ) -> None:
        self.refused(provider, image, guest_state, r"needs 128 MiB", memory_byte=100 * MEBIBYTE)

    @pytest.mark.parametrize("kind", [NetworkKind.HOST, NetworkKind.MACVLAN])
    def test_networks_that_no_machine_can_have_are_refused_with_the_reason(
        self, provider: Qemu, image: Image, guest_state: Path, kind: NetworkKind
    ) -> None:
        network = NodeNetwork(kind=kind)
        self.refused(
            provider, image, guest_state, rf"no network {kind}: a guest.*choose veth", network=network
        )

    def test_the_network_of_user_space_has_one_node(
        self, provider: Qemu, image: Image, guest_state: Path
    ) -> None:
        network = NodeNetwork(kind=NetworkKind.DEFAULT)
        self.refused(provider, image, guest_state, r"one node", network=network, index=1)

    def test_huge_pages_that_nobody_reserved_are_refused(
        self, provider: Qemu, image: Image, guest_state: Path
    ) -> None:
        options = {"accelerator": "tcg", "huge_pages": True}
        size = (1 << 42) if os.sysconf("SC_PHYS_PAGES") else 0
        self.refused(provider, image, guest_state, r"huge pages", options=options, memory_byte=size)

    def test_processors_that_are_not_here_are_refused(
        self, provider: Qemu, image: Image, guest_state: Path
    ) -> None:
        options = {"accelerator": "tcg", "vmm_processors": "4095"}
        self.refused(provider, image, guest_state, r"vmm_processors names \[4095\]", options=options)

    def refused(self, provider: Qemu, image: Image, state: Path, words: str, **changes: object) -> None:
        times = NodeTimes()
        spec = guest_spec(image, state, **changes)  # type: ignore[arg-type]
        with pytest.raises(NodeError, match=words), running_nodes([spec], {"qemu": provider}, times):
            pytest.fail("it must not run")
        assert times.problems == []
        assert not spec.directory.exists()


class TestAccelerator:
    def test_the_smallest_guest_runs_by_software_emulation(self, provider: Qemu) -> None:  # noqa: ARG002 - it is ready
        """So what tries KVM works, whatever it finds."""
        assert boots(find_kernel(None), Accelerator.TCG, limit_s=60)

    def test_where_kvm_runs_no_guest_it_is_not_used_and_said(
        self, provider: Qemu, image: Image, guest_state: Path
    ) -> None:
        why = kvm_obstacle(find_kernel(None), qemu_version())
        if why is None:
            pytest.skip("KVM works here")
        assert f"{why}: software emulation will be used" in Qemu().probe().version
        asked = Qemu({"accelerator": "kvm"})
        assert not asked.probe().usable
        spec = guest_spec(image, guest_state, asked.options)
        with pytest.raises(NodeError, match=rf"{why}: choose accelerator"):
            provider.start(spec)
