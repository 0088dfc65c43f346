# SPDX-License-Identifier: Apache-2.0
"""Console for tables: rich's, with foreign text never interpreted as markup."""

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from tare.commands.terminal import own
from tare.foreign import visible


class PlainConsole(Console):
    """Shows control characters; colours come from Tare's styles, never from a text."""

    def __init__(self) -> None:
        """Print to the current standard output."""
        super().__init__(file=own(sys.stdout), highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render every piece of text, before lines are cut to the terminal's width."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
