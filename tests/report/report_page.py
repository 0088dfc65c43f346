# SPDX-License-Identifier: Apache-2.0
"""Reads a report as a strict browser would."""

from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "link", "img", "input", "hr", "source"})


class Page(HTMLParser):
    """Walks a page; ``faults`` are what is wrong with its elements."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.style = ""
        self._texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.faults.append(f"<{tag}> has an attribute twice")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - as inherited
        self.faults.append(f"<{tag}/> means <{tag}> in HTML")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            self.style += data
        else:
            self._texts.append(data)

    @property
    def text(self) -> str:
        """All that can be read, without the characters that only keep lines together."""
        joined = "".join(self._texts).replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")
        return " ".join(joined.split())

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}
