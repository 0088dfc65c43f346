# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of an image; `make audit` holds it against CycloneDX's schema."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.commands.image import run_sbom
from tare.image import Image
from tare.image.sbom import copyright_licences, image_bom, package_url
from tests.image.test_image_packages import APK, DPKG, RPM_HEADER, write_database

FILES = "\n\nFiles: a\nLicense: {}\n text"
DEP5 = "Format: x" + "".join(FILES.format(name) for name in ("GPL-2+ or MIT", "BSD-3-clause", "BSD-3-clause"))
PROSE = (
    "It is under the GPL,\nsee /usr/share/common-licenses/GPL-3 and `/usr/share/common-licenses/LGPL-2.1'.\n"
)
HASH = "5" * 64


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "rootfs"
    for name, text in {
        "etc/os-release": 'NAME="X"\nID=debian\nVERSION_ID="12"\n',
        "var/lib/dpkg/status": DPKG,
        "usr/share/doc/hpcc/copyright": DEP5,
        "opt/tare/bin/init": "program",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def components(root: Path, **manifest: Any) -> dict[str, dict[str, Any]]:
    made = image_bom(Image("mine", root, "sha256:1", manifest))
    return {entry["name"]: entry for entry in made["components"]}


def test_a_package_has_the_hash_of_its_file_and_its_licences(root: Path) -> None:
    file = {"version": "1.5.0-3+b1", "architecture": "amd64", "sha256": HASH}
    assert components(root, origins={"base": {"packages": {"hpcc": file}}})["hpcc"] == {
        "type": "library",
        "name": "hpcc",
        "version": "1.5.0-3+b1",
        "hashes": [{"alg": "SHA-256", "content": HASH}],
        "licenses": [{"license": {"name": "BSD-3-clause"}}, {"license": {"name": "GPL-2+ or MIT"}}],
        "purl": "pkg:deb/debian/hpcc@1.5.0-3%2Bb1?arch=amd64",
    }


def test_what_nobody_recorded_is_left_out(root: Path) -> None:
    assert components(root)["distroless"] == {
        "type": "library",
        "name": "distroless",
        "version": "2:3.4",
        "purl": "pkg:deb/debian/distroless@2:3.4",
    }


def test_packages_of_alpine_and_rpm_are_in_it(root: Path) -> None:
    (root / "lib/apk/db").mkdir(parents=True)
    (root / "lib/apk/db/installed").write_text(APK)
    write_database(root, [RPM_HEADER.read_bytes()])
    urls = {entry.get("purl") for entry in components(root).values()}
    assert {"pkg:apk/debian/musl@1.2.4-r2", "pkg:rpm/debian/tare-dummy@1.5-3"} <= urls


def test_own_programs_are_in_it_by_their_content(root: Path) -> None:
    assert components(root)["init"]["hashes"][0]["content"] == hashlib.sha256(b"program").hexdigest()


@pytest.mark.parametrize("library", ["libstdc++-12-dev", "libgcc-12-dev-arm64-cross"])
def test_what_is_linked_into_own_programs_is_in_it(library: str, root: Path) -> None:
    file = {"version": "12.2.0-14", "architecture": "amd64", "sha256": HASH}
    packages = {library: file, "cmake": file}
    result = components(root, origins={"builder": {"packages": packages}})
    assert library in result
    assert "cmake" not in result


def test_a_licence_outside_the_image_is_not_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(DEP5)
    (root / "usr/share/doc/hpcc/copyright").unlink()
    (root / "usr/share/doc/hpcc/copyright").symlink_to(tmp_path / "secret")
    assert "licenses" not in components(root)["hpcc"]


@pytest.mark.parametrize("name", ["a\\0b", "**", "../../../secret", "/etc"])
def test_what_is_no_name_of_a_package_is_no_path_either(root: Path, name: str) -> None:
    (root.parent / "secret").mkdir()
    (root.parent / "secret" / "copyright").write_text(DEP5)
    (root / "var/lib/dpkg/status").write_text(f"Package: {name}\nVersion: 1\n".replace("\\0", "\0"))
    assert all("licenses" not in entry for entry in components(root).values() if "purl" in entry)


def test_licences_are_named_as_the_file_names_them() -> None:
    assert copyright_licences(DEP5) == ["BSD-3-clause", "GPL-2+ or MIT"]
    assert copyright_licences(PROSE) == ["GPL-3", "LGPL-2.1"]
    assert copyright_licences("public domain") == []


@given(st.text(min_size=1), st.text(min_size=1))
def test_any_name_and_version_stay_within_their_place_in_a_url(name: str, version: str) -> None:
    url = package_url("deb", f"debian/{name}", version, arch="amd64")
    assert re.fullmatch(r"pkg:deb/debian/[\w.~%/-]+@[\w.~%:-]+\?arch=amd64", url, re.ASCII)


def test_the_command_prints_it_the_same_each_time(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tare.image.find_image", lambda name: Image(name, root, "sha256:1", {}))
    said = []
    for _ in range(2):
        assert run_sbom("mine") == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert json.loads(said[0])["bomFormat"] == "CycloneDX"


@pytest.mark.root
def test_every_package_of_the_default_image_is_in_it_with_a_hash_and_most_with_a_licence(
    image: Image,
) -> None:
    made = image_bom(image)
    result = {entry["name"]: entry for entry in made["components"]}
    names = image.manifest["packages"]
    assert set(names) <= set(result)
    assert [name for name in names if "hashes" not in result[name]] == []
    assert sum("licenses" in result[name] for name in names) > 0.9 * len(names)
    assert {"libc6-dev", "stopwatch"} <= set(result)
