# SPDX-License-Identifier: Apache-2.0
"""What each technology is told, word for word, without starting anything."""

from pathlib import Path

import pytest
from tests.environments.environment_example import MEBIBYTE, described

from tare.engines import engine
from tare.environments import bubblewrap, lxc, nspawn
from tare.environments.lxc import configuration
from tare.host.cgroups import V1, V2, Hierarchies
from tare.nodes import layer
from tare.nodes.devices import Device
from tare.nodes.provider import Bind

BINDS = (Bind(path=Path("/data/in put")), Bind(path=Path("/data/out#\\1"), writable=True))
DEVICES = (
    Device(path=Path("/dev/dri/renderD128"), major=226, minor=128),
    Device(path=Path("/dev/fuse"), major=10, minor=229),
)
LAYER = "/state/nodes/tare-1/layer"


def host(folder: Path, version: int, *, swap: bool = True) -> Hierarchies:
    """A host of either version, that can limit swap or not."""
    (folder / "group").mkdir()
    if swap:
        (folder / "memory.memsw.limit_in_bytes").touch()
        (folder / "group" / "memory.swap.max").touch()
    return Hierarchies(version=version, mounts={"memory": folder})


def lxc_lines(text: str) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, _, value = line.partition(" = ")
        result.setdefault(key, []).append(value)
    return result


def single(lines: dict[str, list[str]], part: str) -> dict[str, str]:
    """The settings whose names hold ``part``, each of which may stand once."""
    result = {key: values for key, values in lines.items() if part in key}
    assert all(len(values) == 1 for values in result.values())
    return {key: values[0] for key, values in result.items()}


class TestLxc:
    def test_limits_of_version_1(self, tmp_path: Path) -> None:
        lines = lxc_lines(configuration(described(cpu_quota=1.5), host(tmp_path, V1)))
        limits = {key: value for key, value in single(lines, "lxc.cgroup.").items() if ".dir." not in key}
        assert limits == {
            "lxc.cgroup.cpuset.cpus": "0,2,3",
            "lxc.cgroup.memory.limit_in_bytes": str(512 * MEBIBYTE),
            "lxc.cgroup.memory.memsw.limit_in_bytes": str(512 * MEBIBYTE),
            "lxc.cgroup.cpu.cfs_quota_us": "150000",
        }
        assert not any(key.startswith("lxc.cgroup2.") for key in lines)

    def test_limits_of_version_2(self, tmp_path: Path) -> None:
        lines = lxc_lines(configuration(described(cpu_quota=0.25), host(tmp_path, V2)))
        assert single(lines, "lxc.cgroup2.") == {
            "lxc.cgroup2.cpuset.cpus": "0,2,3",
            "lxc.cgroup2.memory.max": str(512 * MEBIBYTE),
            "lxc.cgroup2.memory.swap.max": "0",
            "lxc.cgroup2.cpu.max": "25000 100000",
        }

    @pytest.mark.parametrize("version", [V1, V2])
    def test_without_a_quota_none_is_set(self, version: int, tmp_path: Path) -> None:
        lines = lxc_lines(configuration(described(), host(tmp_path, version)))
        assert "lxc.cgroup.cpu.cfs_quota_us" not in lines
        assert lines.get("lxc.cgroup2.cpu.max") == (["max 100000"] if version == V2 else None)

    @pytest.mark.parametrize("version", [V1, V2])
    def test_a_kernel_that_cannot_limit_swap_is_not_asked_to(self, version: int, tmp_path: Path) -> None:
        text = configuration(described(), host(tmp_path, version, swap=False))
        assert "swap" not in text
        assert "memsw" not in text

    def test_its_groups_share_the_weight_of_one_node(self, tmp_path: Path) -> None:
        lines = lxc_lines(configuration(described(), host(tmp_path, V1)))
        assert single(lines, ".dir.") == {
            "lxc.cgroup.dir.container": "tare/tare-1/payload",
            "lxc.cgroup.dir.monitor": "tare/tare-1/monitor",
            "lxc.cgroup.dir.monitor.pivot": "tare/ending",
        }

    def test_bound_folders_keep_spaces_and_other_characters(self, tmp_path: Path) -> None:
        lines = lxc_lines(configuration(described(binds=BINDS), host(tmp_path, V1)))
        assert lines["lxc.mount.entry"] == [
            f"tmpfs dev/shm tmpfs nosuid,size={16 * MEBIBYTE},mode=1777,create=dir 0 0",
            f"{LAYER}/work mnt/tare none rbind 0 0",
            f"{LAYER}/bound/0 data/in\\040put none rbind,ro 0 0",
            f"{LAYER}/bound/1 data/out#\\1341 none rbind 0 0",
        ]

    @pytest.mark.parametrize(("version", "key"), [(V1, "lxc.cgroup"), (V2, "lxc.cgroup2")])
    def test_a_device_is_bound_and_allowed(self, version: int, key: str, tmp_path: Path) -> None:
        lines = lxc_lines(configuration(described(devices=DEVICES), host(tmp_path, version)))
        assert lines[f"{key}.devices.allow"] == ["c 226:128 rwm", "c 10:229 rwm"]
        assert lines["lxc.mount.entry"][-1] == "/dev/fuse dev/fuse none bind,create=file 0 0"

    def test_a_state_folder_with_a_space_is_one_field(self, tmp_path: Path) -> None:
        text = configuration(described(Path("/my state/tare-1")), host(tmp_path, V1))
        assert "lxc.mount.entry = /my\\040state/tare-1/layer/work mnt/tare none rbind 0 0\n" in text
        assert "lxc.rootfs.path = dir:/my state/tare-1/root\n" in text

    def test_the_first_errors_of_its_log_are_the_reason(self) -> None:
        log = (
            "lxc-start n 20250101 ERROR    utils - ../src/lxc/utils.c:safe_mount:1 - No such file - /x\n"
            "lxc-start n 20250101 WARN     conf - ../src/lxc/conf.c:some:2 - Never mind\n"
            "lxc-start n 20250101 ERROR    conf - ../src/lxc/conf.c:mount:3 - Failed to mount /x\n"
            "lxc-start n 20250101 ERROR    lxc_start - ../src/lxc_start.c:main:4 - The container failed to start\n"
        )
        assert lxc._errors(log) == "No such file - /x / Failed to mount /x"


