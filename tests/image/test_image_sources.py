# SPDX-License-Identifier: Apache-2.0
"""Where images come from; the tools that have them are stand-ins on PATH."""

from pathlib import Path

import pytest

from tare.errors import HostError, InputError
from tare.image.sources import FETCHED, fetched, image_name, is_source, stamp
from tare.image.store import image_directory
from tests.image.stand_ins import quiet, write_program

SAVES = """#!/bin/sh
echo "$0 $*" >>"$LOG"
[ "$2" = inspect ] && { echo sha256:abc; exit; }
while [ $# -gt 1 ]; do [ "$1" = --output ] && echo archive >"$2"; shift; done
case $1 in oci-archive:*) echo archive >"${1#oci-archive:}";; missing*) echo "no such image" >&2; exit 1;; esac
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins that write an archive; returns the log of their calls."""
    (tmp_path / "bin").mkdir()
    for name in ("docker", "podman", "skopeo"):
        write_program(tmp_path / "bin" / name, SAVES)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("docker:app:1", "docker save --output {} app:1"),
        ("podman:localhost/app", "podman save --quiet --format docker-archive --output {} localhost/app"),
        ("docker://example/app:2", "skopeo copy --quiet docker://example/app:2 oci-archive:{}"),
    ],
)
def test_the_tool_that_has_it_is_asked_for_an_archive(
    source: str, call: str, tools: Path, tmp_path: Path
) -> None:
    assert fetched(source, tmp_path, quiet) == tmp_path / FETCHED
    assert (tmp_path / FETCHED).read_text() == "archive\n"
    assert tools.read_text().strip().endswith(call.format(tmp_path / FETCHED))


@pytest.mark.parametrize("source", ["docker:--help", "podman:", "docker:a b", "docker://-x"])
def test_a_name_that_could_be_an_option_never_reaches_a_tool(
    source: str, tools: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="not the name of a container image"):
        fetched(source, tmp_path, quiet)
    assert not tools.exists()


def test_an_image_that_the_tool_does_not_have_is_said_in_its_words(tools: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such image"):
        fetched("docker:missing", tmp_path, quiet)
    assert tools.exists()


def test_without_the_tool_its_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="apt-get install skopeo"):
        fetched("docker://debian", tmp_path, quiet)


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    assert fetched("some/dir", tmp_path, quiet) == Path("some/dir")


def test_a_name_is_no_source_and_a_path_or_scheme_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.sif").touch()
    assert [is_source(text) for text in ("default", "my-image.2")] == [False, False]
    assert all(map(is_source, ("./x", "docker:x", "podman:x", "docker://x", "app.sif")))


def test_every_source_has_an_own_valid_name_and_the_same_one_every_time() -> None:
    listed = ["docker:app:1", "podman:app:1", "docker://r/app:1", "/a/app.tar", "/b/app.tar", "docker:@"]
    names = [image_name(source) for source in listed]
    assert len(set(names)) == len(listed)
    assert names == [image_name(source) for source in listed]
    assert all(map(image_directory, names))


@pytest.mark.usefixtures("tools")
def test_a_stamp_changes_with_the_file_and_follows_the_tools_id(tmp_path: Path) -> None:
    file = tmp_path / "a.tar"
    file.write_text("x")
    before = stamp(str(file))
    file.write_text("xy")
    assert before is not None
    assert stamp(str(file)) != before
    assert stamp("docker:app") == "sha256:abc"
    assert stamp(str(tmp_path)) is None
