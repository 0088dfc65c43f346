# SPDX-License-Identifier: Apache-2.0
"""The life of a machine, by the real govc on a simulated vCenter."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.environments.environment_example import MEBIBYTE, described
from tests.environments.vmware.simulated_vcenter import (
    CLUSTER_POOL,
    MEGAHERTZ,
    ORIGINAL,
    Vcenter,
    watched_govc,
)

from tare.environments.vmware.machine import VmwareMachine
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.nodes.provider import NodeSpec
from tare.records import OptionValue

WHOLE_BYTE = (512 + 512) * MEBIBYTE
"""What a machine gets for a node of 512 MiB."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a node with a name of its own."""
    made = tmp_path / f"tare-test-{secrets.token_hex(4)}"
    made.mkdir()
    return made


def spec_of(vcenter: Vcenter, folder: Path, quota: float | None = None, **options: OptionValue) -> NodeSpec:
    return described(folder, name=folder.name, options=vcenter.options(**options), cpu_quota=quota)


@pytest.fixture
def copy(vcenter: Vcenter, folder: Path) -> Iterator[VmwareMachine]:
    made = VmwareMachine(spec_of(vcenter, folder, quota=0.5))
    yield made
    made.switch_off()
    made.unmake()
    assert not made.exists()


def names(vcenter: Vcenter) -> set[str]:
    return {line.rpartition("/")[2] for line in vcenter.ask("find", "/", "-type", "m").splitlines()}


def settings_of(vcenter: Vcenter, folder: Path) -> dict[str, str]:
    """Those of the user's own machine."""
    return VmwareMachine(spec_of(vcenter, folder, clone="no")).settings()


class TestCopy:
    def test_a_copy_is_made_held_to_its_limits_switched_on_and_deleted(
        self, copy: VmwareMachine, vcenter: Vcenter
    ) -> None:
        before = names(vcenter)
        copy.make()
        assert not copy.is_on()
        copy.switch_on()
        assert copy.is_on()
        assert copy.holds() == Settings(processors=(0, 2, 3), memory_byte=WHOLE_BYTE, cpu_quota=0.5)
        facts = copy.facts()
        assert facts["hypervisor"].startswith("VMware ESXi")
        assert facts["hypervisor's CPU limit"] == f"{MEGAHERTZ // 2} MHz, of {MEGAHERTZ} MHz a processor"
        copy.switch_off()
        copy.switch_off()
        assert not copy.is_on()
        copy.unmake()
        copy.unmake()
        assert names(vcenter) == before

    def test_a_copy_is_deleted_by_a_process_that_knows_its_record_alone(
        self, copy: VmwareMachine, vcenter: Vcenter
    ) -> None:
        copy.make()
        copy.switch_on()
        other = VmwareMachine(copy.spec)
        other.switch_off()
        other.unmake()
        assert copy.name not in names(vcenter)

    def test_a_copy_says_whose_it_is(self, copy: VmwareMachine, vcenter: Vcenter) -> None:
        copy.make()
        assert "Made by Tare" in vcenter.ask("vm.info", "-json", copy.name)

    def test_a_foreign_machine_of_the_same_name_is_refused_and_kept(
        self, vcenter: Vcenter, folder: Path
    ) -> None:
        placed = ("-pool", "/DC0/host/DC0_H0/Resources", "-ds", "LocalDS_0")
        vcenter.ask("vm.clone", "-vm", ORIGINAL, "-on=false", *placed, folder.name)
        machine = VmwareMachine(spec_of(vcenter, folder))
        with pytest.raises(NodeError, match="already, and it is not this node's"):
            machine.make()
        machine.unmake()
        assert folder.name in names(vcenter)
        vcenter.ask("vm.destroy", folder.name)

    def test_a_linked_copy_is_made_of_a_snapshot(self, vcenter: Vcenter, folder: Path) -> None:
        vcenter.ask("snapshot.create", "-vm", "DC0_H0_VM1", "ready")
        machine = VmwareMachine(spec_of(vcenter, folder, vm="DC0_H0_VM1", clone="linked", snapshot="ready"))
        machine.make()
        assert machine.exists()
        machine.unmake()
        vcenter.ask("snapshot.remove", "-vm", "DC0_H0_VM1", "ready")

    def test_a_missing_snapshot_is_told_and_nothing_stays(self, vcenter: Vcenter, folder: Path) -> None:
        machine = VmwareMachine(spec_of(vcenter, folder, clone="linked", snapshot="nowhere"))
        with pytest.raises(NodeError, match=r"govc vm\.clone failed: .*snapshot"):
            machine.make()
        machine.unmake()
        assert folder.name not in names(vcenter)

    def test_reserved_is_all_that_the_machine_may_use(self, vcenter: Vcenter, folder: Path) -> None:
        machine = VmwareMachine(spec_of(vcenter, folder, reserve=True))
        machine.make()
        assert machine.facts()["reserved by the hypervisor"] == f"{3 * MEGAHERTZ} MHz, 1024 MiB"
        assert machine.holds().cpu_quota is None
        machine.unmake()


