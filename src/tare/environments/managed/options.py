# SPDX-License-Identifier: Apache-2.0
"""The options that all such environments have: how to reach a machine's own system, and which limits to enforce."""

from collections.abc import Mapping

from tare.environments.ssh import connection
from tare.records import OptionValue

_SSH = {name: text for name, text in connection.OPTION_NAMES.items() if name not in {"host", "job"}}
INSIDE_OPTIONS: Mapping[str, str] = {
    "host": "how ssh reaches the machine's system: user@host, or a list, node by node; else root at its address",
    **_SSH,
    "boot_limit": "seconds within which its system answers ssh",
    "system_memory": "MiB of the machine's memory for its own system, beside the node's",
    "pinned": "false: accept that the hypervisor chooses the processors, where it cannot keep to a set of them",
}
"""Option → what it does."""
DEFAULT_BOOT_LIMIT_S = 180
DEFAULT_SYSTEM_MEMORY_MEBIBYTE = 512
_MEBIBYTE = 1 << 20
_PLACEHOLDER = "machine"


def inside_complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with it, among ``INSIDE_OPTIONS``."""
    complaints = connection.complaints(far_options(options, _PLACEHOLDER))
    for name, least in (("boot_limit", 1), ("system_memory", 64)):
        value = options.get(name, least)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            complaints[name] = f"must be a whole number, {least} or more, but is {value!r}"
    if not isinstance(pinned := options.get("pinned", True), bool):
        complaints["pinned"] = f"must be true or false, but is {pinned!r}"
    return complaints


def far_options(options: Mapping[str, OptionValue], address: str | None) -> dict[str, OptionValue]:
    """The options of the ``ssh`` environment for a machine at this address, used when no host is set."""
    given = {name: value for name, value in options.items() if name in connection.OPTION_NAMES}
    return given if address is None or "host" in given else {"host": f"root@{address}", **given}


def one_of(value: OptionValue, index: int) -> str:
    """The text, or the entry of a list for node number ``index``: nodes take turns.

    >>> one_of(["a", "b"], 2)
    'a'
    """
    return value[index % len(value)] if isinstance(value, list) else str(value)


def boot_limit_s(options: Mapping[str, OptionValue]) -> float:
    return float(str(options.get("boot_limit", DEFAULT_BOOT_LIMIT_S)))


def is_pinned(options: Mapping[str, OptionValue]) -> bool:
    """Whether the machine must be pinned to the node's processors."""
    return options.get("pinned") is not False


def machine_memory_byte(options: Mapping[str, OptionValue], memory_byte: int) -> int:
    """The whole machine's memory for a node with this limit; whole MiB, as hypervisors count."""
    system = int(str(options.get("system_memory", DEFAULT_SYSTEM_MEMORY_MEBIBYTE)))
    return (-(-memory_byte // _MEBIBYTE) + system) * _MEBIBYTE
