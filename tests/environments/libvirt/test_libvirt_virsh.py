# SPDX-License-Identifier: Apache-2.0
"""What virsh prints, read from recorded answers."""

import shutil

import pytest
from tests.conftest import REPOSITORY

from tare.environments.libvirt.daemon import last_event
from tare.environments.libvirt.virsh import (
    Virsh,
    parse_address,
    parse_affinity,
    parse_cpu_s,
    parse_memory_byte,
    parse_quota,
)
from tare.errors import NodeError

OUTPUTS = REPOSITORY / "tests" / "outputs" / "libvirt"
GLOBAL_QUOTA = """\
Scheduler      : posix
cpu_shares     : 1024
vcpu_period    : 100000
vcpu_quota     : 17592186044415
global_period  : 100000
global_quota   : 50000
"""


@pytest.mark.parametrize(
    ("uri", "driver"),
    [
        ("qemu:///system", "qemu"),
        ("qemu+ssh://root@host/system", "qemu"),
        ("esx://root@host/?no_verify=1", "esx"),
        ("xen:///system", "xen"),
    ],
)
def test_the_driver_is_the_scheme_without_a_transport(uri: str, driver: str) -> None:
    assert Virsh(uri).driver == driver


def test_the_first_address_is_read_from_a_recorded_table() -> None:
    assert parse_address((OUTPUTS / "test-domifaddr.txt").read_text()) == "192.168.122.3"


def test_a_loopback_or_an_ipv6_address_reaches_nobody() -> None:
    table = " lo  00:00:00:00:00:00  ipv4  127.0.0.1/8\n eth0  52:54:00:00:00:01  ipv6  fe80::1/64\n"
    assert parse_address(table) is None


def test_the_processors_are_all_that_any_of_the_domains_own_may_run_on() -> None:
    assert parse_affinity((OUTPUTS / "test-vcpuinfo.txt").read_text()) == tuple(range(8))
    assert parse_affinity("CPU Affinity:   ---y\nCPU Affinity:   -y--\n") == (1, 3)


def test_a_domain_that_is_off_tells_no_memory_of_another_kind() -> None:
    assert parse_memory_byte((OUTPUTS / "test-dominfo.txt").read_text()) == 2 << 30
    assert parse_memory_byte("Max memory:     8388608 KiB\n") is None


@pytest.mark.parametrize(
    ("said", "quota"),
    [
        (GLOBAL_QUOTA, 0.5),
        ("Scheduler      : credit\nweight         : 256\ncap            : 150\n", 1.5),
        ("Scheduler      : credit\nweight         : 256\ncap            : 0\n", None),
        ("Scheduler      : posix\nvcpu_period    : 100000\nvcpu_quota     : 25000\n", 0.25),
        ("Scheduler      : posix\nglobal_period  : 100000\nglobal_quota   : -1\n", None),
        ("Scheduler      : fair\nweight         : 50\n", None),
        ("", None),
    ],
)
def test_a_quota_is_read_of_every_scheduler(said: str, quota: float | None) -> None:
    assert parse_quota(said) == quota


def test_cpu_time_that_is_not_told_stays_missing() -> None:
    assert parse_cpu_s("Domain: 'a'\n  cpu.time=1500000000\n  cpu.user=1\n") == 1.5
    assert parse_cpu_s("Domain: 'a'\n") is None


LOG = """\
2026-11-21 12:16:12.500+0000: starting up libvirt version: 9.0.0, package: 9.0.0-4, qemu version: 7.2.22
LC_ALL=C \\
/usr/bin/qemu-system-x86_64 \\
-msg timestamp=on
"""


def test_the_last_thing_that_qemu_said_is_no_part_of_its_command_line() -> None:
    assert last_event(LOG) == ""
    text = "2026-11-21T12:16:13.000000Z qemu-system-x86_64: terminating on signal 15 from pid 7\n"
    assert last_event(LOG + text) == "qemu-system-x86_64: terminating on signal 15 from pid 7"
    ended = "2026-11-21 12:16:28.100+0000: shutting down, reason=crashed\n"
    assert last_event(LOG + text + ended) == "shutting down, reason=crashed"


needs_virsh = pytest.mark.skipif(shutil.which("virsh") is None, reason="apt-get install libvirt-clients")


@needs_virsh
class TestTheTestDriver:
    """Of the real virsh: a hypervisor that libvirt keeps for tests, with one domain that runs."""

    virsh = Virsh("test:///default")

    def test_a_domain_that_runs_is_on_and_one_that_is_not_there_is_not(self) -> None:
        assert self.virsh.is_on("test")
        assert not self.virsh.is_on("nobody")

    def test_address_and_processors_are_told(self) -> None:
        assert self.virsh.address("test") == "192.168.122.3"
        assert self.virsh.processors("test") == tuple(range(8))

    def test_an_error_carries_the_words_of_virsh(self) -> None:
        with pytest.raises(NodeError, match="failed to get domain 'nobody'"):
            self.virsh.ask("dominfo", "nobody")

    def test_a_connection_that_fails_is_no_domain_that_is_off(self) -> None:
        with pytest.raises(NodeError, match="failed to connect"):
            Virsh("test:///no/such/file").is_on("test")
