# SPDX-License-Identifier: Apache-2.0
"""Whether a kernel gives ordinary users what their nodes are made of, and if not, why and what to do."""

import os
from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.environments import PROVIDERS
from tare.errors import HostError, NodeError
from tare.host import paths, process, user_namespaces
from tare.host.user_namespaces import FUSE_OVERLAYFS, OVERLAYFS, find_obstacle, layer_maker
from tare.nodes import unprivileged

REFUSED = process.Completed(code=1, stdout="", stderr="unshare failed: Operation not permitted")
DONE = process.Completed(code=0, stdout="", stderr="")


def kernel(monkeypatch: pytest.MonkeyPatch, *working: str) -> None:
    """One on which only these kinds of file system can be mounted in a user namespace."""
    monkeypatch.setattr(process, "run", lambda argv, **_: DONE if set(argv) & set(working) else REFUSED)


def switches(root: Path, **values: str) -> Path:
    names = {
        "unprivileged_userns_clone": "proc/sys/kernel",
        "max_user_namespaces": "proc/sys/user",
        "apparmor_restrict_unprivileged_userns": "proc/sys/kernel",
        "osrelease": "proc/sys/kernel",
    }
    for name, value in values.items():
        (root / names[name]).mkdir(parents=True, exist_ok=True)
        (root / names[name] / name).write_text(f"{value}\n")
    return root


def test_a_kernel_that_can_do_all_of_it_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch, "tmpfs", "overlay")
    assert find_obstacle() is None
    assert layer_maker() == OVERLAYFS


@pytest.mark.parametrize(
    ("name", "value", "reason", "remedy"),
    [
        ("unprivileged_userns_clone", "0", "nobody but root", "sysctl kernel.unprivileged_userns_clone=1"),
        ("max_user_namespaces", "0", "switched off", "sysctl user.max_user_namespaces"),
        ("apparmor_restrict_unprivileged_userns", "1", "AppArmor", "profile with `userns,`"),
    ],
)
def test_the_switch_that_forbids_it_is_named_with_the_way_to_turn_it(
    name: str, value: str, reason: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel(monkeypatch)
    allowing = {"unprivileged_userns_clone": "1", "max_user_namespaces": "100"}
    obstacle = find_obstacle(switches(tmp_path, **{**allowing, name: value}))
    assert obstacle is not None
    assert reason in obstacle.reason
    assert f"{name} is {value}" in obstacle.reason
    assert remedy in obstacle.remedy


def test_a_refusal_for_no_known_reason_points_to_the_administrator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel(monkeypatch)
    obstacle = find_obstacle(tmp_path)
    assert obstacle is not None
    assert "refuses mounts" in obstacle.reason
    assert "administrator" in obstacle.remedy


def test_a_missing_unshare_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise NodeError("the program 'unshare' is not on this host")

    monkeypatch.setattr(process, "run", missing)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    obstacle = find_obstacle(tmp_path)
    assert obstacle is not None
    assert obstacle.remedy == "apt-get install util-linux"


def test_an_old_kernel_needs_fuse_overlayfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch, "tmpfs")
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    obstacle = find_obstacle(switches(tmp_path, osrelease="5.4.0"))
    assert obstacle is not None
    assert "5.4.0" in obstacle.reason
    assert obstacle.remedy.startswith("apt-get install fuse-overlayfs")


def test_where_fuse_overlayfs_is_the_old_kernel_does(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch, "tmpfs")
    monkeypatch.setattr("shutil.which", lambda *_, **__: "/usr/bin/fuse-overlayfs")
    assert find_obstacle() is None
    assert layer_maker() == FUSE_OVERLAYFS


def test_the_attempt_leaves_no_folder_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    layer_maker()
    assert list(tmp_path.iterdir()) == []


def test_an_obstacle_makes_the_environment_unusable_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch)
    monkeypatch.setattr(
        unprivileged, "find_obstacle", lambda: user_namespaces.Obstacle("it is off", "turn it on")
    )
    for probe in (unprivileged.probe(), unprivileged.probe_tool(["bwrap", "--version"], "bubblewrap")):
        assert (probe.usable, probe.reason) == (False, "it is off")
        assert probe.remedy == "turn it on; or run as root"


def test_a_missing_tool_is_named_where_the_kernel_is_willing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unprivileged, "find_obstacle", lambda: None)
    monkeypatch.setattr(process, "_DEFAULT_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    probe = unprivileged.probe_tool(["bwrap", "--version"], "bubblewrap")
    assert (probe.usable, probe.remedy) == (False, "apt-get install bubblewrap")


def test_podmans_own_storage_is_roots_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    probe = PROVIDERS["podman"].configured({"storage": "own"}).probe()
    assert not probe.usable
    assert "leave out the option storage" in probe.remedy


def test_a_work_directory_within_another_node_is_refused(tmp_path: Path) -> None:
    """On a tmpfs it is in the other node's mount namespace, and a link leads there."""
    (tmp_path / "work").symlink_to(tmp_path)
    with pytest.raises(NodeError, match="do not share a work directory"):
        unprivileged.start(described(tmp_path, shared_work=tmp_path / "work"))


def test_images_are_looked_for_in_the_users_own_folder_and_then_in_the_systems(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paths.images_directories() == [state / "images"]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert paths.images_directories() == [state / "images", Path("/var/lib/tare/images")]


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(os, "geteuid", lambda: 64123)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(HostError, match="set HOME, or TARE_STATE"):
        paths.state_directory()
