# SPDX-License-Identifier: Apache-2.0
"""scripts/build-runsc with a stand-in for Go."""

import re
from pathlib import Path

import pytest
from packaging.version import Version
from tests.scripts.script_runs import SCRIPTS, checkout, run_script

GO = """#!/bin/bash
case "$1 $2" in
"env GOVERSION") echo {version} ;;
"env GOARCH") echo amd64 ;;
"mod download")
    echo "$4" >{folder}/fetched
    printf '{\\n\\t"Path": "x",\\n\\t"Dir": "%s/newer",\\n\\t"Sum": "{sum}",\\n}\\n' {folder}
    ;;
build*)
    [ -z "$FAIL" ] || { echo "no such module"; exit 1; }
    echo "$0 $*" >{folder}/built
    while [ "$1" != -o ]; do shift; done
    printf '#!/bin/sh\\necho "runsc version {pinned}"\\necho "spec: 1"\\n' >"$2" && chmod 755 "$2"
    ;;
esac
"""


TOOLCHAIN = (SCRIPTS / "go-toolchain.sum").read_text().splitlines()
VERSION, SUM = TOOLCHAIN[0].split()[1].split("-")[1].removesuffix(".linux"), TOOLCHAIN[0].split()[2]


def pinned() -> str:
    lines = (SCRIPTS / "gvisor" / "go.mod").read_text().splitlines()
    return next(line.split()[-1] for line in lines if line.startswith("require gvisor.dev/gvisor "))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkout(tmp_path, ("awk", "bash", "chmod", "head", "mkdir", "mv", "sed", "sha256sum", "tail"))


def give_go(folder: Path, version: str, place: str = "bin", *, fetched: str = SUM) -> None:
    (folder / place).mkdir(parents=True, exist_ok=True)
    text = GO.replace("{version}", version).replace("{pinned}", pinned()).replace("{sum}", fetched)
    (folder / place / "go").write_text(text.replace("{folder}", str(folder)))
    (folder / place / "go").chmod(0o755)


def run(folder: Path, **variables: str) -> tuple[int, str]:
    return run_script(folder, "build-runsc", **variables)


def test_the_pinned_version_is_built_once(folder: Path) -> None:
    give_go(folder, VERSION)
    assert run(folder) == (0, "set-up: building runsc, which takes some minutes\n")
    assert f"-X gvisor.dev/gvisor/runsc/version.version={pinned()}" in (folder / "built").read_text()
    (folder / "built").unlink()
    assert run(folder) == (0, "")
    assert not (folder / "built").exists()


@pytest.mark.parametrize("changed", ["go-toolchain.sum", "gvisor/go.mod", "gvisor/go.sum"])
def test_a_runsc_of_other_sources_is_replaced(folder: Path, changed: str) -> None:
    give_go(folder, VERSION)
    assert run(folder)[0] == 0
    (folder / "built").unlink()
    with (folder / "scripts" / changed).open("a") as file:
        file.write("// more\n")
    assert run(folder)[0] == 0
    assert "version.version=" in (folder / "built").read_text()


@pytest.mark.parametrize("version", ["go1.19.8", "go1.99.0"])
def test_a_go_that_is_not_the_pinned_one_fetches_that(folder: Path, version: str) -> None:
    give_go(folder, version)
    give_go(folder, VERSION, "newer/bin")
    (folder / "newer" / "pkg" / "tool").mkdir(parents=True)
    assert run(folder)[0] == 0
    assert (folder / "fetched").read_text() == f"golang.org/toolchain@{TOOLCHAIN[0].split()[1]}\n"
    assert (folder / "built").read_text().startswith(f"{folder}/newer/bin/go build")


def test_a_go_of_another_hash_than_the_pinned_one_builds_nothing(folder: Path) -> None:
    give_go(folder, "go1.19.8", fetched="h1:another=")
    give_go(folder, VERSION, "newer/bin")
    (folder / "newer" / "pkg" / "tool").mkdir(parents=True)
    code, said = run(folder)
    assert code == 3
    assert "has the hash h1:another=" in said
    assert "do not use it" in said
    assert not (folder / "built").exists()


@pytest.mark.parametrize("module", ["govc", "gvisor"])
def test_the_pinned_go_is_as_new_as_a_module_wants(module: str) -> None:
    wanted = re.search(r"^go ([\d.]+)$", (SCRIPTS / module / "go.mod").read_text(), re.MULTILINE)
    assert wanted
    assert Version(VERSION.removeprefix("go")) >= Version(wanted[1])


def test_without_go_it_says_how_to_get_it(folder: Path) -> None:
    code, said = run(folder)
    assert code == 3
    assert "apt-get install golang-go" in said
    assert not (folder / "build").exists()


def test_a_failed_build_shows_its_last_words_and_leaves_no_runsc(folder: Path) -> None:
    give_go(folder, VERSION)
    code, said = run(folder, FAIL="yes")
    assert code == 3
    assert "no such module" in said
    assert not (folder / "build" / "gvisor" / "runsc").exists()


def test_every_module_is_pinned_by_its_checksum() -> None:
    sums = (SCRIPTS / "gvisor" / "go.sum").read_text()
    modules = [
        line.removeprefix("require ").split()[:2]
        for line in (SCRIPTS / "gvisor" / "go.mod").read_text().splitlines()
        if line.startswith(("require gvisor", "\t"))
    ]
    assert len(modules) > 10
    assert [name for name, version in modules if f"{name} {version} h1:" not in sums] == []
