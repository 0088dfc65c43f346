# SPDX-License-Identifier: Apache-2.0
"""A folder that a second local user can change, itself or anything on its way, is not used."""

import json
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unprivileged.ordinary_user import AS_ROOT, USER, OrdinaryUser

from tare.errors import HostError
from tare.host import paths
from tare.host.own_files import open_own, open_own_lock, open_plain
from tare.host.trust import made, trusted

ACCESS_LIST = struct.pack(
    "<I" + "HHI" * 5,
    *(2, 1, 7, 0xFFFFFFFF, 2, 7, USER, 4, 5, 0xFFFFFFFF, 0x10, 7, 0xFFFFFFFF, 0x20, 5, 0xFFFFFFFF),
)
"""For acl(5)'s attribute: the user may write; the mask that allows it shows as the group's right."""


def make_folder(path: Path, mode: int, owner: int = 0) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(mode)
    os.chown(path, owner, owner)
    return path


class TestTheWay:
    pytestmark = AS_ROOT

    def test_ones_own_folder_below_everybodys_is_good_and_so_is_one_to_be_made(self, tmp_path: Path) -> None:
        shared = make_folder(tmp_path / "shared", 0o1777)
        assert trusted(shared / "mine" / "state") == shared / "mine" / "state"
        make_folder(shared / "mine", 0o755)
        assert trusted(shared / "mine" / "state") == shared / "mine" / "state"

    @pytest.mark.parametrize(
        ("mode", "owner", "words"),
        [
            (0o777, 0, "can be written by every user"),
            (0o1777, 0, "can be written by every user"),
            (0o755, USER, f"belongs to user {USER}"),
            (0o700, USER, f"belongs to user {USER}"),
        ],
    )
    def test_a_state_folder_that_another_owns_or_can_write_is_refused(
        self, mode: int, owner: int, words: str, tmp_path: Path
    ) -> None:
        with pytest.raises(HostError, match=words) as caught:
            trusted(make_folder(tmp_path / "state", mode, owner))
        assert str(tmp_path / "state") in str(caught.value)
        assert "set TARE_STATE to a folder of yours" in str(caught.value)

    @pytest.mark.parametrize(("mode", "owner"), [(0o777, 0), (0o755, USER), (0o1777, USER)])
    def test_so_is_one_below_a_folder_that_another_can_change(
        self, mode: int, owner: int, tmp_path: Path
    ) -> None:
        above = make_folder(tmp_path / "above", mode, owner)
        make_folder(above / "state", 0o700)
        with pytest.raises(HostError, match=f"{above} (can be written|belongs to)"):
            trusted(above / "state")
        with pytest.raises(HostError, match=f"{above} (can be written|belongs to)"):
            trusted(above / "not yet" / "state")

    @pytest.mark.parametrize(
        ("primary", "members", "good"),
        [
            ([0], [], True),
            ([0], ["root"], True),
            ([0, USER], [], False),
            ([0], ["root", "somebody"], False),
            ([], [], False),
        ],
    )
    def test_a_group_may_write_that_has_the_owner_as_its_only_member(
        self,
        primary: list[int],
        members: list[str],
        good: bool,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        state = make_folder(tmp_path / "state", 0o775)
        os.chown(state, 0, USER)
        monkeypatch.setattr(
            "tare.host.trust.grp.getgrgid", lambda _: SimpleNamespace(gr_name="own", gr_mem=members)
        )
        users = [SimpleNamespace(pw_uid=uid, pw_gid=USER) for uid in primary]
        monkeypatch.setattr(
            "tare.host.trust.pwd.getpwall", lambda: [*users, SimpleNamespace(pw_uid=1, pw_gid=1)]
        )
        if good:
            assert trusted(state) == state
            os.setxattr(state, "system.posix_acl_access", ACCESS_LIST)
        with pytest.raises(HostError, match=f"can be written by the group own, .*: chmod go-w {state}"):
            trusted(state)

    def test_a_link_is_followed_to_where_it_leads_if_nobody_else_can_turn_it(self, tmp_path: Path) -> None:
        shared, real = make_folder(tmp_path / "shared", 0o1777), make_folder(tmp_path / "real", 0o755)
        (shared / "link").symlink_to("../real")
        assert trusted(shared / "link" / "state") == real / "state"
        os.lchown(shared / "link", USER, USER)
        with pytest.raises(HostError, match=f"{shared / 'link'} belongs to user {USER}"):
            trusted(shared / "link" / "state")

    def test_a_link_into_a_folder_of_anothers_is_refused(self, tmp_path: Path) -> None:
        other = make_folder(tmp_path / "other", 0o755, USER)
        (tmp_path / "link").symlink_to(other)
        with pytest.raises(HostError, match=f"{other} belongs to"):
            trusted(tmp_path / "link" / "state")

    def test_links_in_a_circle_are_an_error_in_words(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(HostError, match="more than 40 links"):
            trusted(tmp_path / "a" / "state")

    def test_a_folder_is_made_for_its_owner_whatever_the_mask_and_an_older_one_is_closed(
        self, tmp_path: Path
    ) -> None:
        before = os.umask(0)
        try:
            assert stat.S_IMODE(made(tmp_path / "a" / "b", 0o700).stat().st_mode) == 0o700
            assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755
        finally:
            os.umask(before)
        old = make_folder(tmp_path / "old", 0o2755)
        assert stat.S_IMODE(made(old, 0o700).stat().st_mode) == 0o2700


class TestASecondLocalUser:
    """Nothing that an ordinary user can make is taken by root, or by another one."""

    pytestmark = AS_ROOT

    @pytest.mark.parametrize(
        "asked", ["state_directory", "images_directory", "nodes_directory", "calibrations_directory"]
    )
    def test_root_does_not_use_the_state_folder_that_sudo_kept(
        self, asked: str, user: OrdinaryUser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert user.run("mkdir", "-p", str(user.state / "images"), str(user.state / "nodes")).returncode == 0
        monkeypatch.setenv("TARE_STATE", str(user.state))
        question: Callable[[], Path] = getattr(paths, asked)
        with pytest.raises(HostError, match=f"{user.home} belongs to user {USER}.*run as that user"):
            question()

    def test_the_owner_uses_it(self, user: OrdinaryUser) -> None:
        done = user.python("from tare.host.paths import nodes_directory; print(nodes_directory())")
        assert done.stdout == f"{user.state / 'nodes'}\n", done.stderr

    def test_a_folder_planted_under_the_name_of_one_to_be_made_is_refused(self, user: OrdinaryUser) -> None:
        shared = make_folder(user.home / "shared", 0o1777)
        assert user.run("mkdir", "-m", "777", str(shared / "state")).returncode == 0
        user.home.chmod(0o755)
        os.chown(user.home, 0, 0)
        with pytest.raises(HostError, match="belongs to"):
            made(shared / "state")
        assert list((shared / "state").iterdir()) == []

    def test_an_ordinary_user_takes_roots_images_only_if_root_alone_can_change_them(
        self, user: OrdinaryUser
    ) -> None:
        system = make_folder(user.home.parent / f"{user.home.name}-system", 0o755)
        try:
            make_folder(system / "images", 0o755)
            code = (
                "import json, sys\nfrom pathlib import Path\nfrom tare.host import paths\n"
                "paths._SYSTEM = Path(sys.argv[1])\n"
                "print(json.dumps([list(map(str, paths.images_directories())), paths.distrusted_system()]))\n"
            )
            (folders, why) = json.loads(user.python(code, str(system)).stdout)
            assert (folders[1:], why) == ([str(system / "images")], None)
            (system / "images").chmod(0o777)
            (folders, why) = json.loads(user.python(code, str(system)).stdout)
            assert folders == [str(user.state / "images")]
            assert f"{system / 'images'} can be written by every user" in why
        finally:
            (system / "images").rmdir()
            system.rmdir()

    def test_nobody_else_opens_a_lock_or_enters_the_nodes(self, user: OrdinaryUser) -> None:
        state = make_folder(user.home.parent / f"{user.home.name}-state", 0o755)
        try:
            (state / "lock").touch(0o644)
            os.close(open_own_lock(state / "lock"))
            (made(state / "nodes", 0o700) / "setuid").touch()
            for path in (state / "lock", state / "nodes" / "setuid"):
                assert "Permission denied" in user.run("flock", "--nonblock", str(path), "true").stderr
        finally:
            (state / "nodes" / "setuid").unlink()
            (state / "nodes").rmdir()
            (state / "lock").unlink()
            state.rmdir()


class TestFiles:
    def test_a_lock_is_its_owners_alone(self, tmp_path: Path) -> None:
        os.close(open_own_lock(tmp_path / "lock"))
        assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600

    @pytest.mark.parametrize("open_one", [open_plain, open_own, open_own_lock])
    def test_what_is_no_plain_file_is_refused_without_waiting(
        self, open_one: Callable[[Path], int], tmp_path: Path
    ) -> None:
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "folder").mkdir()
        (tmp_path / "data").touch()
        (tmp_path / "link").symlink_to("data")
        for name in ("pipe", "folder", "link"):
            with pytest.raises(OSError, match=r"plain file|symbolic links|directory"):
                open_one(tmp_path / name)

    @pytest.mark.parametrize("mode", [0o666, 0o602])
    def test_a_file_that_others_can_write_is_refused(self, mode: int, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "file").chmod(mode)
        with pytest.raises(PermissionError, match="can be written by every user"):
            open_own(tmp_path / "file")

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
    def test_anothers_file_is_refused_and_anothers_link_by_a_second_name(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        os.link(tmp_path / "file", tmp_path / "second")
        os.close(open_plain(tmp_path / "second"))
        os.chown(tmp_path / "file", USER, USER)
        with pytest.raises(PermissionError, match="second name"):
            open_plain(tmp_path / "second")
        (tmp_path / "second").unlink()
        os.close(open_plain(tmp_path / "file"))
        with pytest.raises(PermissionError, match="belongs to user"):
            open_own(tmp_path / "file")
