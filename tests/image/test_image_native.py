# SPDX-License-Identifier: Apache-2.0
"""An image made with the programs that a wheel brings, and the wheel itself."""

import json
import zipfile
from pathlib import Path

import pytest
from scripts.supply import wheel

from tare.errors import ImageError
from tare.image import native, recipe
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
    native.put(compiled, KEY, ORIGIN, folder)
    monkeypatch.setattr(native, "FOLDER", folder)
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
        (installed / "bin" / "init").write_text("another\n")
        with pytest.raises(
            ImageError, match=r"not the programs that Tare was installed with\. Install it again"
        ):
            build_image(progress=quiet)

    def test_programs_for_another_processor_are_refused(self, installed: Path) -> None:
        about = json.loads((installed / "about.json").read_text())
        (installed / "about.json").write_text(json.dumps(about | {"architecture": "s390x"}))
        with pytest.raises(ImageError, match="programs for s390x"):
            build_image(progress=quiet)

    @pytest.mark.usefixtures("installed")
    def test_neither_sources_nor_programs_is_said_with_the_ways_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(native, "FOLDER", tmp_path / "nowhere")
        with pytest.raises(ImageError, match="Run it from its repository, or install a wheel"):
            build_image(progress=quiet)


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
    (programs / "stopwatch").write_bytes(b"\x7fELF")
    monkeypatch.chdir(folder)
    return programs


def test_a_wheel_holds_the_programs_and_is_for_this_processor(checkout: Path) -> None:
    wheel.stage(checkout, KEY, ORIGIN)
    made = wheel.build()
    assert made.name.endswith("-py3-none-linux_x86_64.whl")
    with zipfile.ZipFile(made) as archive:
        assert archive.read("tare/image/programs/bin/stopwatch") == b"\x7fELF"
        about = json.loads(archive.read("tare/image/programs/about.json"))
        times = {entry.date_time for entry in archive.infolist()}
    assert (about["key"], set(about["sha256"])) == (KEY, {"stopwatch"})
    assert times == {(2024, 1, 1, 0, 0, 0)}


def test_no_wheel_is_made_of_what_a_hosts_own_compiler_made(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel, "native_programs", lambda *_: checkout)
    monkeypatch.setattr(wheel, "builder_origin", lambda _: None)
    with pytest.raises(SystemExit, match=r"subordinate ids"):
        wheel.main()
    assert not wheel.STAGE.exists()


def test_a_checkout_has_sources_and_no_programs_of_a_wheel() -> None:
    assert not native.FOLDER.exists()
    assert recipe.native_source() == REPOSITORY / "native"
