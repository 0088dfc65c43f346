# SPDX-License-Identifier: Apache-2.0
"""Which Debian packages an image is made of, and if these are the locked ones."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tare.commands.image import run_list
from tare.errors import InputError
from tare.image import Image, recipe
from tare.image.build import build_image
from tare.image.debian import _mmdebstrap
from tare.image.lock import BASE, BUILDER, FOLDER, Lock, differences, lock_text, parse_lock, read_lock
from tare.image.packages import Origin, Package, read_origin
from tests.image.stand_ins import quiet, sources

LOCKS = sorted(FOLDER.iterdir())
STATUS = "Package: {name}\nStatus: install ok installed\nVersion: {version}\nArchitecture: amd64\n\n"
LISTED = "Package: {name}\nVersion: {version}\nArchitecture: amd64\nSHA256: {sha256}\nSize: 1\n\n"
DATE = "Sat, 11 Jul 2026 10:16:37 UTC"
RELEASE = f"-----BEGIN PGP SIGNED MESSAGE-----\n\nCodename: bookworm\nDate: {DATE}\nSHA256:\n x: y\n"
DIGEST = "sha256:1"


def package(version: str, sha256: str | None = "aa") -> Package:
    return {"version": version, "architecture": "amd64", "sha256": sha256}


def lock_of(packages: Mapping[str, Package]) -> Lock:
    return Lock("bookworm", "x86_64", DIGEST, {}, {BASE: packages, BUILDER: {}})


def origin_of(packages: dict[str, Package]) -> dict[str, Origin]:
    return {BASE: {"archives": {}, "packages": packages}}


def write_lists(root: Path) -> None:
    """A root filesystem as apt leaves it, with one package that no list has any more."""
    (root / "var/lib/dpkg").mkdir(parents=True)
    installed = [
        STATUS.format(name=name, version=version) for name, version in (("hpcc", "1.5"), ("gone", "1"))
    ]
    (root / "var/lib/dpkg/status").write_text("".join(installed))
    lists = root / "var/lib/apt/lists"
    lists.mkdir(parents=True)
    (lists / "x_dists_bookworm_InRelease").write_text(RELEASE)
    old = LISTED.format(name="hpcc", version="1.4", sha256="0" * 64)
    new = LISTED.format(name="hpcc", version="1.5", sha256="5" * 64).rstrip("\n")
    (lists / "x_dists_bookworm_main_binary-amd64_Packages").write_text(old + new + "\n")


def test_what_was_installed_has_the_hash_that_apt_compared_it_with(tmp_path: Path) -> None:
    write_lists(tmp_path)
    origin = read_origin(tmp_path)
    assert origin["packages"] == {"gone": package("1", None), "hpcc": package("1.5", "5" * 64)}
    sha256 = hashlib.sha256(RELEASE.encode()).hexdigest()
    assert origin["archives"] == {"bookworm": {"date": DATE, "sha256": sha256}}


def test_what_was_unpacked_alone_is_named_by_its_archives(tmp_path: Path) -> None:
    write_lists(tmp_path)
    (tmp_path / "var/lib/dpkg/status").write_text("")
    archives = tmp_path / "var/cache/apt/archives"
    archives.mkdir(parents=True)
    for name in ("hpcc_1.5_arm64.deb", "hpcc_1.5_amd64.deb", "g++_4%3a12.2.0-3_amd64.deb", "lock"):
        (archives / name).touch()
    made = read_origin(tmp_path)["packages"]
    other = package("1.5", None) | {"architecture": "arm64"}
    assert made == {
        "g++": package("4:12.2.0-3", None),
        "hpcc": package("1.5", "5" * 64),
        "hpcc:arm64": other,
    }


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"hpcc": package("1")}, []),
        ({"hpcc": package("2")}, ["base: hpcc 2, locked 1"]),
        ({"hpcc": package("1", "bb")}, ["base: hpcc 1 is another file than was locked"]),
        ({"hpcc": package("1"), "more": package("3")}, ["base: more 3 is not locked"]),
        ({}, ["base: hpcc is missing, locked 1"]),
    ],
)
def test_each_package_that_is_not_as_locked_is_named(made: dict[str, Package], said: list[str]) -> None:
    assert differences(lock_of({"hpcc": package("1")}), origin_of(made), DIGEST) == said


def test_the_same_packages_with_another_tree_are_not_as_locked() -> None:
    same = {"hpcc": package("1")}
    assert "sha256:2, locked sha256:1" in differences(lock_of(same), origin_of(same), "sha256:2")[0]


@pytest.mark.parametrize("file", LOCKS, ids=lambda file: file.stem)
def test_a_lock_names_each_file_by_its_hash_and_each_archive_by_its_date(file: Path) -> None:
    lock = parse_lock(file.read_text())
    assert lock_text(lock) == file.read_text()
    assert file.stem == f"{lock.suite}-{lock.architecture}"
    named = [about for packages in lock.packages.values() for about in packages.values()]
    assert len(named) > 300
    assert [about for about in named if not re.fullmatch(r"[0-9a-f]{64}", about["sha256"] or "")] == []
    assert all(about["version"] and about["architecture"] for about in named)
    assert set(lock.archives) == {"bookworm", "bookworm-updates", "bookworm-security"}
    assert all(about["date"] for about in lock.archives.values())


@pytest.mark.parametrize("file", LOCKS, ids=lambda file: file.stem)
def test_a_lock_is_of_this_recipe(file: Path) -> None:
    lock = parse_lock(file.read_text())
    assert lock.suite == recipe.SUITE
    assert set(recipe.PACKAGES) <= set(lock.packages[BASE])
    assert set(recipe.BUILDER_PACKAGES) <= set(lock.packages[BUILDER])
    common = lock.packages[BASE].keys() & lock.packages[BUILDER].keys()
    assert "libopenmpi3" in common
    assert all(lock.packages[BASE][name] == lock.packages[BUILDER][name] for name in common)


@pytest.mark.parametrize("text", ["", "{}", "[]\n", '{"suite": 1}\n{"package": "x"}\n', "no JSON"])
def test_what_is_no_lock_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"no lock|Expecting|not enough"):
        parse_lock(text)


@pytest.mark.root
@pytest.mark.usefixtures("stand_ins")
class TestBuild:
    def test_a_build_with_other_packages_says_so_and_is_kept(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said: list[str] = []
        image = build_image(progress=said.append, source=sources(tmp_path))
        assert "base: tool 1 is not locked" in image.manifest["differs_from_lock"]
        assert any("not as locked: base: " in line for line in said)
        run_list(as_json=False)
        assert re.search(r", [1-9]\d* not as locked\n", capsys.readouterr().out)

    def test_a_build_with_the_locked_packages_says_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        made = build_image(progress=quiet, source=sources(tmp_path)).manifest
        packages = {name: origin["packages"] for name, origin in made["origins"].items()}
        lock = replace(lock_of({}), base_digest=made["base_digest"], packages=packages)
        monkeypatch.setattr("tare.image.build.read_lock", lambda _: lock)
        build_image(progress=pytest.fail, source=sources(tmp_path))
        image = build_image(progress=quiet, source=sources(tmp_path), refresh=True)
        assert image.manifest["differs_from_lock"] == []
        run_list(as_json=False)
        assert capsys.readouterr().out.endswith("Debian bookworm, as locked\n")

    def test_a_new_lock_makes_a_new_image(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        build_image(progress=quiet, source=sources(tmp_path))
        monkeypatch.setattr("tare.image.recipe.lock_file", lambda _: tmp_path / "count")
        build_image(progress=quiet, source=sources(tmp_path))
        assert (tmp_path / "count").read_text().count("run") == 4

    def test_nothing_that_another_compiler_made_is_linked(self, tmp_path: Path, state: Path) -> None:
        build_image(progress=quiet, source=sources(tmp_path))
        old = state / "cache/native/build/old.o"
        old.touch()
        build_image(progress=quiet, source=sources(tmp_path, "2"))
        assert old.exists()
        (state / "cache/native/origin.json").write_text('{"archives": {}, "packages": {}}')
        build_image(progress=quiet, source=sources(tmp_path, "3"))
        assert not old.exists()


PAST = "http://mirror.example/archive/{archive}/20260711T120000Z"


def test_packages_come_from_the_mirror_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARE_DEBIAN_MIRROR", "http://mirror.example/{archive}")
    assert _mmdebstrap(["hpcc"], Path("target"))[-4:] == [
        "target",
        "deb http://mirror.example/debian bookworm main",
        "deb http://mirror.example/debian bookworm-updates main",
        "deb http://mirror.example/debian-security bookworm-security main",
    ]


def test_an_archive_as_it_was_may_be_past_its_date(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.base_key()
    monkeypatch.setenv("TARE_DEBIAN_MIRROR", PAST)
    assert all(line.startswith("deb [check-valid-until=no] http") for line in recipe.sources())
    assert recipe.sources()[2].split()[2].endswith("/debian-security/20260711T120000Z")
    assert recipe.base_key() != before


def test_a_mirror_without_a_place_for_the_archive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARE_DEBIAN_MIRROR", "http://mirror.example/debian")
    with pytest.raises(InputError, match=r"TARE_DEBIAN_MIRROR is .*; write \{archive\}"):
        recipe.base_key()


@pytest.mark.root
def test_the_default_image_says_what_it_is_made_of(image: Image) -> None:
    """Whether the mirror has newer packages than the lock or not."""
    origins, lock = image.manifest["origins"], read_lock(recipe.SUITE)
    packages = origins[BASE]["packages"]
    assert {name: about["version"] for name, about in packages.items()} == image.manifest["packages"]
    assert [name for name, about in packages.items() if about["sha256"] is None] == []
    assert lock is not None
    said = differences(lock, origins, image.manifest["base_digest"])
    assert image.manifest["differs_from_lock"] == said
    assert [phrase for phrase in said if "the same packages gave" in phrase] == [], "run: make lock"
