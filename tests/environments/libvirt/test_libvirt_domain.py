# SPDX-License-Identifier: Apache-2.0
"""A user's domain as a node's machine: what virsh is told, by transcripts."""

from pathlib import Path

import pytest
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse, replayed

from tare.environments import PROVIDERS
from tare.environments.libvirt.brought import BroughtLibvirtDomain
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.nodes.provider import NodeSpec

NODE_BYTE = 512 << 20
OFF = "$ virsh --quiet --connect=qemu:///system domstate cluster\n> shut off\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "node").mkdir()
    return tmp_path / "node"


def of(folder: Path, connection: str, **changes: object) -> NodeSpec:
    """A node of three processors: 0, 2 and 3."""
    options = {"connection": connection, "domain": "cluster", **changes.pop("options", {})}  # type: ignore[dict-item] # a table
    return described(folder, technology="libvirt", options=options, memory_byte=NODE_BYTE, **changes)


def test_a_domain_on_qemu_starts_with_the_nodes_limits_and_is_asked_to_end(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = of(folder, "qemu:///system", cpu_quota=0.5)
    machine = BroughtLibvirtDomain(spec)
    with replayed(monkeypatch, tmp_path / "bin", "libvirt/qemu-life.txt", directory=folder):
        assert not machine.is_on()
        machine.make()
        machine.switch_on()
        assert machine.address() == "10.1.0.17"
        assert machine.holds() == Settings(processors=(0, 2, 3), memory_byte=1 << 30, cpu_quota=0.5)
        assert machine.cpu_s() == 4.8
        machine.ask_to_end()
        machine.switch_off()
        machine.unmake()
    assert machine.outlives_node
    assert list(folder.iterdir()) == []


def test_the_description_may_hold_a_password_and_is_nobody_elses_to_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = (
        "$ virsh --quiet --connect=qemu:///system dumpxml --inactive --security-info cluster\n"
        "> <domain><devices><graphics passwd='secret'/></devices></domain>\n"
        "$ virsh --quiet --connect=qemu:///system create {directory}/domain.xml\n! error: no\n= 1\n"
    )
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(Path, "unlink", lambda path: path.rename(kept / path.name))
    with (
        only_tools(monkeypatch, tmp_path / "bin", parse(said, directory=folder), {"virsh"}),
        pytest.raises(NodeError, match="error: no"),
    ):
        BroughtLibvirtDomain(of(folder, "qemu:///system")).switch_on()
    result = kept / "domain.xml"
    assert "secret" in result.read_text()
    assert result.stat().st_mode & 0o077 == 0
    assert list(folder.iterdir()) == []


def test_xen_is_told_the_quota_when_the_domain_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = BroughtLibvirtDomain(of(folder, "xen:///system", cpu_quota=0.5))
    with replayed(monkeypatch, tmp_path / "bin", "libvirt/xen-life.txt", directory=folder):
        machine.make()
        machine.switch_on()


def test_a_hypervisor_that_takes_no_limits_for_once_starts_what_has_them_and_a_snapshot_is_not_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"pinned": False, "snapshot": "clean"}
    machine = BroughtLibvirtDomain(of(folder, "esx://root@host/", options=options))
    with replayed(monkeypatch, tmp_path / "bin", "libvirt/esx-life.txt", directory=folder):
        machine.make()
        machine.switch_on()
        assert machine.holds() == Settings(processors=None, memory_byte=1 << 30, cpu_quota=None)
        assert machine.helpers() == []
        machine.switch_off()
    assert not machine.outlives_node


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "pinned = false"),
        ({"options": {"pinned": False}, "cpu_quota": 0.5}, "no CPU quota"),
        ({"options": {"pinned": False}, "processors": (0,)}, "has 3 processors and its node needs 1"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused_and_never_dropped(
    changes: dict[str, object],
    words: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = (
        "$ virsh --quiet --connect=vbox:///session dominfo cluster\n> Managed save:   no\n"
        "$ virsh --quiet --connect=vbox:///session dumpxml --inactive cluster\n"
        "> <domain type='vbox'><name>cluster</name><vcpu placement='static'>3</vcpu></domain>\n"
    )
    with (
        only_tools(monkeypatch, tmp_path / "bin", parse(said), {"virsh"}),
        pytest.raises(NodeError, match=words),
    ):
        BroughtLibvirtDomain(of(folder, "vbox:///session", **changes)).make()


def test_a_saved_state_would_come_back_instead_of_a_boot(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "$ virsh --quiet --connect=qemu:///system dominfo cluster\n> Managed save:   yes\n"
    with (
        only_tools(monkeypatch, tmp_path / "bin", parse(said), {"virsh"}),
        pytest.raises(NodeError, match="managedsave-remove"),
    ):
        BroughtLibvirtDomain(of(folder, "qemu:///system")).make()


def test_a_snapshot_of_a_running_domain_is_no_boot(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = (
        "$ virsh --quiet --connect=qemu:///system snapshot-revert cluster clean\n"
        "$ virsh --quiet --connect=qemu:///system domstate cluster\n> running\n"
    )
    with (
        only_tools(monkeypatch, tmp_path / "bin", parse(said), {"virsh"}),
        pytest.raises(NodeError, match="take one while it is off"),
    ):
        BroughtLibvirtDomain(of(folder, "qemu:///system", options={"snapshot": "clean"})).make()


def test_a_machine_that_is_off_is_not_switched_off_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with only_tools(monkeypatch, tmp_path / "bin", parse(OFF), {"virsh"}):
        BroughtLibvirtDomain(of(folder, "qemu:///system")).switch_off()


def test_a_container_numbers_its_processors_as_the_host_does(folder: Path) -> None:
    assert BroughtLibvirtDomain(of(folder, "lxc:///system")).own_processors == (0, 2, 3)
    assert BroughtLibvirtDomain(of(folder, "qemu:///system")).own_processors == (0, 1, 2)


def test_nodes_take_the_domains_in_turn(folder: Path) -> None:
    options = {"domain": ["a", "b"]}
    names = [
        BroughtLibvirtDomain(of(folder, "qemu:///system", options=options, index=index)).name
        for index in range(3)
    ]
    assert names == ["a", "b", "a"]


class TestOptions:
    provider = PROVIDERS["libvirt"]

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"devices": "emulated", "accelerator": "tcg", "connection": "qemu:///session"},
            {"domain": "a"},
            {"domain": ["a", "b"], "host": ["root@a", "root@b"], "subnet": "10.0.0.0/8", "snapshot": "clean"},
            {"connection": "esx://root@host/?no_verify=1", "domain": "a", "pinned": False, "boot_limit": 600},
        ],
    )
    def test_right_ones_are_taken(self, options: dict[str, object]) -> None:
        assert self.provider.check_options(options) == {}  # type: ignore[arg-type] # a campaign's

    @pytest.mark.parametrize(
        ("options", "name", "words"),
        [
            ({"connection": "xen:///system"}, "connection", "option domain"),
            ({"connection": "esx://root:secret@host/", "domain": "a"}, "connection", "auth.conf"),
            ({"connection": "here", "domain": "a"}, "connection", "no URI"),
            ({"connection": 7, "domain": "a"}, "connection", "no URI"),
            ({"connection": "qemu://[/system", "domain": "a"}, "connection", "no URI"),
            ({"domain": "-a"}, "domain", "name"),
            ({"domain": []}, "domain", "empty list"),
            ({"domain": ["a", ""]}, "domain", "name"),
            ({"domain": "a", "snapshot": "--all"}, "snapshot", "name"),
            ({"domain": "a", "devices": "emulated"}, "devices", "user's domain"),
            ({"host": "root@a"}, "host", "Tare's own"),
            ({"devices": "both"}, "devices", "paravirtual"),
            ({"domain": "a", "below": "nobody"}, "below", "nobody"),
        ],
    )
    def test_wrong_ones_are_named(self, options: dict[str, object], name: str, words: str) -> None:
        check_options = self.provider.check_options(options)  # type: ignore[arg-type] # a campaign's
        assert list(check_options) == [name]
        assert words in check_options[name]

    def test_a_password_is_not_repeated(self) -> None:
        check_options = self.provider.check_options({"connection": "esx://root:hunter2@host/", "domain": "a"})
        assert "hunter2" not in str(check_options)

    def test_instances_over_nodes_need_domains_with_a_network(self) -> None:
        assert "network" in self.provider.check_spanning({})["domain"]
        assert "subnet" in self.provider.check_spanning({"domain": "a"})
        assert self.provider.check_spanning({"domain": "a", "subnet": "10.0.0.0/8"}) == {}
