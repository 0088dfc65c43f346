# SPDX-License-Identifier: Apache-2.0
"""Which modules a module needs, in load order, from the files of depmod(8), read once per guest.

A guest's first process only loads files; it has no modprobe(8). So this follows what modprobe would: the modules in
modules.dep, and before them what modules.softdep asks for, such as a checksum that a file system requests by name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from tare.errors import NodeError

_GENERIC = "_generic"
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class ModuleIndex:
    """The files that depmod wrote into ``folder``."""

    folder: Path

    @cached_property
    def files(self) -> dict[str, tuple[str, list[str]]]:
        """Module → its file below ``folder``, and the names of the modules it needs, in load order."""
        files = {}
        for line in self._lines("modules.dep"):
            path, _, needed = line.partition(":")
            files[module_name(path)] = (path, [module_name(word) for word in reversed(needed.split())])
        return files

    @cached_property
    def built_in(self) -> frozenset[str]:
        return frozenset(map(module_name, self._lines("modules.builtin")))

    @cached_property
    def wanted_before(self) -> dict[str, list[str]]:
        """Module → what modules.softdep wants loaded before it, if available: names or aliases."""
        wanted: dict[str, list[str]] = {}
        for words in map(str.split, self._lines("modules.softdep")):
            if words[:1] == ["softdep"] and "pre:" in words:
                first = words.index("pre:") + 1
                last = words.index("post:", first) if "post:" in words[first:] else len(words)
                wanted.setdefault(_normal(words[1]), []).extend(words[first:last])
        return wanted

    @cached_property
    def aliases(self) -> list[tuple[str, str]]:
        """Pattern and module of each line of modules.alias."""
        lines = (line.split() for line in self._lines("modules.alias"))
        return [(words[1], _normal(words[2])) for words in lines if len(words) == 3 and words[0] == "alias"]  # noqa: PLR2004

    def has(self, name: str) -> bool:
        return _normal(name) in self.built_in or _normal(name) in self.files

    def load_order(self, names: Sequence[str]) -> list[str]:
        """The files below ``folder``; ``KeyError`` names a module that is neither there nor built in."""
        placed: dict[str, str] = {}
        for name in names:
            for each in self._before(_normal(name), frozenset()):
                if each not in placed:
                    placed[each] = self.files[each][0]
        return list(placed.values())

    def _before(self, name: str, waiting: frozenset[str]) -> Iterator[str]:
        """This module, preceded by all that it needs."""
        if name in self.built_in or name in waiting:
            return
        _, needed = self.files[name]
        soft = (text for wanted in self.wanted_before.get(name, []) for text in self._provider(wanted))
        for other in (*soft, *needed):
            yield from self._before(other, waiting | {name})
        yield name

    def _provider(self, wanted: str) -> list[str]:
        """The module of a name or an alias; empty when it is built in or missing, as in modprobe.

        Of several, the module for every processor: the others refuse to load where the processor lacks something.
        """
        if self.has(wanted):
            return [_normal(wanted)]
        modules = [module for pattern, module in self.aliases if _fits(wanted, pattern) and self.has(module)]
        return sorted(modules, key=lambda module: not module.endswith(_GENERIC))[:1]

    def _lines(self, name: str) -> list[str]:
        try:
            return [line for line in (self.folder / name).read_text().splitlines() if line[:1] != "#"]
        except FileNotFoundError:
            if name == "modules.dep":
                raise NodeError(f"{self.folder} holds no modules.dep; make it with depmod(8)") from None
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise NodeError(f"{self.folder / name} cannot be read: {error}") from error


def module_name(path: str) -> str:
    """The name of the module in a file such as ``kernel/drivers/block/virtio_blk.ko.xz``."""
    return _normal(path.rpartition("/")[2].partition(".ko")[0])


def _fits(name: str, pattern: str) -> bool:
    """fnmatch(3), called only where the beginning matches: a kernel has ten thousand device patterns."""
    beginning = _WILD.split(pattern, maxsplit=1)[0]
    return name == pattern or (
        beginning != pattern and name.startswith(beginning) and fnmatchcase(name, pattern)
    )


def _normal(name: str) -> str:
    """Both spellings name one module (modprobe(8))."""
    return name.replace("-", "_")
