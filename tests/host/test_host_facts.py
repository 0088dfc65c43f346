# SPDX-License-Identifier: Apache-2.0
"""The host's facts, from recorded and written trees of /proc and /sys."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import HostError
from tare.host import facts, readings
from tare.host.cgroups import parse_processors
from tare.host.facts import cpu_flags, host_facts, lacking_memory, memory_byte, online_processors

RECORDED = Path(__file__).parent.parent / "outputs" / "host" / "virtual-machine"
CPU = "sys/devices/system/cpu"
GIBIBYTE = 1 << 30
MEMINFO = "MemTotal:        8131620 kB\nMemFree:          312345 kB\nMemAvailable:    4194304 kB\n"


def tree(root: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_the_recorded_virtual_machine_is_read_whole() -> None:
    result = host_facts(RECORDED)
    assert result["distribution"] == "Debian GNU/Linux 12 (bookworm)"
    assert result["processor"] == "Intel(R) Xeon(R) Processor"
    assert result["processors online"] == "2 (0-1)"
    assert result["SMT"] == "off"
    assert result["NUMA nodes"] == "1"
    assert result["transparent huge pages"] == "madvise"
    assert result["virtualization"] == "KVM"
    assert result["clocksource"] == "tsc"
    assert result["control groups"] == (
        "version 1: blkio cpu cpuacct cpuset devices freezer memory pids; version 2: hugetlb"
    )
    assert result["memory"].startswith("23.5 GiB, ")
    assert result["swap"] == "none"
    assert result["mitigations"] == "mitigated: retbleed, spectre_v2"
    assert result["address space randomization"] == "full"


def test_a_fact_that_cannot_be_read_says_why_and_the_others_stay() -> None:
    result = host_facts(RECORDED)
    assert result["governor"] == "not readable: no frequency scaling is visible here"
    assert result["turbo"].startswith("not readable: ")


def test_an_empty_root_gives_every_label_and_no_invented_value(tmp_path: Path) -> None:
    result = host_facts(tmp_path)
    assert set(result) == set(host_facts(RECORDED))
    assert {label for label, value in result.items() if not value.startswith("not readable: ")} == {
        *("container", "GPUs", "fabrics", "energy")
    }
    assert "No such file" in result["kernel"]


def test_every_fact_of_this_host_is_one_line() -> None:
    assert all(value and "\n" not in value for value in host_facts().values())


def test_a_server_with_two_governors_and_threads(tmp_path: Path) -> None:
    texts = {
        f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
        f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave\n",
        f"{CPU}/cpu0/topology/thread_siblings_list": "0,32\n",
        f"{CPU}/intel_pstate/no_turbo": "0\n",
        f"{CPU}/vulnerabilities/mds": "Vulnerable: Clear CPU buffers attempted, no microcode\n",
        "proc/cmdline": "root=/dev/sda1 mitigations=off quiet\n",
        "proc/meminfo": "MemTotal: 100 kB\nMemAvailable: 50 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n",
        "sys/class/dmi/id/sys_vendor": "Dell Inc.\n",
        "sys/class/dmi/id/product_name": "PowerEdge R760\n",
        "proc/cpuinfo": "processor : 0\nmodel name : Xeon\nflags : fpu sse2\n",
    }
    result = host_facts(tree(tmp_path, texts))
    assert result["governor"] == "performance, powersave"
    assert result["SMT"] == "on"
    assert result["turbo"] == "on"
    assert result["mitigations"] == "mitigations=off; mitigated: none; vulnerable: mds"
    assert result["swap"] == "2 MiB, 1 MiB used"
    assert result["virtualization"] == "none"


def test_an_amd_server_s_boost_is_its_turbo(tmp_path: Path) -> None:
    assert host_facts(tree(tmp_path, {f"{CPU}/cpufreq/boost": "0\n"}))["turbo"] == "off"


def test_an_arm_board_is_named_by_its_numbers() -> None:
    text = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
    assert readings.processor_model(text) == "implementer 0x41, part 0xd0c"
    assert readings.flags(text) == {"fp", "asimd"}


def test_flags_are_those_that_all_processors_have() -> None:
    assert readings.flags("flags : fpu avx avx2\n\nflags : fpu avx\n") == {"fpu", "avx"}
    assert readings.flags("nothing") == frozenset()


VERSION_1 = """\
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,xattr,name=systemd 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,nodev,noexec,relatime,memory 0 0
"""
VERSION_2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n"
HYBRID = VERSION_1 + "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n"


@pytest.mark.parametrize(
    ("mounts", "controllers", "said"),
    [
        (VERSION_1, None, "version 1: cpu cpuacct memory"),
        (VERSION_2, "cpuset cpu io memory pids\n", "version 2: cpuset cpu io memory pids"),
        (HYBRID, "", "version 1: cpu cpuacct memory; version 2: no controllers"),
        ("proc /proc proc rw 0 0\n", None, "none mounted"),
        ("", None, "none mounted"),
    ],
)
def test_control_groups_of_every_version(mounts: str, controllers: str | None, said: str) -> None:
    assert readings.control_groups(mounts, controllers) == said


@pytest.mark.parametrize(
    ("flags", "firmware", "clocksources", "hypervisor", "said"),
    [
        ({"hypervisor"}, "QEMU Standard PC", "tsc kvm-clock acpi_pm", "", "QEMU on KVM"),
        ({"hypervisor"}, "innotek GmbH VirtualBox", "tsc", "", "VirtualBox"),
        (
            {"hypervisor"},
            "Microsoft Corporation Virtual Machine",
            "hyperv_clocksource_tsc_page",
            "",
            "Hyper-V",
        ),
        ({"hypervisor"}, "", "tsc", "", "a virtual machine of unknown make"),
        ({"fpu"}, "Dell Inc. PowerEdge", "tsc hpet", "", "none"),
        ({"asimd"}, "", "arch_sys_counter", "linux,kvm\0", "linux,kvm"),
        ({"hypervisor"}, "", "xen", "xen\n", "xen"),
    ],
)
def test_virtualization_is_told_from_files(
    flags: set[str], firmware: str, clocksources: str, hypervisor: str, said: str
) -> None:
    virtualization = readings.virtualization(
        frozenset(flags), firmware=firmware, clocksources=clocksources, hypervisor=hypervisor
    )
    assert virtualization == said


@given(st.sets(st.integers(0, 500), min_size=1))
def test_any_list_of_processors_is_read_back(processors: set[int]) -> None:
    ordered = sorted(processors)
    assert parse_processors(",".join(map(str, ordered))) == tuple(ordered)


def test_ranges_of_processors_are_read() -> None:
    assert parse_processors("0-2,5\n") == (0, 1, 2, 5)
    assert parse_processors("\n") == ()


@pytest.mark.parametrize(
    "reader",
    [
        parse_processors,
        readings.selected,
        readings.processor_model,
        lambda content: readings.memory_size_byte(content, "MemTotal"),
        lambda content: readings.required(content, "microcode"),
    ],
)
@given(
    text=st.text(st.characters(exclude_characters="["), max_size=60).filter(lambda text: text.strip(" \n,"))
)
def test_garbage_below_proc_is_refused_in_words(reader: Callable[[str], object], text: str) -> None:
    """The texts are too short and random to be right by chance, but for ``[0]``, which marks a choice."""
    with pytest.raises(ValueError, match=r"\w"):
        reader("garbage: " + text)


def test_this_process_s_processors_and_memory_are_those_the_kernel_tells() -> None:
    assert set(online_processors()) == os.sched_getaffinity(0)
    assert memory_byte() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_without_proc_the_memory_is_a_host_error_and_the_flags_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "ROOT", tmp_path)
    cpu_flags.cache_clear()
    try:
        assert cpu_flags() == frozenset()
        with pytest.raises(HostError, match="mount /proc"):
            memory_byte()
    finally:
        cpu_flags.cache_clear()


@pytest.fixture
def meminfo(tmp_path: Path) -> Path:
    path = tmp_path / "meminfo"
    path.write_text(MEMINFO)
    return path


def test_what_fits_exactly_is_not_refused(meminfo: Path) -> None:
    assert lacking_memory(4, GIBIBYTE, meminfo) is None


def test_what_does_not_fit_is_said_with_both_sizes(meminfo: Path) -> None:
    words = lacking_memory(5, GIBIBYTE, meminfo)
    assert words is not None
    assert "5 nodes of 1 GiB at the same time need 5 GiB, and this host has 4 GiB available" in words


def test_a_host_that_does_not_tell_is_an_error(meminfo: Path) -> None:
    meminfo.write_text("MemTotal: 1 kB\n")
    with pytest.raises(HostError, match="does not report the available memory"):
        lacking_memory(1, 1, meminfo)
