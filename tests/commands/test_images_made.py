# SPDX-License-Identifier: Apache-2.0
"""Which image is used, and how one that is missing is made; nothing is really made here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.image.stand_ins import quiet

from tare.commands.images_made import built_image, image_of_command, image_to_use
from tare.errors import ImageError, InputError
from tare.image import Image, build, debian, from_distribution, host_image


@pytest.fixture
def makers(state: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was made, in order; mmdebstrap is here."""
    made: list[str] = []

    def maker(way: str, name: str) -> Callable[..., Image]:
        def make(*words: Any, **_: Any) -> Image:
            made.append(" ".join([way, *(word for word in words if isinstance(word, str))]))
            return Image(name, state, "sha256:0")

        return make

    monkeypatch.setattr(build, "build_image", maker("debian", "default"))
    monkeypatch.setattr(host_image, "host_image", maker("host", "host"))
    monkeypatch.setattr(host_image, "build_host_image", maker("host", "host"))
    monkeypatch.setattr(from_distribution, "build_distribution_image", maker("package tool", "default"))
    monkeypatch.setattr(debian, "why_not", lambda: None)
    return made


def without_mmdebstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "why_not", lambda: "mmdebstrap is not on this host")


def test_a_missing_image_is_made_of_debians_packages_and_said(
    makers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert image_to_use("default") == "default"
    assert makers == ["debian"]
    assert "there is no image yet" in capsys.readouterr().err


def test_where_debians_packages_cannot_be_had_it_is_made_of_the_hosts_files(
    makers: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_mmdebstrap(monkeypatch)
    assert image_to_use("default") == "host"
    assert makers == ["host"]
    assert "mmdebstrap is not on this host: an image of this host's own files" in capsys.readouterr().err


def test_where_the_packages_cannot_be_fetched_the_hosts_files_are_taken(
    makers: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(**_: object) -> None:
        raise ImageError("mmdebstrap failed\n  no network")

    monkeypatch.setattr(build, "build_image", fails)
    assert image_to_use("default") == "host"
    assert makers == ["host"]
    assert "files are taken: mmdebstrap failed\n" in capsys.readouterr().err


def test_an_image_that_is_there_is_taken(fake_image: Image, makers: list[str]) -> None:
    assert image_to_use("default") == fake_image.name
    assert makers == []


def test_nothing_is_made_for_a_dry_run(makers: list[str]) -> None:
    assert image_to_use("default", make=False) == "default"
    assert makers == []


@pytest.mark.parametrize(
    ("way", "made"),
    [
        (None, "debian default"),
        ("debian", "debian default"),
        ("host", "host host"),
        ("dnf", "package tool dnf default"),
    ],
)
def test_each_way_makes_its_image(way: str | None, made: str, makers: list[str]) -> None:
    built_image(None, way, quiet)
    assert makers == [made]


def test_the_usual_way_without_mmdebstrap_is_said(makers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    without_mmdebstrap(monkeypatch)
    said: list[str] = []
    built_image(None, None, said.append)
    assert makers == ["host host"]
    assert "made of this host's own files" in said[0]


def test_an_unknown_way_is_refused_with_the_nearest(makers: list[str]) -> None:
    with pytest.raises(InputError, match=r"--from: 'dfn' is none of .*did you mean"):
        built_image(None, "dfn", quiet)
    assert makers == []


def test_a_program_that_lacks_something_in_the_usual_image_runs_in_the_hosts(
    fake_image: Image, makers: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_image, "missing", lambda *_: ["libfoo.so.1"])
    assert image_of_command("default", ["/bin/cat"], []) == "host"
    assert makers == ["host /bin/cat"]
    assert f"{fake_image.name} lacks libfoo.so.1" in capsys.readouterr().err


def test_a_program_that_lacks_nothing_or_is_not_this_hosts_stays(
    fake_image: Image, makers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_image, "missing", lambda *_: [])
    assert image_of_command("default", ["/bin/cat"], []) == fake_image.name
    assert image_of_command("default", ["no-such-program"], []) == fake_image.name
    assert makers == []
