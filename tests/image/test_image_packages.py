# SPDX-License-Identifier: Apache-2.0
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.image.packages import parse_apk, parse_dpkg, read_packages, read_rpm

RPM_HEADER = Path(__file__).resolve().parents[1] / "outputs" / "rpm-header.bin"
DPKG = """Package: hpcc
Status: install ok installed
Version: 1.5.0-3+b1
Description: benchmark
 Version: 9 is not a field here

Package: gone
Status: deinstall ok config-files
Version: 1

Package: distroless
Version: 2:3.4
"""
APK = """C:Q1abc=
P:musl
V:1.2.4-r2
F:lib

P:broken
"""


def test_dpkg_lists_what_is_installed() -> None:
    assert parse_dpkg(DPKG) == {"hpcc": "1.5.0-3+b1", "distroless": "2:3.4"}


def test_apk_lists_names_with_versions() -> None:
    assert parse_apk(APK) == {"musl": "1.2.4-r2"}


def write_database(root: Path, blobs: list[bytes]) -> Path:
    path = root / "usr/lib/sysimage/rpm/rpmdb.sqlite"
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL)")
    connection.executemany("INSERT INTO Packages (blob) VALUES (?)", [(blob,) for blob in blobs])
    connection.commit()
    connection.close()
    return path


def test_an_rpm_database_gives_version_and_release(tmp_path: Path) -> None:
    """The header is what rpm 4.18 stored for a package made for this test."""
    write_database(tmp_path, [RPM_HEADER.read_bytes()])
    assert read_packages(tmp_path) == {"tare-dummy": "1.5-3"}


@pytest.mark.parametrize(
    "blob", [b"", b"\0" * 7, b"\0\0\0\x01\0\0\0\x01" + b"\xff" * 16, RPM_HEADER.read_bytes()[:670]]
)
def test_a_broken_rpm_header_gives_no_packages(tmp_path: Path, blob: bytes) -> None:
    assert read_rpm(write_database(tmp_path, [blob])) == {}


def test_a_file_that_is_no_database_gives_no_packages(tmp_path: Path) -> None:
    (tmp_path / "rpmdb.sqlite").write_bytes(b"Berkeley DB, say")
    assert read_rpm(tmp_path / "rpmdb.sqlite") == {}


def test_an_image_without_records_has_no_packages(tmp_path: Path) -> None:
    assert read_packages(tmp_path) == {}


def test_a_record_outside_the_image_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text(DPKG)
    root = tmp_path / "root"
    (root / "var/lib/dpkg").mkdir(parents=True)
    (root / "var/lib/dpkg/status").symlink_to(tmp_path / "outside")
    assert read_packages(root) == {}


@given(st.text())
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    assert isinstance(parse_dpkg(text), dict)
    assert isinstance(parse_apk(text), dict)
