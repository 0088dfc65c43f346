# SPDX-License-Identifier: Apache-2.0
"""xl(1) as argv, and what it prints as values."""

import re

from tare.errors import NodeError
from tare.host import process
from tare.host.cgroups import Settings, parse_processors
from tare.host.told import number
from tare.untrusted import figure

_LIMIT_S = 60.0
_CREATE_LIMIT_S = 180.0
_MEBIBYTE = 1 << 20
_MISSING = ("Can't get domid", "is an invalid domain identifier")
_CAPPED = ("credit", "credit2")


def run(*words: str, limit_s: float = _LIMIT_S) -> process.Completed:
    """Run to the end, whatever its exit code."""
    return process.run(["xl", *words], timeout_s=limit_s)


def ask(*words: str, limit_s: float = _LIMIT_S) -> str:
    """Its output; ``NodeError`` with its complaint."""
    done = run(*words, limit_s=limit_s)
    if done.code != 0:
        raise NodeError(f"xl {words[0]} failed: {done.last_words}")
    return done.stdout


def create(configuration: str, *settings: str) -> None:
    """Start a domain; ``settings`` override the file's."""
    ask("create", "-q", configuration, *settings, limit_s=_CREATE_LIMIT_S)


def exists(domain: str) -> bool:
    """Whether there is such a domain, in any state: xl forgets domains that are off."""
    done = run("domid", domain)
    if done.code != 0 and any(words in done.stderr for words in _MISSING):
        return False
    if done.code != 0:
        raise NodeError(f"xl domid failed: {done.last_words}")
    return True


def destroy(domain: str) -> None:
    """End it at once; harmless if there is none."""
    if exists(domain):
        ask("destroy", domain)


def holds(domain: str) -> Settings:
    """The limits that the hypervisor enforces."""
    memory_mebibyte, _ = parse_list(ask("list", domain))
    scheduler = parse_info(ask("info")).get("xen_scheduler", "")
    capped = scheduler in _CAPPED
    return Settings(
        processors=parse_affinity(ask("vcpu-list", domain)),
        memory_byte=memory_mebibyte * _MEBIBYTE,
        cpu_quota=parse_cap(ask(f"sched-{scheduler}", "-d", domain)) if capped else None,
    )


def cpu_s(domain: str) -> float:
    """CPU time of its processors so far, in tenths of seconds."""
    return parse_list(ask("list", domain))[1]


def parse_list(text: str) -> tuple[int, float]:
    """Memory in MiB and CPU time in s of the one domain of ``xl list NAME``; ``NodeError`` for anything else."""
    matches = re.findall(r"^\S+\s+\d+\s+(\d+)\s+\d+\s+[a-z-]+\s+([0-9.]+)$", text, re.MULTILINE)
    if len(matches) != 1:
        raise NodeError(f"xl list printed no domain: {text[:200]!r}")
    return number(matches[0][0], "xl list"), _figure(matches[0][1])


def _figure(text: str) -> float:
    try:
        return figure(text)
    except ValueError as error:
        raise NodeError(f"what xl list prints is not understood: {error}") from None


def parse_affinity(text: str) -> tuple[int, ...] | None:
    """From ``xl vcpu-list NAME``: all processors that the hard affinities allow; ``None`` if one allows all."""
    matches = re.findall(
        r"^\S+\s+\d+\s+\d+\s+(?:\d+|-)\s+[a-z-]+\s+[0-9.]+\s+(\S+) / \S+$", text, re.MULTILINE
    )
    if not matches:
        raise NodeError(f"xl vcpu-list printed no processor: {text[:200]!r}")
    if "all" in matches:
        return None
    try:
        return tuple(sorted({processor for entry in matches for processor in parse_processors(entry)}))
    except ValueError as error:
        raise NodeError(f"what xl vcpu-list prints is not understood: {error}", text[:200]) from None


def parse_cap(text: str) -> float | None:
    """From ``xl sched-credit -d NAME``, in processors' worth; 0 is no cap."""
    matches = re.findall(r"^\S+\s+\d+\s+\d+\s+(\d+)$", text, re.MULTILINE)
    if len(matches) != 1:
        raise NodeError(f"xl sched-credit printed no domain: {text[:200]!r}")
    return number(matches[0], "xl sched-credit") / 100 or None


def parse_info(text: str) -> dict[str, str]:
    r"""From ``xl info``: label and value.

    >>> parse_info("xen_version            : 4.17.3\n")["xen_version"]
    '4.17.3'
    """
    lines = (line.partition(":") for line in text.splitlines())
    return {label.strip(): value.strip() for label, _, value in lines}
