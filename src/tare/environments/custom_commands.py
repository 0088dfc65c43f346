# SPDX-License-Identifier: Apache-2.0
"""The commands of a ``custom`` environment: their allowed content, and their words for one node."""

import string
from collections.abc import Collection, Mapping, Sequence

from tare.errors import NodeError
from tare.host import cgroups
from tare.nodes.provider import NodeSpec
from tare.records import OptionValue
from tare.units import MEBIBYTE

PAGE = "docs/custom-environment.md"
OPTION_NAMES: Mapping[str, str] = {
    "start": "command that brings a node up",
    "enter": "what to put before a command so that it runs in the node",
    "stop": "command that takes the node down",
    "probe": "command that ends with 0 when the technology works here",
    "prepare": "command that makes the image known, once before a campaign",
    "init_pid": "command that prints the process id, on the host, of the node's first process",
    "is_running": "command that ends with 0 while the node is there",
    "foreground": "whether the start command stays for as long as the node",
    "ready": "what a start command that stays prints when the node is up",
    "control_group": "whether Tare limits the node, by a control group of its own",
    "system": "whether Tare mounts /proc, /sys and /dev in the node's root",
}
_NODE = frozenset(
    {
        *("name", "root", "image", "image_digest", "work", "directory", "processors", "processor_count"),
        *("memory_byte", "memory_mebibyte", "shm_byte", "cpu_quota", "processes", "network_namespace"),
        "address",
    }
)
_PLACEHOLDERS: Mapping[str, frozenset[str]] = {
    "probe": frozenset(),
    "prepare": frozenset({"image", "image_digest"}),
    "start": _NODE,
    "enter": _NODE | {"init_pid"},
    "stop": _NODE,
    "init_pid": _NODE,
    "is_running": _NODE,
}
"""Command → the placeholders that it may contain."""
_SWITCHES = ("foreground", "control_group", "system")


def complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with its value, or that it is missing."""
    required = ["start", "enter"] if options.get("foreground") else ["start", "enter", "stop"]
    missing = [name for name in required if name not in options]
    problems = dict.fromkeys(missing, f"is missing; give a command as a list of words, see {PAGE}")
    for name, value in options.items():
        if words := _complaint(name, value):
            problems[name] = words
    if "ready" in options and not options.get("foreground"):
        problems["ready"] = "is only for a start command that stays: foreground = true"
    return problems


def _complaint(name: str, value: OptionValue) -> str | None:
    if name in _SWITCHES:
        return None if isinstance(value, bool) else f"must be true or false, but is {value!r}"
    if name == "ready":
        return None if isinstance(value, str) and value else f"must be a text, but is {value!r}"
    if not isinstance(value, list) or not value or not value[0]:
        return f"must be a list of words, the program first, but is {value!r}"
    return complaint(value, _PLACEHOLDERS[name])


def words(options: Mapping[str, OptionValue], name: str) -> list[str]:
    """The command as written; empty without one."""
    value = options.get(name)
    return value if isinstance(value, list) else []


def for_image(options: Mapping[str, OptionValue], name: str, image_root: str, image_digest: str) -> list[str]:
    return fill(words(options, name), {"image": image_root, "image_digest": image_digest})


def for_node(spec: NodeSpec, name: str, init_pid: int | None = None) -> list[str]:
    """The command for this node; empty without one. ``NodeError`` if it needs a process id that is not known."""
    argv = words(spec.options, name)
    if init_pid is None and mentions(argv, "init_pid"):
        raise NodeError(
            f"{name}: {{init_pid}} is known only with an init_pid command or control_group = true, "
            "while the node's first process lives"
        )
    return fill(argv, {**_values(spec), "init_pid": str(init_pid)})


def joins_network(spec: NodeSpec) -> bool:
    """Whether the start command mentions the node's network."""
    return mentions(words(spec.options, "start"), "network_namespace")


def _values(spec: NodeSpec) -> dict[str, str | None]:
    return {
        "name": spec.name,
        "root": str(spec.directory / "root"),
        "image": str(spec.image_root),
        "image_digest": spec.image_digest,
        "work": str(spec.work),
        "directory": str(spec.directory),
        "processors": cgroups.format_processors(spec.processors),
        "processor_count": str(len(spec.processors)),
        "memory_byte": str(spec.memory_byte),
        "memory_mebibyte": str(spec.memory_byte // MEBIBYTE),
        "shm_byte": str(spec.shm_byte),
        "cpu_quota": None if spec.cpu_quota is None else f"{spec.cpu_quota:g}",
        "processes": None if spec.bounds.processes is None else str(spec.bounds.processes),
        "network_namespace": None if spec.network.namespace is None else str(spec.network.namespace),
        "address": spec.network.address,
    }


def complaint(argv: Sequence[str], known: Collection[str]) -> str | None:
    """What is wrong with the placeholders of ``argv``; ``None`` when all are among ``known``."""
    for word in argv:
        try:
            names = [name for _, name in _parts(word) if name is not None]
        except ValueError as error:
            return f"{word!r}: {error}; write {{{{ and }}}} for braces that are no placeholder's"
        for name in names:
            if name not in known:
                return f"unknown placeholder {name!r} in {word!r}; known: {', '.join(sorted(known))}"
    return None


def fill(argv: Sequence[str], values: Mapping[str, str | None]) -> list[str]:
    """Fill in each word separately; a word with a placeholder without a value (``None``) is left out.

    ``KeyError`` for a placeholder that ``complaint`` would have named.
    """
    filled = []
    for word in argv:
        parts = [(literal, "" if name is None else values[name]) for literal, name in _parts(word)]
        if all(value is not None for _, value in parts):
            filled.append("".join(f"{literal}{value}" for literal, value in parts))
    return filled


def mentions(argv: Sequence[str], name: str) -> bool:
    return any(placeholder == name for word in argv for _, placeholder in _parts(word))


def _parts(word: str) -> list[tuple[str, str | None]]:
    """Literal text, and the placeholder after it if any; ``ValueError`` for unbalanced braces."""
    parts = []
    for literal, name, form, conversion in string.Formatter().parse(word):
        if form or conversion:
            raise ValueError("a placeholder is a name in braces and nothing else")
        parts.append((literal, name))
    return parts
