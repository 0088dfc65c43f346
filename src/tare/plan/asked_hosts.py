# SPDX-License-Identifier: Apache-2.0
"""The hosts that a command line names for any campaign: ``--hosts`` (docs/hosts.md)."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tare.errors import InputError
from tare.nodes.provider import Provider
from tare.plan.hosts import hosts_of
from tare.plan.problems import Problem, failure, key_text
from tare.plan.source import CampaignSource, read_source

_OF_HOSTS = ("host", "subnet")
_REPLACED = (*_OF_HOSTS, "hosts")
_HERE = "here"
"""The word for the host on which Tare runs, as reports call it."""


def with_hosts(source: CampaignSource, asked: str, providers: Mapping[str, Provider]) -> CampaignSource:
    """The campaign on these hosts, in place of its own: addresses, with commas between them, or a file of ``[[host]]``.

    ``InputError`` for an address that cannot be one, ``CampaignError`` for what is wrong in the file.
    """
    is_file = "/" in asked or asked.endswith(".toml")
    tables = _from_file(asked, providers) if is_file else _from_words(asked, providers)
    kept = {key: value for key, value in source.data.items() if key not in _REPLACED}
    lines = {path: line for path, line in source.lines.items() if not {*_REPLACED}.intersection(path[:1])}
    return replace(source, data={**kept, **tables}, lines=lines)


def _from_words(asked: str, providers: Mapping[str, Provider]) -> dict[str, Any]:
    problems: list[Problem] = []
    words = [word.strip() for word in asked.split(",")]
    tables = {"host": [{} if word == _HERE else {"address": word} for word in words]}
    hosts_of(tables, providers, problems)
    if problems:
        raise InputError(f"--hosts: {'; '.join(f'{key_text(each.path)}: {each.text}' for each in problems)}")
    return tables


def _from_file(asked: str, providers: Mapping[str, Provider]) -> dict[str, Any]:
    file = read_source(Path(asked), asked)
    problems = [
        Problem((key,), "is not of hosts; a file for --hosts has [[host]] tables, and subnet if need be")
        for key in file.data
        if key not in _OF_HOSTS
    ]
    if not hosts_of(file.data, providers, problems) and not problems:
        problems.append(Problem((), "names no host; write [[host]] tables as docs/hosts.md shows"))
    if problems:
        raise failure(file.label, problems, file.lines)
    return file.data
