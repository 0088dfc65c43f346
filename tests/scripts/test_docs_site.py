# SPDX-License-Identifier: Apache-2.0
"""The documentation's site has every page in its order, every link leads somewhere, and the reference is complete."""

import posixpath
import re
import tomllib

import pytest
from scripts.describe_reference import TABLES, campaign_page, commands_page
from scripts.docs_site import ROOT_PAGES, anchors, assets, links, nav, order, pages, slug, title
from scripts.draw_statistics import pictures
from tests.conftest import REPOSITORY

from tare.workloads import KINDS

INDEX, NEW = (f"{name}.md" for name in ("index", "new"))
PAGES = pages()
FILES = {path.relative_to(REPOSITORY / "docs").as_posix() for path in assets()}


def test_every_page_stands_once_in_the_nav() -> None:
    shown = [
        name
        for section in nav(PAGES)
        for entries in section.values()
        for each in entries
        for name in each.values()
    ]
    assert sorted(shown) == sorted(PAGES)
    assert all(
        text and text != "Untitled" for section in nav(PAGES) for own in section.values() for text in own[0]
    )


def test_a_page_that_the_nav_does_not_know_stands_at_its_end_and_a_missing_one_is_left_out() -> None:
    there = {INDEX: "# Tare\n", NEW: "# A `new` page\n"}
    assert nav(there)[-1] == {"More": [{"A new page": NEW}]}
    assert {
        name for section in nav(there) for own in section.values() for each in own for name in each.values()
    } == {INDEX, NEW}


def test_the_nav_knows_every_page_of_today() -> None:
    """A new page is found at the end of the site until somebody gives it a place in docs/nav.toml."""
    names = [name for own in order().values() for name in own]
    assert len(names) == len(set(names))
    assert set(ROOT_PAGES.values()) <= set(names)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_link_of_a_page_leads_to_a_page_and_to_a_heading_of_it(name: str) -> None:
    wrong = []
    for path, anchor in links(PAGES[name]):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        known = target in PAGES or target in FILES
        if not known or (anchor and target in PAGES and anchor not in anchors(PAGES[target])):
            wrong.append(f"{path}#{anchor}")
    assert wrong == []


def test_links_outside_the_site_become_words_and_code_is_left_alone() -> None:
    assert "](../" not in re.sub(r"^docs/npb.*", "", PAGES[INDEX])
    assert "(docs/" not in "".join(path for path, _ in links(PAGES[INDEX]))
    assert ("tutorial.md", "") in links(PAGES[INDEX])
    assert (INDEX, "") in links(PAGES["install.md"])
    assert [*links("`[a](mpi.md)` and [c](os.md#e)")] == [("os.md", "e")]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("A busy machine", "a-busy-machine"),
        ("`[limits]`, below: 5 %", "limits-below-5-"),
        ("The [link](mpi.md)", "the-link"),
    ],
)
def test_an_anchor_is_githubs(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


def test_a_title_is_the_first_heading_without_its_marks() -> None:
    assert title("<!-- x -->\n\n```sh\n# no heading\n```\n# The `tare` *way*\n") == "The tare way"


def test_the_reference_has_every_command_with_its_options() -> None:
    text = commands_page()
    for command in ("tare run", "tare publish", "tare image build"):
        assert f"## {command}\n" in text
    assert "`-o, --output FOLDER`" in text


def test_the_reference_has_every_key_and_the_manual_explains_it() -> None:
    reference = campaign_page()
    manual = "".join(
        (REPOSITORY / "docs" / name).read_text()
        for name in ("campaign.md", "hosts.md", "turns.md", "order.md")
    )
    for model in TABLES.values():
        for key, field in model.model_fields.items():
            name = field.alias or key
            assert f"| `{name}` |" in reference
            assert re.search(rf"`\[*{name}\b", manual), f"{name} is explained nowhere"
    assert all(f"### {kind}\n" in reference for kind in KINDS)


def test_values_are_in_words_with_their_bounds() -> None:
    reference = campaign_page()
    assert "| `processes` | whole number, from 32 to 4194304 | `4096` |" in reference
    assert "| `memory` | size |" in reference
    assert '| `storage` | `"tmpfs"`, `"disk"` | `tmpfs` |' in reference


def test_the_site_loads_nothing_from_elsewhere() -> None:
    text = (REPOSITORY / "mkdocs.yml").read_text()
    assert "font: false" in text
    assert "http" not in text
    assert not [
        name
        for name, page in PAGES.items()
        if re.search(r"!\[[^\]]*\]\(https?:|<(?:img|script|iframe)\b", page)
    ]


def test_the_version_to_cite_is_this_one() -> None:
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert f'version: "{version}"' in (REPOSITORY / "CITATION.cff").read_text()


def test_the_pictures_of_the_statistics_are_what_their_script_draws() -> None:
    for name, text in pictures().items():
        assert (REPOSITORY / "docs" / "images" / name).read_text() == text
        assert len(text) < 16_000
