# SPDX-License-Identifier: Apache-2.0
"""scripts/build-govc with a stand-in for Go."""

from pathlib import Path

import pytest
from tests.scripts.script_runs import SCRIPTS, checkout, run_script

GO = """#!/bin/bash
case "$1 $2" in
"env GOVERSION") echo {version} ;;
build*)
    [ -z "$FAIL" ] || { echo "no such module"; exit 1; }
    echo "$*" >>{folder}/built
    while [ "$1" != -o ]; do shift; done
    for name in govc vcsim; do echo '#!/bin/sh' >"$2/$name" && chmod 755 "$2/$name"; done
    ;;
esac
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkout(tmp_path, ("awk", "bash", "chmod", "head", "mkdir", "sed", "sha256sum", "tail"))


def give_go(folder: Path) -> None:
    version = (SCRIPTS / "go-toolchain.sum").read_text().split()[1].split("-")[1].removesuffix(".linux")
    (folder / "bin" / "go").write_text(GO.replace("{folder}", str(folder)).replace("{version}", version))
    (folder / "bin" / "go").chmod(0o755)


def run(folder: Path, **variables: str) -> tuple[int, str]:
    return run_script(folder, "build-govc", **variables)


def test_both_programs_are_built_at_once_and_once(folder: Path) -> None:
    give_go(folder)
    assert run(folder) == (0, "set-up: building govc and vcsim, which takes about a minute\n")
    assert run(folder) == (0, "")
    built = (folder / "built").read_text().splitlines()
    assert len(built) == 1
    assert built[0].endswith("./govc ./vcsim")
    assert "flags.BuildVersion=v0.55.1" in built[0]


@pytest.mark.parametrize(
    "change", ["scripts/govc/vcsim/main.go", "scripts/govc/go.sum", "scripts/go-toolchain.sum"]
)
def test_another_source_is_built_anew(change: str, folder: Path) -> None:
    give_go(folder)
    assert run(folder)[0] == 0
    with (folder / change).open("a") as changed:
        changed.write("// more\n")
    assert run(folder)[0] == 0
    assert len((folder / "built").read_text().splitlines()) == 2


def test_a_program_that_was_removed_is_built_again(folder: Path) -> None:
    give_go(folder)
    assert run(folder)[0] == 0
    (folder / "build" / "govc" / "vcsim").unlink()
    assert run(folder)[0] == 0
    assert (folder / "build" / "govc" / "vcsim").exists()


def test_without_go_it_says_how_to_get_it(folder: Path) -> None:
    code, said = run(folder)
    assert code == 3
    assert "apt-get install golang-go" in said
    assert not (folder / "build").exists()


def test_a_failed_build_shows_its_last_words_and_is_tried_again(folder: Path) -> None:
    give_go(folder)
    code, said = run(folder, FAIL="yes")
    assert code == 3
    assert "no such module" in said
    assert run(folder)[0] == 0


def test_every_module_is_pinned_by_its_checksum() -> None:
    sums = (SCRIPTS / "govc" / "go.sum").read_text()
    modules = [
        line.removeprefix("require ").split()[:2]
        for line in (SCRIPTS / "govc" / "go.mod").read_text().splitlines()
        if line.startswith(("require github", "\t"))
    ]
    assert len(modules) > 3
    assert [name for name, version in modules if f"{name} {version} " not in sums] == []
