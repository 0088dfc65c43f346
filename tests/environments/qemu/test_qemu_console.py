# SPDX-License-Identifier: Apache-2.0
"""Which line of what a guest printed says why it ended."""

import pytest

from tare.environments.qemu.console import end_of, reason

PANIC = """\
[    8.829186] sysrq: Trigger a crash
[    8.829300] Kernel panic - not syncing: sysrq triggered crash
[    8.830924] CPU: 0 PID: 61 Comm: sh Not tainted 6.1.0-56-amd64
[    8.831539] Kernel Offset: disabled
"""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (PANIC, "Kernel panic - not syncing: sysrq triggered crash"),
        (
            "tare: the guest ends: no /dev/vdz\n[    2.1] reboot: Power down\n",
            "tare: the guest ends: no /dev/vdz",
        ),
        ("[    2.1] reboot: Power down\n\n", "[    2.1] reboot: Power down"),
        ("", "nothing"),
    ],
)
def test_the_line_that_says_why_comes_before_the_last(said: str, why: str) -> None:
    assert reason(said) == why


def test_of_much_the_end_is_kept() -> None:
    assert end_of("x" * 5000 + "end").endswith("end")
    assert len(end_of("x" * 5000)) == 2000
