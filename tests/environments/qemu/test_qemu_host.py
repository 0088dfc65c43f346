# SPDX-License-Identifier: Apache-2.0
"""What of the host a machine depends on, read from made-up hosts."""

from pathlib import Path

import pytest

from tare.environments.qemu import host
from tare.environments.qemu.host import constant_khz, huge_pages_for, uses_vhost
from tare.environments.qemu.options import Accelerator, QemuOptions
from tare.errors import NodeError

MEBIBYTE = 1 << 20
CONSTANT = "flags\t\t: fpu tsc constant_tsc nonstop_tsc\ncpu MHz\t\t: 2596.122\nflags\t\t: fpu\n"
MOUNTS = "hugetlbfs /dev/huge\\040pages hugetlbfs rw,relatime,pagesize=2M 0 0\n"


class TestCounter:
    def test_its_rate_is_the_processors_where_nothing_changes_it(self) -> None:
        assert constant_khz(CONSTANT) == 2596122

    @pytest.mark.parametrize(
        "text",
        [
            CONSTANT.replace("constant_tsc ", ""),
            CONSTANT.replace("fpu tsc", "fpu aperfmperf tsc"),
            CONSTANT.replace("cpu MHz", "bogomips"),
            "",
        ],
    )
    def test_a_rate_that_may_be_another_is_not_told(self, text: str) -> None:
        assert constant_khz(text) is None


class TestHugePages:
    @pytest.fixture
    def root(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """100 pages of 2 MiB are free."""
        pages = tmp_path / "sys/kernel/mm/hugepages/hugepages-2048kB"
        pages.mkdir(parents=True)
        (pages / "free_hugepages").write_text("100\n")
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/meminfo").write_text("MemTotal: 1 kB\nHugepagesize:       2048 kB\n")
        monkeypatch.setattr(host, "mounts_text", lambda: MOUNTS)
        return tmp_path

    def test_enough_of_them_are_found_where_they_are_mounted(self, root: Path) -> None:
        assert huge_pages_for(200 * MEBIBYTE, root) == Path("/dev/huge pages")

    def test_too_few_are_told_with_how_many_more(self, root: Path) -> None:
        with pytest.raises(
            NodeError, match=r"needs 128 huge pages of 2 MiB, and 100 .*nr_hugepages=28` more"
        ):
            huge_pages_for(256 * MEBIBYTE, root)

    def test_memory_that_is_no_number_of_them_is_refused(self, root: Path) -> None:
        with pytest.raises(NodeError, match=r"do not add up"):
            huge_pages_for(201 * MEBIBYTE, root)

    def test_without_a_mount_or_a_kernel_that_has_them_the_remedy_is_told(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(host, "mounts_text", lambda: "")
        with pytest.raises(NodeError, match=r"mount -t hugetlbfs"):
            huge_pages_for(200 * MEBIBYTE, root)
        (root / "proc/meminfo").write_text("MemTotal: 1 kB\n")
        with pytest.raises(NodeError, match=r"no huge pages"):
            huge_pages_for(200 * MEBIBYTE, root)


class TestVhost:
    @pytest.fixture
    def device(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        path = tmp_path / "vhost-net"
        path.touch()
        monkeypatch.setattr(host, "_VHOST", path)
        return path

    @pytest.mark.usefixtures("device")
    def test_by_default_it_is_used_with_kvm_alone(self) -> None:
        assert uses_vhost(QemuOptions.of({}), Accelerator.KVM)
        assert not uses_vhost(QemuOptions.of({}), Accelerator.TCG)
        assert not uses_vhost(QemuOptions.of({"devices": "emulated"}), Accelerator.KVM)

    @pytest.mark.usefixtures("device")
    def test_what_is_said_counts(self) -> None:
        assert not uses_vhost(QemuOptions.of({"vhost": "off"}), Accelerator.KVM)
        assert uses_vhost(QemuOptions.of({"vhost": "on"}), Accelerator.TCG)

    def test_without_the_device_only_a_wish_is_an_error(self, device: Path) -> None:
        device.unlink()
        assert not uses_vhost(QemuOptions.of({}), Accelerator.KVM)
        with pytest.raises(NodeError, match=r"modprobe vhost_net"):
            uses_vhost(QemuOptions.of({"vhost": "on"}), Accelerator.KVM)
