# SPDX-License-Identifier: Apache-2.0
"""The option ``arguments`` of Docker and Podman: more words for their ``run``, as people run it.

They come after Tare's own, so that the last value wins. Sources: docker-run(1), podman-run(1).
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from tare.nodes.provider import Chosen
from tare.records import OptionValue

OPTION = "arguments"
HELP = "further flags for the engine's run, as a shell would split them"
QUOTA = frozenset({"--cpus", "--cpu-quota", "--cpu-period"})
SHARES = "--cpu-shares"
PROCESSES = "--pids-limit"
SHM = "--shm-size"
SECURITY = "--security-opt"
CAPABILITY = "--cap-add"
PRIVILEGED = "--privileged"
MEMORY_NODES = "--cpuset-mems"
CPU_WEIGHT = "CPU weight"

_SHORT: Mapping[str, str] = {
    "a": "--attach",
    "c": SHARES,
    "d": "--detach",
    "e": "--env",
    "h": "--hostname",
    "i": "--interactive",
    "l": "--label",
    "m": "--memory",
    "p": "--publish",
    "P": "--publish-all",
    "q": "--quiet",
    "t": "--tty",
    "u": "--user",
    "v": "--volume",
    "w": "--workdir",
}
_SWITCHES = """
detach disable-content-trust env-host help http-proxy init interactive no-healthcheck no-hosts oom-kill-disable passwd
privileged publish-all quiet read-only read-only-tmpfs replace rm rmi rootfs sig-proxy tls-verify tty unsetenv-all
"""
_WITHOUT_VALUE = frozenset(f"--{name}" for name in _SWITCHES.split())
"""The next word may be the value of any other flag."""
_REFUSED: Mapping[str, str] = {
    "Tare names, finds and ends the container by it: leave it out": (
        "attach cgroup-conf cgroup-parent cgroups cidfile conmon-pidfile detach detach-keys help interactive label "
        "label-file name pid pidfile pod pod-id-file replace restart rm rmi sig-proxy systemd timeout tty"
    ),
    "the container's first process is Tare's, from Tare's image: leave it out": (
        "entrypoint init init-path platform pull rootfs"
    ),
    "a node begins as root: leave it out": "gidmap subgidname subuidname uidmap user userns",
    "measured commands do not see it: let the command set its variables": (
        "env env-file env-host env-merge http-proxy unsetenv unsetenv-all"
    ),
    "write network = ... in the environment's table": (
        "hostname ip ip6 link mac-address net network network-alias publish publish-all uts"
    ),
    "processors are given by the layout, such as 1c2p1i": "cpuset-cpus",
    "write memory = ... under [limits], the same for all arms": "memory memory-swap",
    "write --shm-size, or shm = ... under [limits]": "ipc",
    "write binds = [...] in the campaign, the same for all arms": "mount volume volumes-from",
    "write runtime = ... in docker's table": "runtime",
}
"""What to do instead → the flags that would break Tare's hold on the node."""
_INSTEAD = {f"--{name}": instead for instead, names in _REFUSED.items() for name in names.split()}
_LABELS: Mapping[str, str] = {
    SHARES: CPU_WEIGHT,
    "--blkio-weight": "I/O weight",
    "--device-read-bps": "I/O limits",
    "--device-read-iops": "I/O limits",
    "--device-write-bps": "I/O limits",
    "--device-write-iops": "I/O limits",
    "--oom-score-adj": "OOM score adjustment",
}
"""Flag → what it sets that must otherwise match native (``Parity.host``)."""
_IN_PROCESS = {"--oom-score-adj"}
_ULIMIT = "--ulimit"
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kmgtp]?)i?b?", re.IGNORECASE)
"""The format of sizes in both engines: all units are powers of 1024."""
_PERIOD_US = 100_000


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag with its value, and its original words."""

    name: str
    """Its long form."""
    value: str | None
    words: tuple[str, ...]


def flags(options: Mapping[str, OptionValue]) -> list[Flag]:
    """The flags in the option; ``ValueError`` says which part is not a flag, or cannot be split."""
    text = options.get(OPTION, "")
    if not isinstance(text, str):
        raise ValueError(f"must be text, such as {'--cpu-shares 64'!r}, but is {text!r}")  # noqa: TRY004 - told to the user
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"cannot be split as a shell would: {error}") from error
    read: list[Flag] = []
    while words:
        read.append(_flag(words))
        del words[: len(read[-1].words)]
    return read


def _flag(words: list[str]) -> Flag:
    """The first word, with the next one if that is its value."""
    first = words[0]
    if not re.match(r"--?[A-Za-z]", first):
        raise ValueError(f"holds {first!r}, which is no flag: image and command are Tare's")
    if first.startswith("--"):
        name, separator, value = first.partition("=")
    else:
        name, value = _SHORT.get(first[1], first[:2]), first[2:].removeprefix("=")
        separator = value
    if separator or name in _WITHOUT_VALUE:
        return Flag(name, value or None, (first,))
    if len(words) == 1 or words[1].startswith("--"):
        raise ValueError(f"holds {first} without a value: write {first}=VALUE")
    return Flag(name, words[1], (first, words[1]))


def check(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """What is wrong with the option, as for ``Provider.check_options``."""
    try:
        own = flags(options)
        _shm_byte(own)
        _cpu_quota(own)
        _processes(own)
    except ValueError as error:
        return {OPTION: str(error)}
    refused = next((flag for flag in own if flag.name in _INSTEAD), None)
    if refused is not None:
        return {OPTION: f"cannot hold {refused.words[0]}: {_INSTEAD[refused.name]}"}
    return {}


def words(options: Mapping[str, OptionValue]) -> list[str]:
    """The words for the engine's ``run``, after Tare's own."""
    return [word for flag in flags(options) for word in flag.words]


def chosen(options: Mapping[str, OptionValue]) -> Chosen:
    """What they set that is otherwise Tare's choice or must be equal; invalid options set nothing."""
    if check(options):
        return Chosen()
    own = flags(options)
    labels = {_LABELS[flag.name] for flag in own if flag.name in _LABELS}
    return Chosen(
        labels=frozenset(labels | {f"limit of {name}" for name in resource_limits(options)}),
        shm_byte=_shm_byte(own),
        sets_quota=any(flag.name in QUOTA for flag in own),
        cpu_quota=_cpu_quota(own),
        sets_processes=any(flag.name == PROCESSES for flag in own),
        processes=_processes(own),
    )


