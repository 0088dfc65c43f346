# SPDX-License-Identifier: Apache-2.0
"""virsh(1) as argv, and what it prints as values."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tare.errors import NodeError
from tare.host import process
from tare.host.told import number

_LIMIT_S = 60.0
_CARRIED = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LIBVIRT_AUTH_FILE", "SSH_AUTH_SOCK")
"""The way to the user's own libvirt: its session's files, its credentials, its keys."""
_OFF = "shut off"
_KIBIBYTE = 1024
_NO_QUOTA = 17592186044415
"""libvirt's value for "no limit" where the kernel has -1 (virsh(1), schedinfo)."""
_IPV4 = re.compile(r"\bipv4\s+([0-9.]+)/\d+")


@dataclass(frozen=True, slots=True)
class Virsh:
    """One connection; ``variables`` are added to the user's, for a libvirt of our own."""

    uri: str
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def driver(self) -> str:
        """The hypervisor's driver, such as ``qemu``: the URI's scheme without a transport (libvirt's URI format)."""
        return self.uri.partition(":")[0].partition("+")[0]

    def argv(self, *words: str) -> list[str]:
        return ["virsh", "--quiet", f"--connect={self.uri}", *words]

    def run(self, *words: str, limit_s: float = _LIMIT_S) -> process.Completed:
        """Run to the end, whatever its exit code; ``NodeError`` if it takes too long or is not installed."""
        return process.run(self.argv(*words), timeout_s=limit_s, variables={**_carried(), **self.variables})

    def ask(self, *words: str, limit_s: float = _LIMIT_S) -> str:
        """Its output; ``NodeError`` with its complaint."""
        done = self.run(*words, limit_s=limit_s)
        if done.code != 0:
            raise NodeError(f"virsh {words[0]} on {self.uri} failed: {done.last_words}")
        return done.stdout

    def is_on(self, domain: str) -> bool:
        """Whether it is in any state but off; false if there is no such domain."""
        done = self.run("domstate", domain)
        if done.code != 0 and "failed to get domain" in done.stderr:
            return False
        if done.code != 0:
            raise NodeError(f"virsh domstate on {self.uri} failed: {done.last_words}")
        return done.stdout.strip() != _OFF

    def cpu_s(self, domain: str) -> float | None:
        """CPU time of the domain and everything that serves it; ``None`` if the driver reports none."""
        done = self.run("domstats", "--raw", "--cpu-total", domain)
        return parse_cpu_s(done.stdout) if done.code == 0 else None

    def processors(self, domain: str) -> tuple[int, ...] | None:
        """The host's processors on which its own may run; ``None`` if the driver reports no affinity."""
        done = self.run("vcpuinfo", domain)
        return parse_affinity(done.stdout) if done.code == 0 else None

    def address(self, domain: str) -> str | None:
        """Its address from the DHCP leases, else from the agent in the domain, else from the host's ARP table."""
        for source in ("lease", "agent", "arp"):
            done = self.run("domifaddr", domain, "--source", source)
            if done.code == 0 and (address := parse_address(done.stdout)) is not None:
                return address
        return None


def parse_cpu_s(text: str) -> float | None:
    r"""From ``domstats``: nanoseconds.

    >>> parse_cpu_s("Domain: 'a'\n  cpu.time=1500000000\n")
    1.5
    """
    match = re.search(r"^[ \t]*cpu\.time=(\d+)$", text, re.MULTILINE)
    return number(match[1], "virsh domstats") / 1e9 if match else None


def parse_affinity(text: str) -> tuple[int, ...] | None:
    r"""From ``vcpuinfo``: all processors on which any of the domain's may run; ``None`` without such a line.

    >>> parse_affinity("CPU Affinity:   y---\n\nCPU Affinity:   -y--\n")
    (0, 1)
    """
    lines = re.findall(r"^CPU Affinity:\s+([y-]+)$", text, re.MULTILINE)
    allowed = {processor for line in lines for processor, mark in enumerate(line) if mark == "y"}
    return tuple(sorted(allowed)) or None


def parse_memory_byte(text: str) -> int | None:
    r"""From ``dominfo``: the domain's current memory.

    >>> parse_memory_byte("Max memory:     2048 KiB\nUsed memory:    1024 KiB\n")
    1048576
    """
    match = re.search(r"^Used memory:\s+(\d+) KiB$", text, re.MULTILINE)
    return number(match[1], "virsh dominfo") * _KIBIBYTE if match else None


def parse_quota(text: str) -> float | None:
    r"""From ``schedinfo``, in processors' worth: the scheduler's of QEMU and LXC (us), or Xen's (per cent).

    >>> parse_quota("global_period  : 100000\nglobal_quota   : 50000\n")
    0.5
    """
    settings = re.findall(r"^(\w+)\s*:\s*(-?\d+)$", text, re.MULTILINE)
    numbers = {name: number(value, "virsh schedinfo") for name, value in settings}
    if numbers.get("cap", 0) > 0:
        return numbers["cap"] / 100
    for kind in ("global", "vcpu"):
        quota, period = numbers.get(f"{kind}_quota", 0), numbers.get(f"{kind}_period", 0)
        if quota > 0 and period > 0 and quota < _NO_QUOTA:
            return quota / period
    return None


def parse_address(text: str) -> str | None:
    """From ``domifaddr``: the first IPv4 address other than the loopback's."""
    return next((match for match in _IPV4.findall(text) if not match.startswith("127.")), None)


def _carried() -> dict[str, str]:
    return {name: os.environ[name] for name in _CARRIED if name in os.environ}
