# SPDX-License-Identifier: Apache-2.0
"""VirtualBox, which no machine of the tests has: by transcripts written from its manual and sources."""

import os
import uuid
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY
from tests.environments.environment_example import MEBIBYTE, described
from tests.environments.transcripts import only_tools, parse, replayed
from tests.environments.virtualbox.machine_process import running_machine

from tare.environments import PROVIDERS
from tare.environments.virtualbox import vboxmanage
from tare.environments.virtualbox.machine import VirtualboxMachine, limits
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.nodes.provider import NodeSpec
from tare.records import OptionValue

PROVIDER = PROVIDERS["virtualbox"]
COPY: dict[str, OptionValue] = {
    "vm": "cluster-node",
    "clone": "linked",
    "snapshot": "ready",
    "network_adapter": "virtio",
    "paravirtualization": "kvm",
}
OWN: dict[str, OptionValue] = {"vm": "cluster-node", "clone": "no"}
FIRST = min(os.sched_getaffinity(0))
SHOWN = (REPOSITORY / "tests" / "outputs" / "virtualbox" / "showvminfo.txt").read_text()


@pytest.fixture
def spec(tmp_path: Path) -> NodeSpec:
    (tmp_path / "tare-1").mkdir()
    return described(tmp_path / "tare-1", options=COPY, processors=(0, 1), cpu_quota=0.5)


def places(spec: NodeSpec) -> dict[str, object]:
    return {
        "name": spec.name,
        "directory": spec.directory,
        "uuid": uuid.uuid5(uuid.NAMESPACE_OID, str(spec.directory)),
    }


class TestLife:
    def test_a_copy_is_made_held_to_its_limits_and_deleted(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = places(spec)
        monkeypatch.setattr("tare.environments.virtualbox.machine.keep_to", lambda *_: None)
        with (
            running_machine(str(document["uuid"])) as pid,
            replayed(monkeypatch, tmp_path / "bin", "virtualbox/copy-life.txt", **document),
        ):
            os.sched_setaffinity(pid, {FIRST})
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {FIRST})
            machine = VirtualboxMachine(spec)
            machine.make()
            machine.switch_on()
            assert machine.holds() == Settings(
                processors=(FIRST,), memory_byte=1024 * MEBIBYTE, cpu_quota=0.5
            )
            facts = machine.facts()
            machine.switch_off()
            VirtualboxMachine(spec).unmake()
        assert facts == {
            "hypervisor": "VirtualBox 7.0.14r161095",
            "network adapter": "virtio",
            "paravirtualization": "kvm",
        }
        assert list(spec.directory.iterdir()) == []

    def test_the_users_machine_gets_its_own_settings_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = described(tmp_path, options=OWN, processors=(0, 1))
        with replayed(monkeypatch, tmp_path / "bin", "virtualbox/own-life.txt"):
            machine = VirtualboxMachine(spec)
            assert machine.outlives_node
            machine.make()
            VirtualboxMachine(spec).unmake()

    def test_a_copy_that_cannot_be_made_is_told_and_looked_for(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with replayed(monkeypatch, tmp_path / "bin", "virtualbox/clone-fails.txt", **places(spec)):
            machine = VirtualboxMachine(spec)
            words = "VBoxManage clonevm cluster-node failed: Could not find a snapshot named 'ready'"
            with pytest.raises(NodeError, match=f"^{words}$"):
                machine.make()
            machine.unmake()

    def test_a_foreign_machine_of_the_same_name_is_refused_and_kept(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f'$ VBoxManage showvminfo {spec.name} --machinereadable\n> VMState="poweroff"')
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"VBoxManage"}):
            machine = VirtualboxMachine(spec)
            with pytest.raises(NodeError, match="already, and it is not this node's"):
                machine.make()
            machine.unmake()

    def test_a_machine_behind_nat_has_to_be_reached_by_a_forwarded_port(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(
            '$ VBoxManage showvminfo cluster-node --machinereadable\n> nic1="nat"\n> VMState="poweroff"'
        )
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"VBoxManage"}):
            machine = VirtualboxMachine(described(tmp_path, options=OWN))
            with pytest.raises(NodeError, match="behind NAT"):
                machine.set_limits()

    def test_another_paravirtualization_than_asked_is_a_failure(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shown = f'$ VBoxManage showvminfo {spec.name} --machinereadable\n> effparavirtprovider="none"'
        with (
            only_tools(monkeypatch, tmp_path / "bin", parse(f'{shown}\n> VMState="running"'), {"VBoxManage"}),
            pytest.raises(NodeError, match="should be kvm, and is none"),
        ):
            VirtualboxMachine(spec).facts()

    @pytest.mark.parametrize(
        ("said", "address"), [("Value: 192.0.2.7", "192.0.2.7"), ("No value set!", None)]
    )
    def test_its_address_is_what_the_guest_additions_tell(
        self, said: str, address: str | None, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(
            f"$ VBoxManage guestproperty get {spec.name} /VirtualBox/GuestInfo/Net/0/V4/IP\n> {said}"
        )
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"VBoxManage"}):
            assert VirtualboxMachine(spec).address() == address