class TestNspawn:
    def test_shm_and_binds(self) -> None:
        argv = nspawn._nspawn(described(binds=BINDS))
        assert f"--tmpfs=/dev/shm:mode=1777,size={16 * MEBIBYTE}" in argv
        assert argv[-3:] == [
            f"--bind={LAYER}/work:/mnt/tare",
            f"--bind-ro={LAYER}/bound/0:/data/in put",
            f"--bind={LAYER}/bound/1:/data/out#\\\\1",
        ]

    def test_a_colon_in_a_name_does_not_split_it(self) -> None:
        argv = nspawn._nspawn(described(Path("/a:b/tare-1"), binds=(Bind(path=Path("/c:d")),)))
        assert argv[-2:] == [
            "--bind=/a\\:b/tare-1/layer/work:/mnt/tare",
            "--bind-ro=/a\\:b/tare-1/layer/bound/0:/c\\:d",
        ]


class TestBubblewrap:
    def test_shm_and_binds(self) -> None:
        words = " ".join(bubblewrap._options(described(binds=BINDS)))
        assert f"--size {16 * MEBIBYTE} --perms 1777 --tmpfs /dev/shm" in words
        assert f"--bind {LAYER}/work /mnt/tare" in words
        assert f"--ro-bind {LAYER}/bound/0 /data/in put --bind {LAYER}/bound/1 /data/out#\\1" in words
        assert "--clearenv" in words


def test_each_bound_folder_has_a_place_of_its_own() -> None:
    places = [source for source, _ in layer.bound_sources(described(binds=BINDS * 3))]
    assert len(set(places)) == len(places) == 6


def test_a_folder_below_dev_is_open_to_every_user_of_a_bubble() -> None:
    argv = bubblewrap._options(described(devices=DEVICES))
    made = argv.index("--dir")
    assert argv[made - 2 : made + 2] == ["--perms", "755", "--dir", "/dev/dri"]
    assert argv[made + 2 : made + 5] == ["--dev-bind", "/dev/dri/renderD128", "/dev/dri/renderD128"]


def test_the_engines_are_given_a_device_by_its_path() -> None:
    assert engine.devices(described(devices=DEVICES)) == [
        "--device=/dev/dri/renderD128",
        "--device=/dev/fuse",
    ]
