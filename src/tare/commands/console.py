# SPDX-License-Identifier: Apache-2.0
"""What prints tables: rich's console, in which the text of others is text alone."""

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from tare.commands.terminal import own
from tare.foreign import visible


class PlainConsole(Console):
    """Shows control characters; colours come from the styles that Tare gives, never from a text."""

    def __init__(self) -> None:
        """To standard output, as it is now."""
        super().__init__(file=own(sys.stdout), highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Every piece of a text comes through here, before lines are cut to the terminal's width."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