class TestMachineItself:
    def test_the_users_machine_gets_its_own_settings_back(self, vcenter: Vcenter, folder: Path) -> None:
        before = settings_of(vcenter, folder)
        machine = VmwareMachine(spec_of(vcenter, folder, quota=1.5, clone="no"))
        machine.make()
        assert machine.name == ORIGINAL
        assert settings_of(vcenter, folder) != before
        machine.switch_on()
        assert machine.holds() == Settings(processors=(0, 2, 3), memory_byte=WHOLE_BYTE, cpu_quota=1.5)
        machine.ask_to_end()
        machine.switch_off()
        VmwareMachine(machine.spec).unmake()
        assert settings_of(vcenter, folder) == before
        assert machine.exists()

    def test_it_goes_back_to_its_snapshot_before_and_after(
        self, vcenter: Vcenter, folder: Path, tmp_path: Path
    ) -> None:
        vcenter.ask("snapshot.create", "-vm", ORIGINAL, "clean")
        govc = watched_govc(tmp_path)
        machine = VmwareMachine(
            spec_of(vcenter, folder, clone="no", snapshot="clean", govc=str(govc.program))
        )
        assert not machine.outlives_node
        machine.make()
        machine.unmake()
        revert = ["snapshot.revert", "-vm", ORIGINAL, "-s", "clean"]
        changing = [call for call in govc.calls() if call[0] not in {"vm.info", "object.collect"}]
        assert [call[0] for call in changing] == ["snapshot.revert", "vm.change", "snapshot.revert"]
        assert changing[0] == changing[-1] == revert
        vcenter.ask("snapshot.remove", "-vm", ORIGINAL, "clean")

    def test_a_snapshot_of_a_running_machine_is_refused(self, vcenter: Vcenter, folder: Path) -> None:
        vcenter.ask("vm.power", "-on", ORIGINAL)
        vcenter.ask("snapshot.create", "-vm", ORIGINAL, "awake")
        machine = VmwareMachine(spec_of(vcenter, folder, clone="no", snapshot="awake"))
        with pytest.raises(NodeError, match="take one while it is off"):
            machine.make()
        vcenter.ask("vm.power", "-off", ORIGINAL)
        machine.unmake()
        vcenter.ask("snapshot.remove", "-vm", ORIGINAL, "awake")

    def test_a_machine_that_nobody_knows_is_told(self, vcenter: Vcenter, folder: Path) -> None:
        machine = VmwareMachine(spec_of(vcenter, folder, clone="no", vm="nobody"))
        assert not machine.is_on()
        with pytest.raises(NodeError, match="there is no machine nobody"):
            machine.make()
        machine.unmake()

    def test_its_address_is_what_its_tools_tell(self, vcenter: Vcenter, folder: Path) -> None:
        machine = VmwareMachine(spec_of(vcenter, folder, clone="no"))
        assert machine.address() is None
        vcenter.ask("vm.change", "-vm", ORIGINAL, "-e", "SET.guest.ipAddress=192.0.2.7")
        assert machine.address() == "192.0.2.7"

    def test_nodes_take_turns_with_several_machines(self, vcenter: Vcenter, folder: Path) -> None:
        options = vcenter.options(clone="no", vm=["first", "second"])
        specs = [described(folder, options=options, index=index) for index in (0, 1, 2)]
        assert [VmwareMachine(spec).name for spec in specs] == ["first", "second", "first"]


class TestLimits:
    def test_a_cluster_that_moves_machines_cannot_keep_them_to_processors(
        self, vcenter: Vcenter, folder: Path
    ) -> None:
        machine = VmwareMachine(spec_of(vcenter, folder, vm="DC0_C0_RP0_VM0", pool=CLUSTER_POOL))
        with pytest.raises(NodeError, match="pinned = false"):
            machine.make()
        machine.unmake()
        assert folder.name not in names(vcenter)

    def test_it_is_content_with_any_processors_when_it_is_told_so(
        self, vcenter: Vcenter, folder: Path
    ) -> None:
        machine = VmwareMachine(
            spec_of(vcenter, folder, vm="DC0_C0_RP0_VM0", pool=CLUSTER_POOL, pinned=False)
        )
        machine.make()
        assert machine.holds().processors is None
        machine.unmake()

    def test_memory_that_esxi_cannot_give_is_refused_with_what_would_do(
        self, vcenter: Vcenter, folder: Path
    ) -> None:
        machine = VmwareMachine(spec_of(vcenter, folder, system_memory=510))
        with pytest.raises(NodeError, match="add 2 to system_memory"):
            machine.make()
        machine.unmake()
        assert folder.name not in names(vcenter)
