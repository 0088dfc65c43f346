# SPDX-License-Identifier: Apache-2.0
"""A user's domain, described for one start with a node's limits."""

import xml.etree.ElementTree as ET

import pytest
from tests.conftest import REPOSITORY

from tare.environments.libvirt.once import limited, processor_count
from tare.errors import NodeError

RECORDED = (REPOSITORY / "tests" / "outputs" / "libvirt" / "test-domain.xml").read_text()
BUSY = """\
<domain type='kvm'>
  <name>a</name>
  <memory unit='GiB'>8</memory>
  <currentMemory unit='GiB'>8</currentMemory>
  <maxMemory slots='4' unit='GiB'>16</maxMemory>
  <vcpu placement='static' current='2'>8</vcpu>
  <vcpus><vcpu id='0' enabled='yes' hotpluggable='no'/></vcpus>
  <cputune><shares>7</shares><vcpupin vcpu='7' cpuset='7'/></cputune>
  <numatune><memory mode='strict' nodeset='1'/></numatune>
  <cpu mode='host-passthrough'>
    <topology sockets='1' dies='1' cores='8' threads='1'/>
    <numa><cell id='0' cpus='0-7' memory='8' unit='GiB'/></numa>
    <feature policy='require' name='vmx'/>
  </cpu>
  <devices><graphics type='vnc' passwd='secret'/></devices>
</domain>
"""


def test_processors_memory_and_quota_are_the_nodes() -> None:
    domain = ET.fromstring(limited(RECORDED, (2, 5), 1 << 30, 0.5, pinned=True))  # noqa: S314 - our own
    assert [element.text for element in domain.findall("vcpu")] == ["2"]
    assert domain.find("vcpu").get("cpuset") == "2,5"  # type: ignore[union-attr] # found just now
    assert [element.text for element in domain.findall("memory")] == ["1048576"]
    assert [element.text for element in domain.findall("currentMemory")] == ["1048576"]
    tune = {
        (element.tag, element.get("vcpu"), element.get("cpuset") or element.text)
        for element in domain.find("cputune") or ()
    }
    assert tune == {
        ("global_period", None, "100000"),
        ("global_quota", None, "50000"),
        ("vcpupin", "0", "2"),
        ("vcpupin", "1", "5"),
        ("emulatorpin", None, "2,5"),
    }


def test_all_else_stays_as_the_user_has_it() -> None:
    before, after = (
        ET.fromstring(text)  # noqa: S314 - our own
        for text in (RECORDED, limited(RECORDED, (0,), 1 << 30, None, pinned=True))
    )
    for tag in ("name", "uuid", "os", "devices", "clock", "on_reboot"):
        wanted, element = before.find(tag), after.find(tag)
        assert wanted is not None
        assert element is not None
        assert ET.tostring(element).strip() == ET.tostring(wanted).strip()


def test_what_depends_on_the_users_own_number_of_processors_is_left_out() -> None:
    text = limited(BUSY, (0, 1, 2), 1 << 30, None, pinned=True)
    assert all(word not in text for word in ("topology", "numa", "vcpus", "maxMemory", "shares", "numatune"))
    assert "vmx" in text
    assert "secret" in text


def test_without_a_set_and_a_quota_nothing_is_tuned() -> None:
    domain = ET.fromstring(limited(BUSY, (0, 1), 1 << 30, None, pinned=False))  # noqa: S314 - our own
    assert domain.find("cputune") is None
    assert domain.find("vcpu").attrib == {"placement": "static"}  # type: ignore[union-attr] # it is there


def test_the_processors_that_are_on_now_count() -> None:
    assert processor_count(RECORDED) == 2
    assert processor_count(BUSY) == 2
    assert processor_count("<domain/>") is None


@pytest.mark.parametrize("text", ["", "<network/>", "<domain>"])
def test_what_is_no_domain_is_an_error(text: str) -> None:
    with pytest.raises(NodeError, match="dumpxml printed"):
        limited(text, (0,), 1 << 30, None, pinned=True)
