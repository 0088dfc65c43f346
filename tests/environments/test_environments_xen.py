# SPDX-License-Identifier: Apache-2.0
"""Xen, which no machine of the tests has: by transcripts written from the manual pages and sources of xl."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse, replayed

from tare.environments import PROVIDERS
from tare.environments.qemu import inside
from tare.environments.xen import configuration, own, xl
from tare.environments.xen.brought import BroughtXenDomain
from tare.errors import NodeError
from tare.guests import channel
from tare.guests.kernel import GuestKernel
from tare.host.cgroups import Settings
from tare.nodes.provider import Bind, Node, NodeNetwork, NodeSpec
from tare.records import NetworkKind, Storage

INFO = (REPOSITORY / "tests" / "outputs" / "xen" / "info.txt").read_text()
PROVIDER = PROVIDERS["xen"]
MEBIBYTE = 1 << 20


def spec_of(folder: Path, **changes: object) -> NodeSpec:
    return described(folder, technology="xen", **changes)


class TestParsers:
    def test_the_version_and_the_scheduler_are_read(self) -> None:
        result = xl.parse_info(INFO)
        assert (result["xen_version"], result["xen_scheduler"]) == ("4.17.3", "credit2")

    def test_a_processor_that_may_run_anywhere_leaves_the_domain_unpinned(self) -> None:
        head = "Name                                ID  VCPU   CPU State   Time(s) Affinity (Hard / Soft)\n"
        assert xl.parse_affinity(head + "a  1  0  0  r--  5.3  0-1 / all\na  1  1  3  -b-  1.0  3 / 3\n") == (
            0,
            1,
            3,
        )
        assert (
            xl.parse_affinity(head + "a  1  0  0  r--  5.3  0 / all\na  1  1  3  -b-  1.0  all / all\n")
            is None
        )

    def test_no_cap_is_none_and_not_zero(self) -> None:
        head = "Name                                ID Weight  Cap\n"
        assert xl.parse_cap(head + "a    5    256   50\n") == 0.5
        assert xl.parse_cap(head + "a    5    256    0\n") is None

    @pytest.mark.parametrize("reader", [xl.parse_list, xl.parse_affinity, xl.parse_cap])
    def test_what_tells_of_no_domain_is_an_error(self, reader: object) -> None:
        with pytest.raises(NodeError, match="printed no"):
            reader("Name   ID\n")  # type: ignore[operator] # one of three functions


class TestConfiguration:
    def domain(self, kind: str, **changes: object) -> configuration.OwnDomain:
        values: dict[str, object] = {
            "spec": spec_of(Path("/n/tare-1")),
            "kind": kind,
            "kernel": Path("/k/vmlinux"),
            "initramfs": Path("/n/initramfs"),
            "command_line": "console=hvc0 -- guest",
            "image": Path("/disks/a.erofs"),
            "layer": None,
            "channel": Path("/run/c"),
        }
        return configuration.OwnDomain(**{**values, **changes})  # type: ignore[arg-type]

    @pytest.mark.parametrize("kind", ["pv", "pvh"])
    def test_a_paravirtual_domain_is_as_xl_cfg_has_it(self, kind: str) -> None:
        assert configuration.text(self.domain(kind).settings()).splitlines() == [
            'name="tare-1"',
            f'type="{kind}"',
            "vcpus=3",
            "maxvcpus=3",
            "memory=512",
            "maxmem=512",
            'cpus=["0", "2", "3"]',
            'kernel="/k/vmlinux"',
            'ramdisk="/n/initramfs"',
            'cmdline="console=hvc0 -- guest"',
            'disk=["format=raw, vdev=xvda, access=ro, target=/disks/a.erofs"]',
            "vif=[]",
            'channel=["connection=socket, path=/run/c, name=tare"]',
            'on_poweroff="destroy"',
            'on_reboot="destroy"',
            'on_crash="destroy"',
        ]

    def test_an_hvm_domain_has_emulated_disks_and_a_second_serial_line(self) -> None:
        settings = self.domain("hvm", image=Path("/n/image.qcow2"), layer=Path("/n/layer.img")).settings()
        assert settings["disk"] == [
            "format=qcow2, vdev=hda, access=rw, target=/n/image.qcow2",
            "format=raw, vdev=hdb, access=rw, target=/n/layer.img",
        ]
        assert settings["serial"] == ["pty", "unix:/run/c,server,nowait"]
        assert "channel" not in settings

    def test_the_cap_is_in_per_cent_of_one_processor(self) -> None:
        limits = configuration.limits(spec_of(Path("/n"), cpu_quota=1.5), 512 * MEBIBYTE, pinned=False)
        assert limits["cap"] == 150
        assert "cpus" not in limits

    @pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb"])
    def test_what_would_end_a_quoted_value_is_refused(self, name: str) -> None:
        with pytest.raises(NodeError, match="cannot hold"):
            configuration.lines({"kernel": name})

    @pytest.mark.parametrize("place", ["/a,access=rw/b", "/a "])
    def test_a_disk_whose_name_would_say_something_else_is_refused(self, place: str) -> None:
        with pytest.raises(NodeError, match="xl does not take"):
            self.domain("pvh", image=Path(place)).settings()


class TestBrought:
    @pytest.fixture
    def machine(self, tmp_path: Path) -> BroughtXenDomain:
        written = tmp_path / "cluster.cfg"
        written.write_text('# name = "other"\nname = "cluster"\nmemory = 8192\n')
        return BroughtXenDomain(spec_of(tmp_path, options={"domain": str(written)}, cpu_quota=0.5))

    def test_it_starts_with_the_nodes_limits_and_is_asked_to_end(
        self, machine: BroughtXenDomain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "cluster.cfg"
        with replayed(monkeypatch, tmp_path / "bin", "xen/brought-life.txt", configuration=file):
            assert not machine.is_on()
            machine.make()
            machine.switch_on()
            assert machine.holds() == Settings(processors=(0, 2, 3), memory_byte=1 << 30, cpu_quota=0.5)
            assert machine.cpu_s() == 4.8
            machine.ask_to_end()
            machine.switch_off()
            machine.unmake()

    def test_a_file_without_a_name_or_without_anything_is_an_error(self, tmp_path: Path) -> None:
        file = tmp_path / "a.cfg"
        machine = BroughtXenDomain(spec_of(tmp_path, options={"domain": str(file)}))
        with pytest.raises(NodeError, match="cannot read"):
            assert machine.name
        file.write_text("memory = 1\n")
        with pytest.raises(NodeError, match="no line name"):
            assert machine.name

    def test_a_xen_that_does_not_answer_is_no_domain_that_is_off(
        self, machine: BroughtXenDomain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = "$ xl domid cluster\n! xencall: error: Could not obtain handle on privileged command interface\n= 1\n"
        with (
            only_tools(monkeypatch, tmp_path / "bin", parse(said), {"xl"}),
            pytest.raises(NodeError, match="privileged command interface"),
        ):
            machine.is_on()


class TestOwn:
    """All but the guest itself, which needs Xen: its channel is answered for it."""

    @pytest.fixture
    def spec(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NodeSpec:
        folder = tmp_path / "node"
        folder.mkdir()
        (tmp_path / "image/opt/tare/bin").mkdir(parents=True)
        (tmp_path / "image/opt/tare/bin/init").write_text("the program")
        kernel = GuestKernel(release="6.1", image=Path("/k/vmlinux"), modules=None, direct=True)

        def connected(spec: NodeSpec, before: Sequence[str], socket: Path) -> int:
            assert (spec.name, list(before), socket) == ("tare-1", [], Path("/run/tare-1-channel"))
            return 1

        monkeypatch.setattr(own, "find_kernel", lambda _: kernel)
        monkeypatch.setattr(own, "find_kernel", lambda _: kernel)
        monkeypatch.setattr(own, "needed_modules", lambda *_: [])
        monkeypatch.setattr(own, "image_disk", lambda *_: Path("/disks/a.erofs"))
        monkeypatch.setattr(channel, "keep_connected", connected)
        monkeypatch.setattr(inside, "look", lambda _: {"block_devices": [{"drivers": ["vbd"]}]})
        return spec_of(folder, image_root=tmp_path / "image")

    def test_a_node_starts_is_held_and_is_stopped_by_a_run_that_knows_its_record_alone(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        places = {"directory": spec.directory, "name": spec.name}
        with replayed(monkeypatch, tmp_path / "bin", "xen/own-life.txt", **places):
            node = PROVIDER.start(spec)
            group = PROVIDER.group(node)
            assert group is not None
            assert group.settings() == Settings(
                processors=(0, 2, 3), memory_byte=spec.memory_byte, cpu_quota=None
            )
            assert group.cpu_s() == 4.8
            assert group.lacks(1) == []
            PROVIDER.stop(spec)
        assert (node.machine, node.own_kernel, node.init_pid) == (True, True, None)
        assert node.facts["Xen"] == "4.17.3, scheduler credit2, type pvh"
        data = (spec.directory / "initramfs").read_bytes()
        assert b"channel serial /dev/hvc1\n" in data
        assert b"root /dev/xvda erofs\n" in data

    def test_a_node_that_never_started_is_stopped_without_a_word_to_xl(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], {"xl"}):
            PROVIDER.stop(spec)

    def test_an_hvm_domain_needs_a_kernel_that_it_can_start(self, spec: NodeSpec) -> None:
        with pytest.raises(NodeError, match="bzImage"):
            own.make(replace(spec, options={"type": "hvm"}))

    def test_what_is_written_can_lie_on_a_disk(self, spec: NodeSpec, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(own, "layer_disk", lambda path, _: path.touch())
        domain = own.make(replace(spec, storage=Storage.DISK))
        assert domain.settings()["disk"] == [
            "format=raw, vdev=xvda, access=ro, target=/disks/a.erofs",
            f"format=raw, vdev=xvdb, access=rw, target={spec.directory}/layer.img",
        ]
        assert b"layer /dev/xvdb ext4\n" in domain.initramfs.read_bytes()

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"network": NodeNetwork(kind=NetworkKind.DEFAULT)}, "no network default"),
            ({"binds": (Bind(path=Path("/data")),)}, "leave binds out"),
            ({"options": {"type": "pvhvm"}}, "type must be one of pvh, pv, hvm"),
        ],
    )
    def test_what_a_domain_cannot_be_is_refused(
        self, changes: dict[str, object], words: str, spec: NodeSpec
    ) -> None:
        with pytest.raises(NodeError, match=words):
            PROVIDER.start(replace(spec, **changes))  # type: ignore[arg-type] # some of its fields

    def test_a_paravirtual_guest_on_an_emulated_disk_is_none(self) -> None:
        seen = {"block_devices": [{"drivers": ["sd", "ata_piix"]}]}
        own.verify("hvm", seen)
        with pytest.raises(NodeError, match="not as asked"):
            own.verify("pvh", seen)

    def test_its_domains_that_vanish_hold_nothing(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        group = PROVIDER.group(Node(spec=spec, init_pid=None))
        said = "$ xl domid tare-1\n! Can't get domid of domain name 'tare-1', maybe this domain does not exist.\n= 1\n"
        with only_tools(monkeypatch, tmp_path / "bin", parse(said), {"xl"}):
            assert group is not None
            assert group.lacks(1) is None


class TestOptionsAndProbe:
    @pytest.mark.parametrize("options", [{}, {"type": "pv"}, {"domain": "/etc/xen/a.cfg", "host": "root@a"}])
    def test_right_options_are_taken(self, options: dict[str, str]) -> None:
        assert PROVIDER.check_options(options) == {}

    @pytest.mark.parametrize(
        ("options", "name"),
        [
            ({"domain": "/etc/xen/a.cfg"}, "host"),
            ({"domain": "a", "host": "root@a"}, "domain"),
            ({"domain": [], "host": "root@a"}, "domain"),
            ({"domain": "/etc/xen/a.cfg", "host": "root@a", "type": "pv"}, "type"),
            ({"kernel": ""}, "kernel"),
            ({"host": "root@a"}, "host"),
        ],
    )
    def test_wrong_ones_are_named(self, options: dict[str, object], name: str) -> None:
        assert list(PROVIDER.check_options(options)) == [name]  # type: ignore[arg-type] # a campaign's

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as xl does")
    def test_a_host_without_xl_and_one_that_did_not_boot_xen_are_told_apart(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            assert "apt-get install" in PROVIDER.probe().remedy
        said = "$ xl info\n! xencall: error: Could not obtain handle on privileged command interface\n= 1\n"
        with only_tools(monkeypatch, tmp_path / "bin", parse(said), {"xl"}):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert "boot this host under Xen" in probe.remedy

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as xl does")
    def test_a_configuration_that_is_missing_is_found_before_a_campaign(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = "$ xl info\n> xen_version : 4.17.3\n"
        provider = PROVIDER.configured({"domain": str(tmp_path / "a.cfg"), "host": "root@a"})
        with only_tools(monkeypatch, tmp_path / "bin", parse(said), {"xl"}):
            assert "no configuration file" in provider.probe().reason
