# SPDX-License-Identifier: Apache-2.0
"""Foreign text made safe to show: nothing in it moves a cursor, hides, reverses direction or fills a screen."""

import unicodedata

LONGEST = 500
"""Characters of a name or a sentence in one line; longer text loses its middle."""
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_LINE_ENDS = ("Zl", "Zp")
"""Unicode's separators of lines and paragraphs, which some terminals obey."""


class _Shown(dict[int, str]):
    """Character → its visible form, computed once for each; for ``str.translate``."""

    def __missing__(self, code: int) -> str:
        shown = self[code] = _shown(chr(code))
        return shown


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\n\t" or (category[0] != "C" and category not in _LINE_ENDS):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


_SHOWN = _Shown()


def visible(text: str) -> str:
    r"""Show each control character as its escape, such as ``\x1b``; line ends and tabs stay as they are.

    The same applies to invisible formatting characters (including marks that change the writing direction), half
    surrogate pairs, and Unicode's own line ends.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_SHOWN)


def shortened(text: str, most: int = LONGEST) -> str:
    """``text``, without its middle if it has more than ``most`` characters."""
    if len(text) <= most:
        return text
    kept = most - len(_ELLIPSIS)
    return f"{text[: kept - kept // 2]}{_ELLIPSIS}{text[len(text) - kept // 2 :]}"


def one_line(text: str, most: int = LONGEST) -> str:
    """Make it visible, without line ends and runs of spaces, and short enough to read."""
    return shortened(" ".join(visible(shortened(text, 2 * most)).split()), most)
