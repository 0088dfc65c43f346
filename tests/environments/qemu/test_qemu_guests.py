# SPDX-License-Identifier: Apache-2.0
"""Real guests by software emulation: their devices are those asked for, seen from inside; limits and threads hold."""

import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.environment_example import inspected
from tests.environments.qemu.qemu_guests import (
    EMULATED,
    MEBIBYTE,
    PARAVIRTUAL,
    guest_spec,
    inside,
    told,
)
from tests.network.namespaces import AS_ROOT
from tests.real_environments import lend_guest_parts

from tare.environments.qemu import Qemu, boot, monitor
from tare.environments.qemu import inside as seen_inside
from tare.environments.qemu.options import Devices, QemuOptions
from tare.errors import NodeError
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.running import NodeTimes, running_nodes
from tare.network import describe, plan_networks
from tare.nodes.provider import Bind, Node
from tare.records import NetworkKind, Storage

pytestmark = AS_ROOT


@pytest.fixture(scope="module", params=[PARAVIRTUAL, EMULATED], ids=["paravirtual", "emulated"])
def guest(
    request: pytest.FixtureRequest, image: Image, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Node]:
    """One of each kind for all tests here, which leave it as it was."""
    state = tmp_path_factory.mktemp("guests") / "state"
    provider = Qemu(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TARE_STATE", str(state))
        lend_guest_parts(state)
        probe = provider.probe()
        if not probe.usable:
            pytest.skip(f"qemu: {probe.reason}; {probe.remedy}")
        spec = guest_spec(
            image, state, request.param, processors=online_processors(), memory_byte=384 * MEBIBYTE
        )
        times = NodeTimes()
        with running_nodes([spec], {"qemu": provider}, times) as (node,):
            yield node
        assert times.problems == []


def test_devices_are_those_asked_for_seen_from_inside(guest: Node) -> None:
    disk = told(guest, "sh", "-c", "readlink -f /sys/block/[vs]da")
    if guest.facts["devices"] == "paravirtual":
        assert (guest.facts["disk driver"], "/virtio" in disk) == ("virtio_blk", True)
        assert "virtio_console" in guest.facts["virtio devices"]
    else:
        assert (guest.facts["disk driver"], "/ata" in disk) == ("ata_piix", True)
        assert guest.facts["virtio devices"] == "none"
        assert "hypervisor" not in told(guest, "cat", "/proc/cpuinfo")
    assert guest.facts["network driver"] == "none"
    assert guest.facts["accelerator"] == "TCG, software emulation: says nothing about KVM"


@pytest.mark.usefixtures("guest_state")
def test_a_guest_of_the_other_kind_is_refused(guest: Node) -> None:
    seen = seen_inside.look(Qemu().prefix(guest))
    machine = boot.plan(guest.spec)
    other = next(kind for kind in Devices if kind is not machine.options.devices)
    wrong = replace(machine, options=QemuOptions.of({"devices": str(other)}))
    seen_inside.verify(machine, seen)
    with pytest.raises(NodeError, match=r"not as asked \((para|emu).*no disk has the driver"):
        seen_inside.verify(wrong, seen)


def test_the_limits_are_verified_as_in_every_environment(guest: Node) -> None:
    group, facts, _ = inspected(Qemu(), guest)
    assert group is not None
    assert group.settings().memory_byte == guest.spec.memory_byte
    assert group.settings().processors == guest.spec.processors
    assert group.memory_kills() == 0
    assert facts["online processors inside"] == str(len(guest.spec.processors))


def test_each_processor_is_a_thread_on_one_of_the_hosts(guest: Node) -> None:
    virtual_processors = Qemu().virtual_processors(guest)
    assert [monitor.run_on([thread]) for thread in virtual_processors] == [
        (processor,) for processor in guest.spec.processors
    ]
    assert guest.init_pid is not None
    assert all(Path(f"/proc/{guest.init_pid}/task/{thread}").exists() for thread in virtual_processors)


def test_qemu_and_the_keeper_serve_it_and_nobody_else(guest: Node) -> None:
    names = sorted(Path(f"/proc/{pid}/comm").read_text().strip() for pid in Qemu().helpers(guest))
    assert names == ["keeper", "qemu-system-x86"]


def test_there_is_no_network_where_none_was_asked_for(guest: Node) -> None:
    lines = told(guest, "cat", "/proc/net/dev").splitlines()
    assert [line.partition(":")[0].strip() for line in lines if ":" in line] == ["lo"]


def test_entering_takes_milliseconds(guest: Node) -> None:
    """Below 10 ms on an idle machine, which this need not be; whatever began anew in the guest would take longer."""
    took = []
    for _ in range(15):
        begun = time.monotonic()
        inside(guest, "/opt/tare/bin/join")
        took.append(time.monotonic() - begun)
    assert statistics.median(took) < 0.2


def test_its_clock_tells_the_hosts_time(guest: Node) -> None:
    assert abs(float(told(guest, "date", "+%s.%N")) - time.time()) < 2.0


def test_disk_layer_user_network_and_bound_folders_of_odd_names_work(
    provider: Qemu, image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is unusual, in one guest with paravirtual devices."""
    state = tmp_path / 'sta te,"'
    monkeypatch.setenv("TARE_STATE", str(state))
    lend_guest_parts(state)
    binds = [Bind(path=tmp_path / "a,b"), Bind(path=tmp_path / 'ünï"', writable=True)]
    for bind in binds:
        bind.path.mkdir()
        (bind.path / "file").write_text("found")
    (network,) = plan_networks(NetworkKind.DEFAULT, [state], None)
    first = online_processors()[0]
    spec = guest_spec(
        image,
        state,
        {"accelerator": "tcg", "vmm_processors": str(first)},
        binds=tuple(binds),
        storage=Storage.DISK,
        network=network,
    )
    times = NodeTimes()
    with running_nodes([spec], {"qemu": provider}, times) as (node,):
        assert told(node, "findmnt", "-n", "-o", "FSTYPE,SOURCE", "-T", node.work_directory) != ""
        assert "/dev/vdb / ext4" not in told(node, "cat", "/proc/mounts")
        assert [told(node, "cat", f"{bind.path}/file") for bind in binds] == ["found", "found"]
        assert inside(node, "touch", f"{binds[0].path}/new").returncode != 0
        assert inside(node, "touch", f"{binds[1].path}/new").returncode == 0
        assert describe(node) == {"network": "default (10.0.2.15/24)"}
        assert node.facts["network driver"] == "virtio_net"
        others = set(map(int, os.listdir(f"/proc/{node.init_pid}/task"))) - set(  # noqa: PTH208 - names are wanted
            provider.virtual_processors(node)
        )
        assert monitor.run_on(sorted(others)) == (first,)
        inspected(provider, node)
    assert times.problems == []
    assert (binds[1].path / "new").exists()
    assert not (binds[0].path / "new").exists()


def test_by_virtiofs_two_guests_see_at_once_what_the_other_writes(
    provider: Qemu, image: Image, guest_state: Path, tmp_path: Path
) -> None:
    shared = tmp_path / 'a,b\\c"'
    shared.mkdir()
    options = {**PARAVIRTUAL, "share": "virtiofs"}
    binds = (Bind(path=shared, writable=True),)
    specs = [guest_spec(image, guest_state, options, binds=binds) for _ in range(2)]
    times = NodeTimes()
    with running_nodes(specs, {"qemu": provider}, times) as (first, second):
        assert told(second, "findmnt", "-n", "-o", "FSTYPE", str(shared)) == "virtiofs"
        for text in ("short", "much longer than before"):
            told(first, "sh", "-c", 'printf %s "$0" > "$1"', text, f"{shared}/file")
            assert told(second, "cat", f"{shared}/file") == text
            assert (shared / "file").read_text() == text
        inspected(provider, first)
    assert times.problems == []
    assert not any(spec.directory.exists() for spec in specs)


def test_ahci_a_link_and_its_route_work_with_emulated_devices(
    provider: Qemu, image: Image, guest_state: Path
) -> None:
    spec = guest_spec(image, guest_state, {**EMULATED, "machine": "q35"}, storage=Storage.DISK)
    (network,) = plan_networks(NetworkKind.VETH, [spec.directory], 0.005)
    spec = replace(spec, network=network)
    times = NodeTimes()
    with running_nodes([spec], {"qemu": provider}, times) as (node,):
        assert (node.facts["disk driver"], node.facts["network driver"]) == ("ahci", "e1000")
        assert "rto_min lock 5ms" in told(node, "ip", "route", "show", "198.18.0.0/16")
        assert describe(node) == {"network": "veth, 198.18.0.10/16, rto_min 5 ms"}
        inspected(provider, node)
    assert times.problems == []
