# SPDX-License-Identifier: Apache-2.0
"""Rules that no linter knows: each is about every file of the repository."""

import ast
import re
import shutil
import socket
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tare.environments import PROVIDERS
from tare.host.facts import memory_byte
from tare.plan.source import preset_names
from tare.plan.trials import plan_trials
from tests.conftest import REPOSITORY
from tests.plan.preset_hosts import resolved_preset

SPDX = re.compile(r"(#|//|/\*|\{#)-? SPDX-License-Identifier: Apache-2\.0")
SOURCES = {".py", ".cpp", ".hpp", ".toml", ".sh", ".cmake", ".css", ".j2"}
SOURCE_NAMES = {"CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy"}
MOST_LINES = 400
CITED = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w.-]+\.md\b|DESIGN §")
SECTION = re.compile(r'docs/([\w-]+\.md), "([^"\n]+)"')
ELSEWHERE = {
    "config.md": "the OCI runtime specification",
    "image-index.md": "the OCI image specification",
    "image-layout.md": "the OCI image specification",
    "layer.md": "the OCI image specification",
    "manifest.md": "the OCI image specification",
    "docs/ENVIRONMENT.md": "systemd",
    "build/npb-long.md": "written by `make test-long`",
    "npb-long.md": "the same",
    "methods.md": "written by `tare publish`",
    "rules.md": "the same",
    "verdicts.md": "the same",
}
"""Documents that are cited and are not the repository's → whose they are."""
SHELL = re.compile(r"shell\s*=\s*True|\bos\.(system|popen)\(")
SOMEBODYS_HOME = re.compile(r"(?<![\w.])/(home|Users)/[a-z]\w*")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tracked() -> list[Path]:
    """What is in the repository, or would be after `git add`."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=60)
    paths = (REPOSITORY / name for name in done.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


FILES = tracked()
TEXTS = [path for path in FILES if b"\0" not in path.read_bytes()[:4096] and "outputs" not in path.parts]
PYTHON = [path for path in FILES if path.suffix == ".py"]
DOCUMENTS = [path for path in FILES if path.suffix == ".md"]


def name(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def is_source(path: Path) -> bool:
    if path.suffix in SOURCES or path.name in SOURCE_NAMES:
        return True
    return path.read_bytes()[:2] == b"#!"


def without_licence(path: Path) -> bool:
    lines = path.read_text().splitlines()
    first = lines[1:2] if lines[:1] and lines[0].startswith("#!") else lines[:1]
    return not first or not SPDX.match(first[0])


def test_the_list_of_files_is_not_empty() -> None:
    assert REPOSITORY / "pyproject.toml" in FILES
    assert Path(__file__).resolve() in FILES


def test_every_source_file_begins_with_its_licence() -> None:
    sources = [path for path in FILES if is_source(path) and path.stat().st_size > 0]
    assert [name(path) for path in sources if without_licence(path)] == []


def test_no_source_file_is_longer_than_a_reader_can_hold() -> None:
    long = {name(path): path.read_text().count("\n") for path in FILES if is_source(path)}
    assert {path: lines for path, lines in long.items() if lines > MOST_LINES} == {}


def test_every_module_of_the_program_says_what_it_is_for() -> None:
    modules = [path for path in PYTHON if path.is_relative_to(REPOSITORY / "src")]
    assert [name(path) for path in modules if ast.get_docstring(parsed(path)) is None] == []


def test_no_two_classes_of_the_program_have_one_name() -> None:
    """A name that stands for two things has to be looked up each time it is read."""
    defined: dict[str, list[str]] = {}
    for path in PYTHON:
        if path.is_relative_to(REPOSITORY / "src"):
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.ClassDef):
                    defined.setdefault(node.name, []).append(name(path))
    assert {value: places for value, places in defined.items() if len(places) > 1} == {}


def test_one_function_asks_whether_an_ordinary_user_runs_this() -> None:
    asking = [name(path) for path in PYTHON if re.search(r"geteuid\(\) *[!=]= *0", path.read_text())]
    assert [path for path in asking if path.startswith("src/")] == ["src/tare/host/privileges.py"]


def test_no_command_is_a_shell_string() -> None:
    names = [name(path) for path in PYTHON if SHELL.search(path.read_text())]
    assert [path for path in names if path != name(Path(__file__).resolve())] == []


def test_no_file_names_the_machine_that_it_was_written_on() -> None:
    host = socket.gethostname()
    places = [str(place) for place in (REPOSITORY, Path(__file__).resolve().parent) if len(place.parts) > 2]
    words = [*places, *([host] if len(host) > 8 else [])]
    own = re.compile(
        "|".join([*(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])" for word in words), SOMEBODYS_HOME.pattern])
    )
    result = {name(path): own.findall(path.read_text(errors="replace")) for path in TEXTS}
    assert {path: hits for path, hits in result.items() if hits} == {}


def test_no_line_ends_in_spaces_and_every_file_ends_with_a_line_end() -> None:
    texts = {path: path.read_bytes() for path in TEXTS}
    assert [name(path) for path, text in texts.items() if re.search(rb"[ \t\r]$", text, re.MULTILINE)] == []
    assert [name(path) for path, text in texts.items() if text and not text.endswith(b"\n")] == []


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_can_be_planned_here(preset: str) -> None:
    campaign = resolved_preset(preset, processors=64, memory_byte=max(memory_byte(), 1 << 36))
    trials = plan_trials(campaign, 1)
    assert len(trials) >= 3
    assert {trial.environment.technology for trial in trials} <= set(PROVIDERS)


def test_the_changelog_says_what_comes_next() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text()
    assert re.search(r"^## ", text, re.MULTILINE)


def test_readme_and_licence_are_there() -> None:
    assert "Apache License" in (REPOSITORY / "LICENSE").read_text()
    assert "# Tare" in (REPOSITORY / "README.md").read_text().splitlines()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_the_blocks_of_every_document_parse(document: Path) -> None:
    text = document.read_text()
    assert text.count("\n```") % 2 == 0, "a block does not end"
    for kind, block in BLOCK.findall(text):
        if kind == "toml":
            tomllib.loads(block)
        elif kind == "python":
            compile(block, name(document), "exec")
        elif kind in {"sh", "bash"}:
            shell = shutil.which("bash") or "sh"
            done = subprocess.run(
                [shell, "-n"], input=block, capture_output=True, text=True, check=False, timeout=10
            )
            assert done.returncode == 0, done.stderr


def is_there(cited: str, path: Path) -> bool:
    """Beside the file that cites it, by its path in the repository, or by its name alone among the documents."""
    places = (path.parent, REPOSITORY, REPOSITORY / "docs")
    return cited in ELSEWHERE or any((place / cited).is_file() for place in places)


def test_every_document_that_is_cited_is_in_the_repository() -> None:
    texts = {path: path.read_text(errors="replace") for path in TEXTS if path != Path(__file__).resolve()}
    missing = {
        name(path): lost
        for path, text in texts.items()
        if (lost := [cited for cited in CITED.findall(text) if not is_there(cited, path)])
    }
    assert missing == {}


def test_every_section_that_is_cited_is_in_its_document() -> None:
    cited = {match for path in TEXTS for match in SECTION.findall(path.read_text(errors="replace"))}
    assert cited
    assert [
        (document, section)
        for document, section in sorted(cited)
        if f"# {section}\n" not in (REPOSITORY / "docs" / document).read_text()
    ] == []


def test_every_environment_is_in_the_documentation() -> None:
    text = "".join(document.read_text() for document in DOCUMENTS)
    assert [technology for technology in PROVIDERS if technology not in text] == []
