# SPDX-License-Identifier: Apache-2.0
"""What is read along a path of control groups, in trees of files as the kernel writes them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tare.host.cgroups import V1, V2, Group, Hierarchies
from tare.host.cgroups.path import parent_of, path_settings

NODE = "tare-0123abcd-4"
VERSION_1 = {
    "cpu": {"cpu.shares": "1024", "cpu.cfs_quota_us": "-1"},
    "blkio": {"blkio.bfq.weight": "100", "blkio.throttle.read_bps_device": ""},
    "pids": {"pids.max": "max"},
    "memory": {"memory.limit_in_bytes": "9223372036854771712"},
}
VERSION_2 = {
    "cpu.weight": "100",
    "cpu.max": "max 100000",
    "io.weight": "default 100",
    "io.max": "",
    "pids.max": "max",
    "memory.max": "max",
}
EQUAL_1 = {
    "CPU weight": "1024 > 1024",
    "CPU quota above": "none",
    "I/O weight": "100 > 100",
    "I/O limits": "none",
    "process limit above": "none",
    "memory limit above": "none",
}
EQUAL_2 = {**EQUAL_1, "CPU weight": "100 > 100"}


def write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")


class Tree:
    """A host's groups below a folder, in one version."""

    def __init__(self, folder: Path, version: int) -> None:
        self.folder, self.version = folder, version
        names = VERSION_1 if version == V1 else dict.fromkeys(("cpu", "io", "pids", "memory"))
        mounts = {name: folder / name if version == V1 else folder for name in names}
        self.host = Hierarchies(version=version, mounts=mounts)

    def add(self, path: str) -> None:
        levels = [path, *(str(parent) for parent in Path(path).parents if parent != Path())]
        for level in levels:
            for name, mount in self.host.mounts.items():
                write(mount / level, VERSION_1[name] if self.version == V1 else VERSION_2)

    def plant(self, path: str, file: str, text: str) -> None:
        controller = file.partition(".")[0]
        (self.host.mounts[controller] / path / file).write_text(f"{text}\n")

    def read(self, path: str, weight: int = 1) -> dict[str, str]:
        return path_settings(self.group(path), self.host, NODE, weight)

    def group(self, path: str) -> Group:
        return Group(self.version, {name: mount / path for name, mount in self.host.mounts.items()})


@pytest.fixture(params=[V1, V2])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    return Tree(tmp_path, request.param)


@pytest.mark.parametrize(
    "path", [f"tare/{NODE}", f"tare/{NODE}/payload/.lxc", "tare/0f8c", "tare.slice/docker-0f8c.scope"]
)
def test_groups_of_two_levels_with_the_kernels_own_weights_are_equal(tree: Tree, path: str) -> None:
    tree.add(path)
    assert tree.read(path) == (EQUAL_1 if tree.version == V1 else EQUAL_2)


def test_what_a_technology_makes_below_the_nodes_group_shares_the_nodes_part(tree: Tree) -> None:
    tree.add(f"tare/{NODE}")
    tree.add(f"tare/{NODE}/payload/inner")
    assert tree.read(f"tare/{NODE}/payload/inner") == tree.read(f"tare/{NODE}")


def test_a_node_that_stands_for_several_has_the_weight_of_all_of_them(tree: Tree) -> None:
    tree.add(f"tare/{NODE}/payload")
    file, usual = ("cpu.shares", 1024) if tree.version == V1 else ("cpu.weight", 100)
    shown = {}
    for weight in (1, 3, 4):
        tree.plant(f"tare/{NODE}", file, str(3 * usual))
        shown[weight] = tree.read(f"tare/{NODE}/payload", weight)["CPU weight"]
    assert shown == {1: f"{usual} > {3 * usual}", 3: f"{usual} > {usual}", 4: f"{usual} > {3 * usual // 4}"}


@pytest.mark.parametrize("inner", ["", "/payload", "/payload/.lxc"])
def test_a_nodes_group_has_one_parent_whatever_is_below_it(tree: Tree, inner: str) -> None:
    tree.add(f"tare/{NODE}{inner}")
    assert parent_of(tree.group(f"tare/{NODE}{inner}"), tree.host, NODE) == str(
        tree.host.mounts["cpu"] / "tare"
    )


