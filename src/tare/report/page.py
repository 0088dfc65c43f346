# SPDX-License-Identifier: Apache-2.0
"""The page's templates, how values look in them, and the section that a topic adds."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from tare.drawing import words
from tare.foreign import visible
from tare.records import Estimate
from tare.report.arrange import place

if TYPE_CHECKING:
    from jinja2 import Environment

_COMMAND = re.compile("`(tare [^`]*)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """What a topic adds to the page; without ``text`` it is not in the navigation either."""

    anchor: str
    label: str
    """In the navigation; nothing there where it is empty."""
    text: Markup


MISSING = PageSection(anchor="", label="", text=Markup())
"""In the place of a topic of which there is nothing to show."""


def section(anchor: str, label: str, **values: Any) -> PageSection:
    """Set ``values`` in the template that is called like the anchor."""
    return PageSection(anchor=anchor, label=label, text=Markup(rendered(anchor, **values)))  # noqa: S704 - escaped by Jinja


def rendered(template: str, **values: Any) -> str:
    """Give the HTML text; everything that came from a campaign, a host or a program is escaped in it."""
    return templates().get_template(f"{template}.html.j2").render(values)


@cache
def templates(package: str = "tare.report") -> "Environment":
    """Templates of a package, which may use those of the report; all values that they print are escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - heavy, needed by pages alone

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, "tare.report"))]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "estimate": words.point_percent,
        "interval": words.interval_percent,
        "least_level": words.least_level,
        "share": words.share_percent,
        "unsigned": lambda estimate: words.point_percent(estimate).removeprefix("+"),
        "counted": words.counted,
        "command": _command,
        "picture": Markup,
    }
    environment.globals |= {
        "quantity": _quantity,
        "quantity_interval": words.quantity_interval,
        "mark": words.MARK,
        "place": place,
        "blocks_said": _blocks_said,
    }
    return environment


def _command(words_of_it: str) -> Markup:
    """A command line, broken only between its words: an option cut at its hyphens would be another one."""
    whole = (Markup('<span class="whole">{}</span>').format(visible(word)) for word in words_of_it.split(" "))
    return Markup(" ").join(whole)


def _blocks_said(blocks: Iterable[int]) -> str:
    """Each block once: native has two trials in it."""
    each = list(dict.fromkeys(blocks))
    return f"block{'s' if len(each) > 1 else ''} {', '.join(map(str, each))}"


def _quantity(value: float, unit: str) -> str:
    return words.quantity(value, unit).replace(" ", "\N{NO-BREAK SPACE}")


def _prose(text: str) -> Markup:
    """A sentence that names a command of Tare between backticks, as in a terminal: here it has a command's face."""
    return Markup(_COMMAND.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped just here


def _shown(value: Any) -> Any:
    """Prepare each value that a template prints: foreign text made harmless, a missing value shown as missing."""
    if value is None:
        return words.NO_VALUE
    if isinstance(value, Estimate):
        raise TypeError("an estimate needs a filter that prints it with its unit")
    if isinstance(value, str) and not isinstance(value, Markup):
        return _prose(words.unbreakable(visible(value)))
    return value
