# SPDX-License-Identifier: Apache-2.0
"""Tap devices for machines: ports of the switch that somebody else may open, gone with their node."""

import fcntl
import os
import select
import struct
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.network.namespaces import AS_ROOT, holders, identities, let_go, links, specs_of, within

from tare import network
from tare.environments.qemu.boot import PREFIX_LENGTH
from tare.errors import NodeError
from tare.network import addresses, has_own_hosts, taps
from tare.network.plan import SUBNET
from tare.nodes.provider import Node, NodeSpec
from tare.records import NetworkKind

TUNSETIFF = 0x400454CA


def open_tap(name: str) -> int:
    """As a machine's monitor opens it."""
    opened = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(opened, TUNSETIFF, struct.pack("16sH22x", name.encode(), 0x5002))
    return opened


def connected(folder: Path, count: int = 2) -> list[NodeSpec]:
    specs = specs_of(folder, NetworkKind.VETH, count)
    for spec in specs:
        network.create(spec, takes_tap=True)
    return specs


class TestWithRoot:
    pytestmark = AS_ROOT

    def test_each_node_has_one_in_the_switch_and_no_namespace_of_its_own(self, tmp_path: Path) -> None:
        specs = connected(tmp_path)
        try:
            assert links(specs[0].network.switch) == {"lo", "switch", "tap10", "tap11"}
            assert not (specs[1].directory / "network").exists()
        finally:
            for spec in reversed(specs):
                network.remove(spec)

    def test_whoever_opens_it_sends_to_the_switch(self, tmp_path: Path) -> None:
        """A frame that a guest would send arrives in the namespace: the switch answers who it is (ARP)."""
        (spec,) = connected(tmp_path, count=1)
        try:
            opened = within(spec.network.switch, lambda: open_tap(spec.network.tap))
            try:
                assert answer(opened)[20:22] == struct.pack("!H", 2)
            finally:
                os.close(opened)
        finally:
            network.remove(spec)

    def test_a_node_that_goes_takes_its_own_alone(self, tmp_path: Path) -> None:
        specs = connected(tmp_path)
        try:
            network.remove(specs[1])
            assert links(specs[0].network.switch) == {"lo", "switch", "tap10"}
        finally:
            network.remove(specs[0])

    def test_nothing_is_left_in_whatever_order_they_go(self, tmp_path: Path) -> None:
        specs = connected(tmp_path)
        made = identities(specs)
        held = holders(made)
        for spec in specs:
            network.remove(spec)
            network.remove(spec)
        assert [path for spec in specs for path in spec.directory.iterdir()] == []
        assert let_go(held, made)

    def test_a_host_without_the_device_is_told_how_to_get_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(taps, "_DEVICE", Path("/nowhere/tun"))
        (spec,) = specs_of(tmp_path, NetworkKind.VETH, 1)
        try:
            with pytest.raises(NodeError, match=r"tap10: there is no /nowhere/tun; try `modprobe -a tun"):
                network.create(spec, takes_tap=True)
        finally:
            network.remove(spec)

    def test_a_machine_without_a_link_gets_an_empty_namespace(self, tmp_path: Path) -> None:
        (spec,) = specs_of(tmp_path, NetworkKind.NONE, 1)
        network.create(spec, takes_tap=True)
        try:
            assert links(spec.network.namespace) == {"lo"}
        finally:
            network.remove(spec)


def question() -> bytes:
    """Who has 198.18.0.1? Behind the ten bytes with which a tap begins each frame (struct virtio_net_hdr)."""
    own, address = bytes.fromhex("52540012000a"), bytes([198, 18, 0, 10])
    ethernet = b"\xff" * 6 + own + struct.pack("!H", 0x0806)
    asked = own + address + bytes(6) + bytes([198, 18, 0, 1])
    return bytes(10) + ethernet + struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + asked


def answer(opened: int, limit_s: float = 20.0) -> bytes:
    """Of the switch, which takes a moment to see that somebody has opened the tap, and may say other things too."""
    poll = select.poll()
    poll.register(opened, select.POLLIN)
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        os.write(opened, question())
        while poll.poll(200):
            frame = os.read(opened, 2000)[10:]
            if frame[12:14] == b"\x08\x06":
                return frame
    raise AssertionError("no answer")


class TestMachines:
    def test_their_file_of_names_is_their_own_and_their_network_is_not_the_hosts(
        self, tmp_path: Path
    ) -> None:
        (spec,) = specs_of(tmp_path, NetworkKind.DEFAULT, 1)
        node = Node(spec=spec, init_pid=os.getpid(), own_kernel=True, machine=True)
        assert has_own_hosts(node)
        assert not has_own_hosts(replace(node, machine=False))

    def test_their_addresses_are_asked_of_them(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Inside:
            def prefix(self, _: Node) -> list[str]:
                shown = '[{"addr_info": [{"local": "10.0.2.15", "prefixlen": 24}]}]'
                return ["sh", "-c", f"echo '{shown}'"]

        (spec,) = specs_of(tmp_path, NetworkKind.DEFAULT, 1)
        monkeypatch.setattr(addresses, "PROVIDERS", {spec.technology: Inside()})
        node = Node(spec=spec, init_pid=os.getpid(), own_kernel=True, machine=True)
        assert network.node_address(node) == "10.0.2.15"
        assert network.describe(node) == {"network": "default (10.0.2.15/24)"}

    def test_their_subnet_is_that_of_all_nodes(self) -> None:
        assert SUBNET.prefixlen == PREFIX_LENGTH