class TestOutput:
    def test_what_it_prints_is_read_with_the_lines_that_are_none(self) -> None:
        result = vboxmanage.parse(SHOWN)
        assert (result["VMState"], result["cpus"], result["effparavirtprovider"]) == ("running", "2", "kvm")
        assert result["uartmode1"] == "server,/srv/machines/cluster-node/uart"
        assert "Encryption" not in result

    @pytest.mark.parametrize("broken", ["", SHOWN[:300], "{}"])
    def test_what_tells_no_state_is_an_error(self, broken: str) -> None:
        with pytest.raises(NodeError, match="it has no VMState"):
            vboxmanage.parse(broken)

    def test_a_number_that_is_none_is_an_error(self) -> None:
        with pytest.raises(
            NodeError, match=r"showvminfo \(memory\) prints is not understood: 'much' is no integer"
        ):
            vboxmanage.number({"memory": "much"}, "memory")

    def test_another_failure_is_not_the_absence_of_the_machine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(
            "$ VBoxManage showvminfo any --machinereadable\n! VBoxManage: error: Failed to create the object\n= 1"
        )
        with (
            only_tools(monkeypatch, tmp_path / "bin", calls, {"VBoxManage"}),
            pytest.raises(NodeError, match="showvminfo any failed: Failed to create the object"),
        ):
            vboxmanage.information("any")


class TestLimits:
    def test_a_quota_is_a_share_of_every_processor(self) -> None:
        assert limits(described(options={}, cpu_quota=1.5))["cpuexecutioncap"] == "50"

    def test_without_a_quota_the_originals_cap_is_lifted(self) -> None:
        assert limits(described(options={}))["cpuexecutioncap"] == "100"

    def test_a_quota_between_two_steps_is_refused_with_the_nearest(self) -> None:
        spec = described(options={}, processors=tuple(range(8)), cpu_quota=0.5)
        with pytest.raises(NodeError, match=r"steps of 0\.08, .* the nearest is 0\.48"):
            limits(spec)

    def test_only_the_devices_that_were_chosen_are_changed(self) -> None:
        assert {"nictype1", "paravirtprovider"}.isdisjoint(limits(described(options={})))
        chosen = limits(described(options={"network_adapter": "82540EM", "paravirtualization": "none"}))
        assert (chosen["nictype1"], chosen["paravirtprovider"]) == ("82540EM", "none")


class TestOptions:
    def test_a_machine_is_enough(self) -> None:
        assert PROVIDER.check_options({"vm": "cluster-node"}) == {}

    @pytest.mark.parametrize(
        ("options", "name", "words"),
        [
            ({}, "vm", "is missing"),
            ({"vm": "any", "network_adapter": "e1000"}, "network_adapter", "82540EM"),
            ({"vm": "any", "paravirtualization": "xen"}, "paravirtualization", "hyperv"),
            ({"vm": "any", "clone": "linked"}, "snapshot", "is missing"),
            ({"vm": "any", "system_memory": 1}, "system_memory", "64 or more"),
        ],
    )
    def test_each_mistake_is_told_with_its_option(
        self, options: dict[str, OptionValue], name: str, words: str
    ) -> None:
        assert words in PROVIDER.check_options(options)[name]


class TestProbe:
    def test_it_names_the_version_when_the_machine_is_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(
            "$ VBoxManage --version\n> 7.0.14r161095\n"
            '$ VBoxManage showvminfo cluster-node --machinereadable\n> VMState="poweroff"'
        )
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"VBoxManage"}):
            probe = PROVIDER.configured({"vm": "cluster-node"}).probe()
        assert (probe.usable, probe.version) == (True, "VirtualBox 7.0.14r161095")

    def test_a_machine_of_somebody_elses_is_not_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(
            "$ VBoxManage --version\n> 7.0.14r161095\n"
            "$ VBoxManage showvminfo any --machinereadable\n"
            "! VBoxManage: error: Could not find a registered machine named 'any'\n= 1"
        )
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"VBoxManage"}):
            probe = PROVIDER.configured({"vm": "any"}).probe()
        assert (probe.usable, probe.reason) == (False, "VirtualBox has no machine any of this user's")

    @pytest.mark.parametrize(
        ("said", "reason"),
        [
            ("> WARNING: The vboxdrv kernel module is not loaded.\n> 7.0.14r161095", "WARNING: The vboxdrv"),
            ("> 5.2.44r139111", "too old version: 5.2.44"),
            ("> seven", "unknown or too old version: seven"),
            ("= 0", "it printed nothing"),
            ("! VBoxManage: error: Failed to create the VirtualBox object!\n= 1", "Failed to create"),
        ],
    )
    def test_one_that_would_not_start_a_machine_is_not_used(
        self, said: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f"$ VBoxManage --version\n{said}")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"VBoxManage"}):
            probe = PROVIDER.configured({"vm": "any"}).probe()
        assert not probe.usable
        assert reason in probe.reason

    def test_without_it_it_says_where_it_comes_from(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert "VBoxManage" in probe.reason

    def test_without_a_campaign_it_points_to_its_page(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse("$ VBoxManage --version\n> 7.0.14r161095")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"VBoxManage"}):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert "docs/virtualbox.md" in probe.remedy
