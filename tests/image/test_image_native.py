# SPDX-License-Identifier: Apache-2.0
"""An image made with the programs that a wheel brings, and the wheel itself."""

import os
import struct
import zipfile
from pathlib import Path

import pytest
from scripts.supply import wheel

from tare.errors import ImageError
from tare.image import layout, prebuilt, recipe
from tare.image.build import build_image
from tare.image.packages import Origin
from tests.conftest import REPOSITORY
from tests.image.stand_ins import quiet, sources

KEY = "key of some sources"
ORIGIN: Origin = {
    "archives": {},
    "packages": {"g++": {"version": "12", "architecture": "amd64", "sha256": "aa"}},
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tare as a wheel installs it: no sources, but one program."""
    compiled, folder = tmp_path / "compiled here", tmp_path / "programs"
    compiled.mkdir()
    (compiled / "init").write_text("program\n")
    for architecture in (os.uname().machine, "another"):
        prebuilt.put(compiled, architecture, KEY, ORIGIN, folder)
    monkeypatch.setattr(prebuilt, "FOLDER", folder)
    monkeypatch.setattr(recipe, "native_source", lambda: None)
    return folder


@pytest.mark.root
@pytest.mark.usefixtures("stand_ins")
class TestBuild:
    @pytest.mark.usefixtures("installed")
    def test_no_builder_is_made_and_no_compiler_is_called(self, tmp_path: Path) -> None:
        image = build_image(progress=quiet)
        assert (tmp_path / "count").read_text() == "run\n"
        assert not (tmp_path / "compiled").exists()
        assert image.manifest["keys"]["native"] == KEY
        assert image.manifest["origins"]["builder"] == ORIGIN
        assert build_image(progress=pytest.fail) == image

    def test_it_has_the_digest_that_its_sources_give(
        self, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        compiled = build_image(progress=quiet, source=sources(tmp_path))
        request.getfixturevalue("installed")
        monkeypatch.setenv("TARE_STATE", str(tmp_path / "other state"))
        assert build_image(progress=quiet).digest == compiled.digest

    def test_changed_programs_are_refused(self, installed: Path) -> None:
        (installed / f"{os.uname().machine}.tar.xz").write_bytes(
            (installed / "another.tar.xz").read_bytes() + b"x"
        )
        with pytest.raises(
            ImageError, match=r"not the programs that Tare was installed with\. Install it again"
        ):
            build_image(progress=quiet)

    def test_a_processor_without_programs_is_said(self, installed: Path) -> None:
        (installed / f"{os.uname().machine}.json").unlink()
        with pytest.raises(ImageError, match=f"programs for another, and this host is {os.uname().machine}"):
            build_image(progress=quiet)

    @pytest.mark.usefixtures("installed")
    def test_neither_sources_nor_programs_is_said_with_the_ways_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(prebuilt, "FOLDER", tmp_path / "nowhere")
        with pytest.raises(ImageError, match="Run it from its repository, or install a wheel"):
            build_image(progress=quiet)


def elf(architecture: str = "x86_64", loader: str | None = None) -> bytes:
    """The head of a program with at most one segment, elf(5): the one that names its dynamic loader."""
    name = loader.encode() + b"\0" if loader else b""
    segment = struct.pack("<IIQQQQQQ", layout.PT_INTERP, 4, 120, 0, 0, len(name), len(name), 1) + name
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 2, wheel.MACHINES[architecture], 1)
    rest = struct.pack("<QQQIHHHHHH", 0, 64, 0, 0, 64, 56, 1 if loader else 0, 0, 0, 0)
    return head + rest + (segment if loader else b"")


@pytest.fixture
def checkout(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository, and programs compiled for it that lie where a build leaves them."""
    folder = tmp_path / "checkout"
    (folder / "src" / "tare").mkdir(parents=True)
    (folder / "src" / "tare" / "__init__.py").touch()
    for name in wheel.TAKEN:
        (folder / name).write_bytes((REPOSITORY / name).read_bytes())
    programs = state / "programs"
    programs.mkdir(parents=True)
    (programs / "stopwatch").write_bytes(elf())
    (programs / "npb-ep").write_bytes(elf(loader="/lib64/ld-linux-x86-64.so.2"))
    (programs / "tare_turn.h").write_text("// C\n")
    monkeypatch.chdir(folder)
    return programs


def test_a_wheel_holds_the_programs_of_each_processor_as_data(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel.stage({name: (checkout, f"{KEY} for {name}", ORIGIN) for name in wheel.BUILDERS})
    made = wheel.build()
    assert made.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(made) as archive:
        names, times = set(archive.namelist()), {entry.date_time for entry in archive.infolist()}
        archive.extractall(tmp_path / "installed")
    kept = {name for name in names if "/programs/" in name}
    assert kept == {
        f"tare/image/programs/{name}{end}" for name in wheel.BUILDERS for end in (".json", ".tar.xz")
    }
    assert times == {(2024, 1, 1, 0, 0, 0)}
    monkeypatch.setattr(prebuilt, "FOLDER", tmp_path / "installed" / "tare" / "image" / "programs")
    assert prebuilt.prebuilt_key() == f"{KEY} for {os.uname().machine}"
    unpacked = prebuilt.prebuilt_programs()
    assert {file.name: file.read_bytes() for file in unpacked.iterdir()} == {
        file.name: file.read_bytes() for file in checkout.iterdir()
    }
    assert {file.stat().st_mode & 0o777 for file in unpacked.iterdir()} == {0o755}


def test_equal_programs_give_equal_archives(checkout: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        prebuilt.put(checkout, "x86_64", KEY, ORIGIN, tmp_path / name)
        os.utime(checkout / "stopwatch", (1, 1))
    archives = [(tmp_path / name / "x86_64.tar.xz").read_bytes() for name in ("first", "second")]
    assert archives[0] == archives[1]


def test_a_wheels_programs_are_static_but_for_those_that_need_the_images_libraries(checkout: Path) -> None:
    assert wheel.static_programs(checkout, "x86_64") == ["stopwatch"]
    (checkout / "keeper").write_bytes(elf(loader="/lib64/ld-linux-x86-64.so.2"))
    with pytest.raises(SystemExit, match=r"keeper is not static: it asks for /lib64/ld-linux"):
        wheel.static_programs(checkout, "x86_64")


def test_a_program_for_another_processor_is_in_no_wheel(checkout: Path) -> None:
    (checkout / "keeper").write_bytes(elf("aarch64"))
    with pytest.raises(SystemExit, match="keeper is not for x86_64"):
        wheel.static_programs(checkout, "x86_64")


def test_a_plain_installation_of_more_than_60_megabyte_is_no_wheel(tmp_path: Path) -> None:
    packed = tmp_path / "tare.whl"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(2_000_000))
    said = wheel.sizes(packed, [packed])
    assert "with the 1 packages that it needs 0.0 MB to download, 4.0 MB installed" in said
    large = tmp_path / "large.whl"
    with large.open("wb") as file:
        file.truncate(wheel.MOST_BYTE)
    with pytest.raises(SystemExit, match=r"downloads 60\.0 MB, more than 60\.0 MB"):
        wheel.sizes(packed, [large])


def test_no_wheel_is_made_of_what_a_hosts_own_compiler_made(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel, "compiled", lambda *_: checkout)
    monkeypatch.setattr(wheel, "builder_origin", lambda *_: None)
    with pytest.raises(SystemExit, match=r"subordinate ids"):
        wheel.main()
    assert not wheel.STAGE.exists()


def test_a_checkout_has_sources_and_no_programs_of_a_wheel() -> None:
    assert not prebuilt.FOLDER.exists()
    assert recipe.native_source() == REPOSITORY / "native"
