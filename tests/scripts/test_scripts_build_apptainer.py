# SPDX-License-Identifier: Apache-2.0
"""scripts/build-apptainer with stand-ins for Go, make and the module."""

from pathlib import Path

import pytest
from tests.scripts.script_runs import SCRIPTS, checkout, run_script

SUMS = (SCRIPTS / "apptainer" / "go.sum").read_text()
PINNED = SUMS.split()[2]
GO = """#!/bin/bash
case "$1 $2" in
"env GOVERSION") echo {version} ;;
"mod download") printf '{\\n\\t"Dir": "{folder}/module",\\n\\t"Sum": "{sum}",\\n}\\n' ;;
build*)
    [ -z "$FAIL" ] || { echo "no such package"; exit 1; }
    echo "$*" >>{folder}/built
    while [ "$1" != -o ]; do shift; done
    for name in apptainer starter; do
        printf '#!/bin/bash\\necho "systemd cgroups = yes" >"$2"\\n' >"$2$name" && chmod 755 "$2$name"
    done
    ;;
esac
"""
PROGRAMS = (
    "awk",
    "bash",
    "chmod",
    "cp",
    "grep",
    "head",
    "install",
    "mkdir",
    "mktemp",
    "rm",
    "sed",
    "sha256sum",
    "tail",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = checkout(tmp_path, (*PROGRAMS, "touch"))
    for place in ("mlocal/scripts", "scripts", "makeit"):
        (made / "module" / place).mkdir(parents=True)
        (made / "module" / place / "gengodep").touch()
    (made / "module" / "makeit" / "genmod.awk").touch()
    own = [line for line in SUMS.splitlines() if not line.startswith("github.com/apptainer/apptainer ")]
    (made / "module" / "go.sum").write_text("\n".join([*own, "further v1 h1:x=", ""]))
    (made / "module" / "mconfig").write_text("#!/bin/bash\nmkdir builddir\n")
    for name in ("gcc", "make", "pkg-config"):
        give(made, name, "#!/bin/bash\n")
    return made


def give(folder: Path, name: str, text: str) -> None:
    (folder / "bin" / name).write_text(text)
    (folder / "bin" / name).chmod(0o755)


def give_go(folder: Path, fetched: str = PINNED) -> None:
    version = (SCRIPTS / "go-toolchain.sum").read_text().split()[1].split("-")[1].removesuffix(".linux")
    text = GO.replace("{folder}", str(folder)).replace("{version}", version)
    give(folder, "go", text.replace("{sum}", fetched))


def run(folder: Path, **variables: str) -> tuple[int, str]:
    return run_script(folder, "build-apptainer", **variables)


def test_both_programs_are_built_once_and_ask_systemd_for_nothing(folder: Path) -> None:
    give_go(folder)
    assert run(folder) == (0, "set-up: building apptainer, which takes a minute or two\n")
    assert run(folder) == (0, "")
    built = (folder / "built").read_text().splitlines()
    assert len(built) == 1
    assert built[0].endswith("./cmd/apptainer ./cmd/starter")
    configured = folder / "build" / "apptainer" / "etc" / "apptainer" / "apptainer.conf"
    assert configured.read_text() == "systemd cgroups = no\n"


def test_a_module_with_another_hash_is_not_built(folder: Path) -> None:
    give_go(folder, fetched="h1:another=")
    code, said = run(folder)
    assert code == 3
    assert "has the hash h1:another=" in said
    assert not (folder / "built").exists()


def test_a_module_built_of_others_than_are_locked_is_not_built(folder: Path) -> None:
    give_go(folder)
    sums = folder / "module" / "go.sum"
    sums.write_text(sums.read_text().replace(" h1:", " h1:A", 1))
    code, said = run(folder)
    assert code == 3
    assert "names other modules than github.com/apptainer/apptainer is built of" in said
    assert not (folder / "built").exists()


def test_without_go_it_says_how_to_get_it(folder: Path) -> None:
    code, said = run(folder)
    assert code == 3
    assert "apt-get install golang-go" in said


def test_a_failed_build_shows_its_last_words_and_is_tried_again(folder: Path) -> None:
    give_go(folder)
    code, said = run(folder, FAIL="yes")
    assert code == 3
    assert "no such package" in said
    assert run(folder)[0] == 0
