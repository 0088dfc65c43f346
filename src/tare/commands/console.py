# SPDX-License-Identifier: Apache-2.0
"""Console for tables: rich's, with foreign text never interpreted as markup."""

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table

from tare.commands.terminal import own
from tare.foreign import visible

_LEAST_TABLE = 80
"""In fewer columns rich would cut figures away."""


def _has_columns(shown: Any) -> bool:
    return isinstance(shown, Group) or (
        isinstance(shown, Table) and (shown.show_header or shown.box is not None)
    )


class PlainConsole(Console):
    """Shows control characters; colours come from Tare's styles, never from a text."""

    def __init__(self) -> None:
        """Print to the current standard output, as wide as tables need: the terminal wraps what is wider than it."""
        super().__init__(file=own(sys.stdout), highlight=False, markup=False, emoji=False)
        self._terminal_width = self.width
        self.width = max(self.width, _LEAST_TABLE)

    def print(self, *objects: Any, **settings: Any) -> None:
        """Print what has no columns as wide as the terminal, so that it is broken between words."""
        if not any(map(_has_columns, objects)):
            settings.setdefault("width", self._terminal_width)
        super().print(*objects, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render every piece of text, before lines are cut to the terminal's width."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