def test_a_process_in_no_group_has_no_parent(tree: Tree) -> None:
    assert parent_of(tree.group(""), tree.host, NODE) is None


def test_a_group_at_another_depth_has_another_weight(tree: Tree) -> None:
    for path in (f"payload.{NODE}", f"a/b/{NODE}"):
        tree.add(path)
    weights = [tree.read(path)["CPU weight"] for path in (f"payload.{NODE}", f"a/b/{NODE}")]
    usual = "1024" if tree.version == V1 else "100"
    assert weights == [usual, f"{usual} > {usual} > {usual}"]


@pytest.mark.parametrize(
    ("version", "file", "text", "label", "shown"),
    [
        (V1, "cpu.shares", "512", "CPU weight", "512 > 1024"),
        (V2, "cpu.weight", "50", "CPU weight", "50 > 100"),
        (V1, "blkio.bfq.weight", "50", "I/O weight", "50 > 100"),
        (V2, "io.weight", "default 50\n8:0 200", "I/O weight", "50 8:0 200 > 100"),
        (V1, "cpu.cfs_quota_us", "50000", "CPU quota above", "50000 us in each period"),
        (V2, "cpu.max", "50000 100000", "CPU quota above", "0.5 processors"),
        (V1, "pids.max", "100", "process limit above", "100"),
        (V2, "pids.max", "100", "process limit above", "100"),
        (V1, "memory.limit_in_bytes", "1048576", "memory limit above", "1048576"),
        (V2, "memory.max", "1048576", "memory limit above", "1048576"),
        (V1, "blkio.throttle.read_bps_device", "8:0 1000", "I/O limits", "8:0 1000"),
        (V2, "io.max", "8:0 rbps=1000", "I/O limits", "8:0 rbps=1000"),
    ],
)
def test_what_a_parent_has_is_seen(
    tmp_path: Path, version: int, file: str, text: str, label: str, shown: str
) -> None:
    tree = Tree(tmp_path, version)
    tree.add(f"tare/{NODE}")
    tree.plant("tare", file, text)
    assert tree.read(f"tare/{NODE}")[label] == shown


def test_the_many_processes_that_systemd_allows_each_of_its_scopes_are_no_limit(tree: Tree) -> None:
    path = "tare.slice/docker-0f8c.scope"
    tree.add(path)
    tree.plant(path, "pids.max", "9457")
    assert tree.read(path)["process limit above"] == "none"


def test_a_weight_that_is_not_handed_down_to_the_node_is_not_compared(tmp_path: Path) -> None:
    """As systemd leaves the io controller out of a scope that asks for none."""
    tree = Tree(tmp_path, V2)
    tree.add("tare.slice/docker-0f8c.scope")
    for name in ("io.weight", "io.max"):
        (tmp_path / "tare.slice" / "docker-0f8c.scope" / name).unlink()
    read = tree.read("tare.slice/docker-0f8c.scope")
    assert "I/O weight" not in read
    assert (read["I/O limits"], read["CPU weight"]) == ("none", "100 > 100")


def test_the_nodes_own_quota_and_memory_are_the_campaigns(tree: Tree) -> None:
    tree.add(f"tare/{NODE}")
    quota, memory = (
        ("cpu.cfs_quota_us", "memory.limit_in_bytes") if tree.version == V1 else ("cpu.max", "memory.max")
    )
    tree.plant(f"tare/{NODE}", quota, "50000" if tree.version == V1 else "50000 100000")
    tree.plant(f"tare/{NODE}", memory, "1048576")
    assert tree.read(f"tare/{NODE}") == (EQUAL_1 if tree.version == V1 else EQUAL_2)


def test_a_controller_that_does_not_hold_the_process_is_left_out(tmp_path: Path) -> None:
    tree = Tree(tmp_path, V1)
    tree.add(f"tare/{NODE}")
    cpu_only = Group(V1, {"cpu": tmp_path / "cpu" / "tare" / NODE, "pids": tmp_path / "pids"})
    assert path_settings(cpu_only, tree.host, NODE) == {
        "CPU weight": "1024 > 1024",
        "CPU quota above": "none",
    }
