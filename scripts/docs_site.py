# SPDX-License-Identifier: Apache-2.0
"""Prepares the documentation's site: what mkdocs builds from.

    python -m scripts.docs_site [FOLDER]        (build/site-source)

The pages are docs/, the root's documents, and the generated reference. Links between them are kept as GitHub shows
them, and changed to the site's pages here. The order of the pages is in docs/nav.toml.
"""

import json
import posixpath
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from scripts.describe_reference import pages as reference_pages

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = Path("build/site-source")
ROOT_PAGES = {
    f"{name}.md": f"{page}.md"
    for name, page in (
        ("README", "index"),
        ("ARCHITECTURE", "architecture"),
        ("CONTRIBUTING", "contributing"),
        ("SECURITY", "security-policy"),
        ("CHANGELOG", "changelog"),
    )
}
"""A document of the repository's root → its page."""
ASSETS = (".svg", ".png", ".json", ".css")
REST = "More"
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?\)")
_CODE = re.compile(r"^```.*?^```$|^(?: {4}.*\n?)+|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)


def pages() -> dict[str, str]:
    """Place on the site → Markdown, with links that hold there."""
    own = {
        path.relative_to(REPOSITORY / "docs").as_posix(): path
        for path in sorted((REPOSITORY / "docs").rglob("*.md"))
    }
    roots = {page: REPOSITORY / name for name, page in ROOT_PAGES.items()}
    documents = {page: _on_site(path) for page, path in {**own, **roots}.items()}
    return {**documents, **reference_pages()}


def assets() -> list[Path]:
    """Pictures and data beside the pages."""
    return [path for path in sorted((REPOSITORY / "docs").rglob("*")) if path.suffix in ASSETS]


def nav(there: Mapping[str, str]) -> list[dict[str, list[dict[str, str]]]]:
    """Sections with the title of each of their pages; ``there`` are all pages."""
    sections = order()
    listed = {name for names in sections.values() for name in names}
    rest = [name for name in there if name not in listed]
    return [
        {heading: [{title(there[name]): name} for name in names if name in there]}
        for heading, names in {**sections, **({REST: rest} if rest else {})}.items()
    ]


def order() -> dict[str, list[str]]:
    """Section → its pages, as docs/nav.toml has them."""
    sections = tomllib.loads((REPOSITORY / "docs" / "nav.toml").read_text())["section"]
    return {section["title"]: [f"{name}.md" for name in section["pages"]] for section in sections}


def title(text: str) -> str:
    """A page's first heading, as plain text."""
    heading = _HEADING.search(_FENCED.sub("", text))
    return re.sub(r"[`*]", "", heading[1]) if heading else "Untitled"


def slug(heading: str) -> str:
    """A heading's anchor, as GitHub makes it."""
    plain = re.sub(r"\]\([^)]*\)", "]", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """The anchors of a page; of equal ones the second gets a number."""
    seen: dict[str, int] = {}
    for heading in _HEADING.findall(_FENCED.sub("", text)):
        base = slug(heading)
        seen[base] = seen.get(base, 0) + 1
    return {f"{base}-{number}" if number else base for base, count in seen.items() for number in range(count)}


def links(text: str) -> Iterator[tuple[str, str]]:
    """Path and anchor of each relative link outside code; either may be empty."""
    for _, path, anchor in _LINK.findall(_CODE.sub("", text)):
        yield path, anchor.removeprefix("#")


def _on_site(path: Path) -> str:
    """A document's text with its links as they are on the site; a link to what is no page there becomes its words."""
    folder = path.parent.relative_to(REPOSITORY).as_posix()
    page = (
        ROOT_PAGES.get(path.relative_to(REPOSITORY).as_posix())
        or path.relative_to(REPOSITORY / "docs").as_posix()
    )

    def changed(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        if not target:
            return match[0]
        place = posixpath.normpath(posixpath.join(folder, target))
        there = ROOT_PAGES.get(place) or (place.removeprefix("docs/") if place.startswith("docs/") else None)
        if there is None:
            return words.removeprefix("!")[1:-1]
        words = _titled(words, target, place)
        return f"{words}({posixpath.relpath(there, posixpath.dirname(page) or '.')}{anchor})"

    return _outside_code(path.read_text(encoding="utf-8"), changed)


def _titled(words: str, target: str, place: str) -> str:
    """The title of the page, where a link's words are only the file's name."""
    path = REPOSITORY / place
    is_name = words[1:-1] in {target, posixpath.basename(target)} and path.suffix == ".md" and path.is_file()
    return f"[{title(path.read_text(encoding='utf-8'))}]" if is_name else words


def _outside_code(text: str, changed: object) -> str:
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_LINK.sub(changed, text[end : code.start()]), code[0]]  # type: ignore[call-overload]
        end = code.end()
    return "".join([*parts, _LINK.sub(changed, text[end:])])  # type: ignore[call-overload]


def write(folder: Path) -> None:
    """Everything that mkdocs needs, in a folder that is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    there = pages()
    for name, text in there.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in assets():
        target = folder / "docs" / path.relative_to(REPOSITORY / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    settings = (REPOSITORY / "mkdocs.yml").read_text()
    (folder / "mkdocs.yml").write_text(f"{settings}nav: {json.dumps(nav(there), ensure_ascii=False)}\n")


def main() -> None:
    folder = Path(sys.argv[1]) if sys.argv[1:] else FOLDER
    write(folder)
    print(folder)


if __name__ == "__main__":
    main()
