# SPDX-License-Identifier: Apache-2.0
"""The host's interface on a subnet, from ip(8)'s recorded output; what a driver does, from this host's own links."""

import json

import pytest
from tests.conftest import REPOSITORY

from tare.errors import NodeError
from tare.network.interfaces import described, interface_among, interface_within

PRINTED = (REPOSITORY / "tests/outputs/network/ip_details_of_a_host.json").read_text()


def test_the_first_interface_with_an_address_in_the_range_is_meant() -> None:
    interface = interface_among(PRINTED, "198.18.48.0/20")
    assert interface is not None
    assert (interface.name, interface.index, interface.mtu_byte) == ("eth0", 2, 1500)
    assert (str(interface.address), interface.kind) == ("198.18.48.2", "veth")


def test_a_real_device_has_no_kind_and_none_is_meant_elsewhere() -> None:
    links = json.loads(PRINTED)
    del links[1]["linkinfo"]
    interface = interface_among(json.dumps(links), "198.18.0.0/15")
    assert interface is not None
    assert interface.kind is None
    assert interface_among(PRINTED, "10.0.0.0/8") is None


@pytest.mark.parametrize(
    "said", ["{", '{"a": 1}', '[{"addr_info": [{"local": "me"}]}]', '[{"addr_info": 7}]']
)
def test_what_ip_never_printed_is_refused_in_words(said: str) -> None:
    with pytest.raises(NodeError, match="ip address show"):
        interface_among(said, "10.0.0.0/8")


def test_a_host_without_such_an_address_is_named() -> None:
    with pytest.raises(NodeError, match=r"has no address in 203\.0\.113\.0/24; subnet names a range"):
        interface_within("203.0.113.0/24")


def test_the_loopback_is_described_without_what_its_driver_does_not_tell() -> None:
    said = described("lo")
    assert said.startswith(("lo; MTU ", "lo ("))
    assert "Mbit/s" not in said
    assert "on: " in said


def test_an_interface_that_is_not_there_is_its_name_alone() -> None:
    assert described("none0") == "none0"
