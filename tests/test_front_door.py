# SPDX-License-Identifier: Apache-2.0
"""What the files that greet a contributor name is there."""

import re
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PAGES = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
HOOKS = (REPOSITORY / ".pre-commit-config.yaml").read_text()
PACKAGES = (REPOSITORY / "scripts" / "packages-test.txt").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert links
    assert [link for link in links if not (REPOSITORY / link).exists()] == []


def test_the_paths_that_a_contributor_is_told_exist() -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text()
    paths = re.findall(
        r"`((?:src|tests|docs|scripts|requirements)[\w./-]*|Makefile|pyproject\.toml|\.[\w.-]+)`", text
    )
    assert len(paths) > 10
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []


def test_the_hooks_are_local_and_run_tools_that_the_set_up_installs() -> None:
    assert re.findall(r"repo: *(\S+)", HOOKS) == ["local"]
    tools = [entry.split()[0] for entry in re.findall(r"entry: *(.+)", HOOKS)]
    ours = {Path(tool).name for tool in tools if tool.startswith(".venv/bin/")}
    assert ours == {"ruff", "mypy"}
    assert all((REPOSITORY / ".venv" / "bin" / tool).exists() for tool in ours)
    assert all(re.search(rf"^{tool} ", PACKAGES, re.MULTILINE) for tool in tools if "/" not in tool)


def test_the_editor_keeps_to_the_width_that_the_checks_ask_for() -> None:
    widths = set(re.findall(r"max_line_length = (\d+)", (REPOSITORY / ".editorconfig").read_text()))
    asked = re.findall(r"^line-length = (\d+)|^ColumnLimit: (\d+)", _styles(), re.MULTILINE)
    assert widths == {python or cpp for python, cpp in asked}


def _styles() -> str:
    return "\n".join((REPOSITORY / name).read_text() for name in ("pyproject.toml", ".clang-format"))


def test_each_term_of_the_glossary_stands_once_in_its_order() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| [^|]+ \| \[", (REPOSITORY / "docs" / "glossary.md").read_text(), re.MULTILINE
    )
    assert len(rows) > 100
    assert len(set(rows)) == len(rows)
    assert rows == sorted(rows, key=str.casefold)
