# SPDX-License-Identifier: Apache-2.0
"""What is said to threaten a measurement, and what is not."""

from pathlib import Path

import pytest

from tare.host.threats import FREE_BYTE, device_threats, find_threats, space_threats

QUIET = {
    "governor": "performance",
    "turbo": "off",
    "SMT": "off",
    "transparent huge pages": "madvise",
    "load average": "0.10 0.50 0.90",
    "swap": "none",
    "clocksource": "tsc",
    "virtualization": "none",
    "control groups": "version 2: cpuset cpu io memory pids",
}


def test_a_quiet_bare_machine_is_not_threatened() -> None:
    assert find_threats(QUIET, 4) == []


@pytest.mark.parametrize(
    ("label", "value", "says"),
    [
        ("governor", "powersave", "is powersave"),
        ("turbo", "on", "temperature"),
        ("SMT", "on", "threads of one core"),
        ("transparent huge pages", "always", "memory-bound"),
        ("load average", "2.10 0.00 0.00", "is 2.1 on 4 processors"),
        ("swap", "2 GiB, 0 B used", "gets slow"),
        ("clocksource", "hpet", "is hpet"),
        ("virtualization", "KVM", "neighbours"),
        ("control groups", "version 2: no controllers", "lack cpuset, cpu, memory"),
        ("control groups", "version 1: cpu cpuacct memory", "lack cpuset"),
    ],
)
def test_each_threat_is_named_with_a_way_out(label: str, value: str, says: str) -> None:
    (threat,) = find_threats({**QUIET, label: value}, 4)
    assert threat.subject == label
    assert says in threat.remark
    assert threat.remedy


def test_what_cannot_be_read_is_no_threat() -> None:
    assert find_threats(dict.fromkeys(QUIET, "not readable: no such file"), 4) == []


def test_a_load_of_half_a_processor_each_is_still_quiet() -> None:
    assert find_threats({**QUIET, "load average": "2.00 9.00 9.00"}, 4) == []


def test_dev_null_that_became_a_file_is_a_threat_with_the_command_that_mends_it(tmp_path: Path) -> None:
    assert list(device_threats()) == []
    overwritten = tmp_path / "null"
    overwritten.write_text("kept")
    (threat,) = device_threats(overwritten)
    assert "mknod" in threat.remedy
    (missing,) = device_threats(tmp_path / "absent")
    assert "No such file" in missing.remark


def test_a_nearly_full_disk_is_a_threat_even_where_the_folder_is_not_made_yet(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet"
    assert list(space_threats(folder, lambda _: FREE_BYTE)) == []
    (threat,) = space_threats(folder, lambda path: FREE_BYTE - 1 if path == tmp_path else FREE_BYTE)
    assert threat.subject == str(folder)
    assert "TARE_STATE" in threat.remedy
