# SPDX-License-Identifier: Apache-2.0
"""What goes into a .deb and an .rpm, on a small tree; `make test-packages` installs the real ones."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from scripts.supply import contents, packages, plain
from scripts.supply.contents import HOME, Contents
from tests.conftest import REPOSITORY

LIMIT_S = 60


def wheel(file: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return file


def test_one_tree_has_the_extension_modules_of_every_python(tmp_path: Path) -> None:
    for python in ("311", "312"):
        files = {"numpy/core.py": "same", f"numpy/fast.cpython-{python}.so": python}
        made = wheel(tmp_path / f"numpy-2-cp{python}.whl", files | {"numpy-2.dist-info/RECORD": python})
        contents.merge([made], tmp_path / "packages")
    there = {str(file.relative_to(tmp_path / "packages")) for file in (tmp_path / "packages").rglob("*.*")}
    assert {"numpy/core.py", "numpy/fast.cpython-311.so", "numpy/fast.cpython-312.so"} <= there


def test_another_content_for_another_python_is_refused(tmp_path: Path) -> None:
    wheels = [wheel(tmp_path / f"{text}.whl", {"numpy/core.py": text}) for text in ("one", "two")]
    with pytest.raises(SystemExit, match=r"numpy/core\.py of two\.whl differs"):
        contents.merge(wheels, tmp_path / "packages")


def test_what_a_plain_installation_needs_is_locked_by_hash() -> None:
    lines = plain.requirements(REPOSITORY).splitlines()
    assert {"numpy", "pydantic-core", "typer"} <= {line.partition("==")[0] for line in lines}
    assert not [line for line in lines if line.startswith(("scipy", "pyarrow", "vl-convert", "pytest"))]
    assert all("--hash=sha256:" in line for line in lines)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Contents:
    """A package's files without any package of Python."""
    root = tmp_path / "x86_64" / "root"
    (root / HOME / "lib" / "packages").mkdir(parents=True)
    (root / HOME / "lib" / "packages" / "tare.py").write_text("")
    contents.add_interpreters(root)
    contents.add_words(root)
    monkeypatch.setattr(packages, "RESULT", tmp_path)
    return Contents(root, "x86_64", {"numpy": "2.4.6"})


def test_the_command_says_which_python_is_missing(tree: Contents, tmp_path: Path) -> None:
    launcher = tree.root / "usr/bin/tare"
    text = launcher.read_text().replace(f"/{HOME}", str(tmp_path / "nowhere"))
    launcher.write_text(text)
    done = subprocess.run([str(launcher)], capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (3, "")
    assert "install python3.11 or a newer one" in done.stderr


def test_a_python_of_the_host_has_the_trees_packages_and_its_own_arguments(tree: Contents) -> None:
    """The launcher is moved to where the tree lies here; the interpreter is a program that prints its arguments."""
    home, launcher = tree.root / HOME, tree.root / "usr/bin/tare"
    for python in contents.PYTHONS:
        (home / "bin" / f"python{python}").unlink()
    (home / "bin" / "python3.12").write_text('#!/bin/sh\necho "$0" "$@"\n')
    (home / "bin" / "python3.12").chmod(0o755)
    launcher.write_text(launcher.read_text().replace(f"/{HOME}", str(home)))
    said = subprocess.run(
        [str(launcher), "weigh", "a b"], capture_output=True, text=True, check=True, timeout=LIMIT_S
    )
    assert said.stdout == f"{home}/bin/python3.12 {home}/bin/tare weigh a b\n"
    assert (home / "lib" / "python3.12" / "site-packages" / "tare.py").is_file()


def test_a_deb_is_for_its_processor_and_names_what_it_needs(tree: Contents) -> None:
    made = packages.make_deb(tree)
    assert made.name == "tare_0.1.0_amd64.deb"
    said = subprocess.run(
        ["dpkg-deb", "--field", str(made)], capture_output=True, text=True, check=True, timeout=LIMIT_S
    )
    fields = dict(line.split(": ", 1) for line in said.stdout.splitlines() if not line.startswith(" "))
    assert fields["Architecture"] == "amd64"
    assert fields["Depends"] == "python3 (>= 3.11), python3 (<< 3.15), libc6 (>= 2.28)"


def test_a_spec_lists_each_file_in_a_folder_that_others_use(tree: Contents) -> None:
    said = packages._spec(tree)
    listed = said.partition("%files\n")[2].splitlines()
    assert {
        f"/{HOME}",
        "/usr/share/doc/tare",
        "/usr/bin/tare",
        "/usr/share/man/man1/tare-weigh.1.gz*",
    } <= set(listed)
    assert "/usr/share" not in listed
    assert "Provides: bundled(python3dist(numpy)) = 2.4.6\n" in said
    assert "Requires: (python3 >= 3.11 or python3.14 or python3.13 or python3.12 or python3.11)\n" in said


@pytest.mark.skipif(shutil.which("rpmbuild") is None, reason="rpmbuild is not installed")
def test_an_rpm_of_the_same_files_has_the_same_bytes(tree: Contents) -> None:
    first = packages.make_rpm(tree).read_bytes()
    shutil.rmtree(tree.root.parent / "rpm")
    os.utime(tree.root / "usr/bin/tare")
    assert packages.make_rpm(tree).read_bytes() == first


def test_packages_are_made_of_one_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "RESULT", tmp_path)
    with pytest.raises(SystemExit, match="has 0 wheels of Tare, not one; run: make wheel"):
        packages.main()
