# SPDX-License-Identifier: Apache-2.0
"""A root filesystem of this host's own files, and the image of it."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tare.errors import HostError, InputError
from tare.image import Image, host_image, list_images, verify
from tare.image.host_files import FilesOfHost, HostTree, interpreters, is_open, is_unchanged, stamp
from tare.image.host_image import build_host_image, has_command, missing, path_of
from tests.image.stand_ins import quiet, write_program

SHELL = "/bin/sh"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> HostTree:
    """A shell and what it needs, as this host has it."""
    root = tmp_path_factory.mktemp("root")
    root.chmod(0o755)
    made = HostTree(root)
    made._merge()
    made.put_program(SHELL)
    return made


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, state: Path, tmp_path: Path) -> Path:
    """Images hold a shell alone, and Tare's programs are a stand-in."""
    programs = tmp_path / "programs"
    programs.mkdir()
    write_program(programs / "init", "static")

    def fill(tree: HostTree) -> None:
        tree._merge()
        tree._folder("/etc")
        tree.put_program(SHELL)

    monkeypatch.setattr(HostTree, "fill", fill)
    monkeypatch.setattr(host_image, "native_programs", lambda *_: programs)
    monkeypatch.setattr(host_image, "programs_key", lambda _: "one")
    return state


def test_a_copied_program_has_its_loader_and_libraries(tree: HostTree) -> None:
    linked = FilesOfHost().linked(SHELL)
    assert linked is not None
    image = Image("small", tree.root, "sha256:0")
    assert missing(image, SHELL) == []
    if linked.interpreter is not None:
        assert (tree.root / linked.interpreter.lstrip("/")).exists()


@pytest.mark.root
def test_a_copied_program_runs_in_its_root(tree: HostTree) -> None:
    done = subprocess.run(
        ["chroot", tree.root, SHELL, "-c", "echo $((6 * 7))"], capture_output=True, check=True
    )
    assert done.stdout == b"42\n"


def test_no_copy_has_the_rights_of_its_owner_or_can_be_written_by_others(tmp_path: Path) -> None:
    special = tmp_path / "special"
    write_program(special, "#!/bin/sh\n")
    special.chmod(0o6777)
    for folder in tmp_path.parents:
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    tree = HostTree(tmp_path / "root")
    tree.root.mkdir()
    tmp_path.chmod(0o755)
    real = tree.put(str(special))
    assert real is not None
    assert stat.S_IMODE((tree.root / real.lstrip("/")).stat().st_mode) == 0o755


def test_what_changed_on_this_host_makes_a_tree_outdated(tmp_path: Path) -> None:
    file = tmp_path / "tool"
    file.write_text("1")
    made_of = {str(file): stamp(str(file))}
    assert is_unchanged(made_of)
    file.write_text("22")
    assert not is_unchanged(made_of)
    file.unlink()
    assert not is_unchanged(made_of)


@pytest.mark.parametrize(
    ("first_line", "programs"),
    [
        (b"#!/bin/sh -e\n", ["/bin/sh"]),
        (b"#! /bin/sh\n", ["/bin/sh"]),
        (b"#!/usr/bin/env sh\n", ["/usr/bin/env", shutil.which("sh", path="/usr/bin:/bin")]),
        (b"#!/usr/bin/env -S A=1 sh -e\n", ["/usr/bin/env", shutil.which("sh", path="/usr/bin:/bin")]),
        (b"#!/usr/bin/env no-such-program\n", ["/usr/bin/env"]),
        (b"#!sh\n", []),
        (b"#!", []),
        (b"", []),
        (b"\x7fELF\xff\xfe", []),
    ],
)
def test_a_scripts_first_line_names_its_interpreters(
    first_line: bytes, programs: list[str], tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_bytes(first_line)
    assert interpreters(str(script)) == programs


@pytest.mark.root
def test_root_takes_only_what_all_users_may_read(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("x")
    file.chmod(0o600)
    assert not is_open(file)
    assert not is_open(tmp_path)


@pytest.mark.usefixtures("small")
def test_the_image_is_made_once_and_again_when_a_file_of_it_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    image = host_image.host_image(quiet)
    verify(image)
    assert (image.name, image.manifest["source"]["kind"]) == ("host", "host")
    assert (image.root / "opt/tare/bin/init").is_file()
    monkeypatch.setattr(HostTree, "fill", pytest.fail)
    assert host_image.host_image(quiet) == image
    monkeypatch.setattr(host_image, "is_unchanged", lambda _: False)
    with pytest.raises(pytest.fail.Exception):
        host_image.host_image(quiet)
    assert [kept.name for kept in list_images()] == ["host"]


@pytest.mark.usefixtures("small")
def test_a_program_that_lacks_something_gets_an_image_of_its_own() -> None:
    usual = host_image.host_image(quiet)
    assert missing(usual, "/bin/cat") == ["/bin/cat"]
    own = host_image.host_image(quiet, "/bin/cat")
    assert own.name.startswith("host-cat-")
    assert missing(own, "/bin/cat") == []
    assert host_image.host_image(quiet, "/bin/cat") == own
    assert host_image.host_image(quiet) == usual


@pytest.mark.usefixtures("small")
def test_of_a_program_in_a_bound_folder_only_the_needs_are_brought(tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    script = shown / "script"
    write_program(script, "#!/usr/bin/env cat\n")
    usual = host_image.host_image(quiet)
    assert "/usr/bin/env" in missing(usual, str(script), [shown])
    own = host_image.host_image(quiet, str(script), [shown])
    assert missing(own, str(script), [shown]) == []
    assert missing(own, str(script)) == [str(script)]


@pytest.mark.root
@pytest.mark.usefixtures("small")
def test_a_program_that_is_not_open_to_all_is_refused_with_the_way_out(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    write_program(closed, "x")
    closed.chmod(0o700)
    with pytest.raises(HostError, match=r"not open to all users.*--bind DIR"):
        build_host_image("host-closed", quiet, program=str(closed))
    assert list_images() == []


def test_a_program_for_a_newer_c_library_is_noticed(tmp_path: Path) -> None:
    shell = os.path.realpath(SHELL)
    tree = HostTree(tmp_path / "root")
    tree.root.mkdir()
    tree._merge()
    tree.put_program(SHELL)
    newer = tmp_path / "newer"
    newer.write_bytes(Path(shell).read_bytes() + b"\0GLIBC_2.99\0")
    image = Image("small", tree.root, "sha256:0")
    assert missing(image, str(newer), [tmp_path]) == ["libc.so.6 with GLIBC_2.99"]


def test_a_command_is_looked_for_where_shells_do(tree: HostTree) -> None:
    image = Image("small", tree.root, "sha256:0")
    assert has_command(image, "sh")
    assert not has_command(image, "cat")
    assert path_of("sh") is not None
    assert path_of("no-such-program") is None


@pytest.mark.usefixtures("small")
def test_an_imported_image_is_not_overwritten() -> None:
    image = build_host_image("mine", quiet)
    manifest = image.root.parent / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"kind": "host"', '"kind": "import"'))
    with pytest.raises(InputError, match="was imported"):
        build_host_image("mine", quiet)