def resource_limits(options: Mapping[str, OptionValue]) -> set[str]:
    """The names of the limits (getrlimit(2)) that they set."""
    return {(flag.value or "").partition("=")[0] for flag in flags(options) if flag.name == _ULIMIT}


def held_by_group(options: Mapping[str, OptionValue]) -> list[str]:
    """The flags that only a control group can enforce."""
    grouped = (_LABELS.keys() - _IN_PROCESS) | QUOTA | {MEMORY_NODES, PROCESSES}
    return [flag.name for flag in flags(options) if flag.name in grouped]


def without(options: Mapping[str, OptionValue], *dropped: Flag) -> str | None:
    """The text without these flags; ``None`` when nothing is left."""
    left = [word for flag in flags(options) if flag not in dropped for word in flag.words]
    return shlex.join(left) or None


def _last(own: list[Flag], name: str) -> str | None:
    return next((flag.value for flag in reversed(own) if flag.name == name), None)


def _number(own: list[Flag], name: str) -> float:
    text = _last(own, name)
    try:
        return float(text or 0)
    except ValueError:
        raise ValueError(f"holds {name} {text}, which is no number") from None


def _cpu_quota(own: list[Flag]) -> float | None:
    cpus, quota_us, period_us = (_number(own, name) for name in ("--cpus", "--cpu-quota", "--cpu-period"))
    if period_us and not quota_us:
        raise ValueError("holds --cpu-period without --cpu-quota: write both, or --cpus")
    if cpus > 0:
        return cpus
    return quota_us / (period_us or _PERIOD_US) if quota_us > 0 else None


def _processes(own: list[Flag]) -> int | None:
    """The limit on processes; as in both engines, 0 and less mean none."""
    most = _number(own, PROCESSES)
    return int(most) if most > 0 else None


def _shm_byte(own: list[Flag]) -> int | None:
    text = _last(own, SHM)
    if text is None:
        return None
    size = _SIZE.fullmatch(text)
    if size is None or not float(size[1]):
        raise ValueError(f"holds {SHM} {text}, which is no size such as 64m")
    return int(float(size[1]) * 1024 ** " kmgtp".index(size[2].lower() or " "))
