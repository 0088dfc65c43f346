# SPDX-License-Identifier: Apache-2.0
"""The audit passes what is committed, and fails on a lock that was tampered with; the registry is a stand-in here."""

import hashlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts.supply import debian_lock, go_lock, licences, python_lock, vulnerabilities
from scripts.supply.__main__ import main
from tests.conftest import REPOSITORY

from tare.image import Image, recipe
from tare.image.lock import BASE, lock_text, parse_lock

OFFLINE = (
    python_lock.check_locks,
    python_lock.check_registry,
    go_lock.check_sums,
    debian_lock.check_lock,
    debian_lock.check_image,
)
UV = """#!/bin/bash
case "$*" in
    *"--group tools"*) name=tools ;; *"--group docs"*) name=docs ;; *"--extra dev"*) name=dev ;; *) name=run ;;
esac
exec cat "$(dirname "$0")/../../../registry/$name.txt"
"""
"""A uv that finds in the registry what was locked."""
PARTS = ("requirements", "scripts", "src/tare/image/locks")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the audit reads, with an image as locked."""
    for name in PARTS:
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    shutil.copytree(tmp_path / "requirements", tmp_path / "registry")
    tools = tmp_path / "build" / "tools"
    (tools / "bin").mkdir(parents=True)
    (tools / "bin" / "uv").write_text(UV)
    (tools / "bin" / "uv").chmod(0o755)
    keep_tools(tmp_path)
    image = as_locked(tmp_path)
    monkeypatch.setattr(debian_lock, "find_image", lambda: image)
    monkeypatch.setattr("scripts.supply.__main__.CHECKS", OFFLINE)
    return tmp_path


def test_each_package_of_the_cross_compiler_that_is_not_as_locked_is_named() -> None:
    locked = parse_lock((REPOSITORY / debian_lock.CROSS).read_text())
    packages = dict(locked.packages[recipe.AARCH64.name])
    made = {"archives": dict(locked.archives), "packages": packages}
    assert debian_lock.cross_differences(made) == []
    packages["g++-aarch64-linux-gnu"] = packages["g++-aarch64-linux-gnu"] | {"version": "4:13"}
    assert debian_lock.cross_differences(made) == ["aarch64: g++-aarch64-linux-gnu 4:13, locked 4:12.2.0-3"]


def keep_tools(folder: Path) -> None:
    """scripts/make-tools has nothing to do."""
    digest = hashlib.sha256((folder / "requirements" / "tools.txt").read_bytes()).hexdigest()
    (folder / "build" / "tools" / "stamp").write_text(f"{digest}  -\n")


def as_locked(folder: Path) -> Image:
    lock = next(iter(debian_lock.locks(folder).values()))
    origins = {
        root: {"archives": lock.archives, "packages": packages} for root, packages in lock.packages.items()
    }
    facts = {"architecture": lock.architecture, "origins": origins, "base_digest": lock.base_digest}
    return Image("default", folder, "sha256:1", facts)


def substitute(pattern: str, text: str) -> Callable[[str], str]:
    """Changes the first match, which has to be there."""

    def changed(whole: str) -> str:
        result, count = re.subn(pattern, text, whole, count=1, flags=re.MULTILINE)
        assert count == 1
        return result

    return changed


def test_what_is_committed_passes(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(checkout) == 0
    said = capsys.readouterr().out
    assert said.endswith("audit: 5 checks, 0 faults, 0 not or not wholly checked\n")
    assert re.search(r"^ok +Python locks: run \d\d packages, \d{3} hashes, dev \d\d", said, re.MULTILINE)
    assert re.search(r"^ok +default image against its lock: 1\d\d packages, as locked$", said, re.MULTILINE)


HASH = "0123456789abcdef" * 4
ADDED = f"evil==1.0 \\\\\n    --hash=sha256:{HASH}\n"
DEBIAN = "src/tare/image/locks/bookworm-x86_64.jsonl"


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("requirements/dev.txt", substitute(r"(^pytest==(?:.|\n)*?)sha256:\w+", rf"\1sha256:{HASH}"), HASH),
        ("requirements/run.txt", substitute(r"sha256:\w+", f"sha256:{HASH}"), "is not as in dev.txt"),
        ("requirements/dev.txt", substitute(r"\Z", ADDED), "evil is locked, and nothing needs it"),
        ("requirements/dev.txt", substitute(r"(^pytest==\S+)(?: \\\n    --hash\S+)+", r"\1"), "no SHA-256"),
        ("requirements/dev.txt", substitute(r"sha256:(?=\w)", "md5:"), "no SHA-256 for each file"),
        ("requirements/dev.txt", substitute(r"^pytest==[\d.]+", "pytest==1.0"), "of pyproject.toml is not in it"),
        ("requirements/run.txt", substitute(r"^rich==[\d.]+(?: \\\n    --hash\S+)+", ""), "rich>=13.9"),
        ("scripts/gvisor/go.sum", substitute(r"^gvisor.dev/gvisor v\S+ h1:\S+\n", ""), "has no hash"),
        ("scripts/apptainer/go.sum", substitute(r"^github.com/apptainer/sif/v2 v\S+ h1:\S+\n", ""), "has no hash"),
        ("scripts/govc/go.sum", substitute(r"h1:\S+", "h1:short="), "is no hash"),
        ("scripts/go-toolchain.sum", substitute(r"h1:\S+", ""), "is no hash"),
        (DEBIAN, substitute(r'("root": "base".*"sha256": ")\w+', rf"\g<1>{HASH}"), "another file than was locked"),
        (DEBIAN, substitute(r'("root": "base".*"version": ")[^"]+', r"\g<1>9"), "locked 9"),
        (DEBIAN, substitute(r'(?=^\{"root": "base")', f'{{"root": "base", "package": "evil", "version": "1", '
                            f'"architecture": "all", "sha256": "{HASH}"}}\n'), "evil"),
        (DEBIAN, substitute(r'^.*"package": "hpcc".*\n', ""), "base: hpcc is not locked"),
        (DEBIAN, substitute(r'"base_digest": "\w+:\w+', '"base_digest": "sha256:0'), "the same packages"),
        (DEBIAN, substitute(r"^.*\n", ""), "no lock of packages"),
    ],
)  # fmt: skip
def test_a_tampered_lock_fails(
    checkout: Path, capsys: pytest.CaptureFixture[str], file: str, change: Callable[[str], str], said: str
) -> None:
    (checkout / file).write_text(change((checkout / file).read_text()))
    assert main(checkout) == 1
    assert said in capsys.readouterr().out


def test_a_lock_that_the_registry_cannot_give_fails_and_a_silent_registry_is_said(checkout: Path) -> None:
    uv = checkout / "build" / "tools" / "bin" / "uv"
    uv.write_text("#!/bin/sh\necho No solution >&2\nexit 1\n")
    assert "No solution" in python_lock.check_registry(checkout).faults[0]
    uv.write_text("#!/bin/sh\necho no route >&2\nexit 2\n")
    finding = python_lock.check_registry(checkout)
    assert not finding.faults
    assert "no route" in str(finding.unchecked)
    assert finding.lines()[0].startswith("not checked  ")


def test_newer_files_of_a_locked_version_are_no_fault(checkout: Path) -> None:
    newer = checkout / "registry" / "dev.txt"
    newer.write_text(substitute(r"(^pytest==\S+)", rf"\1 --hash=sha256:{HASH}")(newer.read_text()))
    assert not python_lock.check_registry(checkout).faults


def test_newer_packages_than_the_locks_are_said_and_are_no_fault(checkout: Path) -> None:
    lock_file = next((checkout / "src/tare/image/locks").iterdir())
    lock = next(iter(debian_lock.locks(checkout).values()))
    packages = {root: dict(named) for root, named in lock.packages.items()}
    for named in packages.values():
        named["libopenmpi3"] = {**named["libopenmpi3"], "version": "0.1"}
    old = type(lock)(lock.suite, lock.architecture, "sha256:2", {}, packages)
    lock_file.write_text(lock_text(old))
    finding = debian_lock.check_image(checkout)
    assert not finding.faults
    assert "2 not as locked: base: libopenmpi3 4.1" in finding.counted
    assert BASE in finding.counted


def test_a_module_of_another_hash_than_go_sum_has_fails(checkout: Path) -> None:
    if go_lock.check_fetched(checkout).unchecked:
        pytest.skip("there are no Go modules on this host")
    sums = checkout / "scripts" / "govc" / "go.sum"
    sums.write_text(substitute(r"(^github.com/vmware/govmomi v\S+ h1:)....", r"\1AAAA")(sums.read_text()))
    assert "checksum mismatch" in str(go_lock.check_fetched(checkout).faults)


def test_what_no_service_knows_counts_as_not_looked_up() -> None:
    known = {"name": "a", "version": "1", "vulns": []}
    skipped = {"name": "b", "skip_reason": "not found"}
    finding = vulnerabilities.judge("x", [known, skipped], 2)
    assert finding.counted == "1 of 2 Python packages looked up"
    assert not finding.faults
    assert str(finding.unchecked).startswith("1 Python packages are not known")
    bad = {**known, "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
    assert list(vulnerabilities.judge("x", [bad], 1).faults) == ["a 1: CVE-1, mended in 2"]


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("BSD-3-Clause AND (0BSD OR MIT)", True),
        ("GPL-3.0-only", False),
        ("MIT AND Proprietary", False),
        ("", False),
        (None, False),
    ],
)
def test_only_listed_licences_pass(
    monkeypatch: pytest.MonkeyPatch, licence: str | None, allowed: bool
) -> None:
    monkeypatch.setattr(licences, "python_licence", lambda _: licence)
    assert bool(licences.check_licences(REPOSITORY).faults) != allowed


def test_the_page_of_licences_is_current() -> None:
    page = (REPOSITORY / "docs" / "licences.md").read_text()
    assert licences.tables(REPOSITORY)[0] in page
    for module in go_lock.MODULES:
        for name, _ in go_lock.required(REPOSITORY, module):
            assert f"\n| {name} | " in page
