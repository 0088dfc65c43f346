# SPDX-License-Identifier: Apache-2.0
"""A copy of a result folder, byte for byte or with placeholders for names; what derives from it is not copied.

A line with a placeholder is another line, so a journal with one is sealed anew, line by line (tare.journal.lines).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tare.errors import InputError, JournalError
from tare.journal.calls import CALLS_FILE
from tare.journal.lines import body_of, first_link, kind_of, read_record, seal
from tare.journal.one_file import OneFile
from tare.journal.reader import campaign_digest
from tare.journal.result import CAMPAIGN_FILE, EXPLANATIONS, ResultFolder, journal_files
from tare.publication.archive import json_bytes
from tare.publication.names import Names, is_system_user, own_hosts, own_users
from tare.records import Analysis, Outcome, Seen, Session

Files = dict[str, bytes]
"""Name in the folder, with slashes → content."""
_DOCUMENTED = "192.0.2.0/24"
"""A range that belongs to nobody (RFC 5737)."""


def names_in(analysis: Analysis, campaign: Mapping[str, Any]) -> Names:
    """The names of hosts and users that a result's records hold, with this host's and this user's own."""
    hosts, users = own_hosts(), own_users()
    for host in campaign.get("hosts", []):
        address = host.get("address") or ""
        user, _, where = address.rpartition("@")
        hosts |= {host["name"], where.partition(":")[0]}
        users |= {user}
    for session in analysis.sessions:
        hosts |= {*session.hosts, *session.carried}
        hosts |= {facts["Slurm node"] for facts in session.hosts.values() if "Slurm node" in facts}
        users |= _users([session.load])
    for outcome in analysis.outcomes:
        hosts |= {*outcome.machines, *outcome.trial.hosts}
        users |= _users([outcome.load])
    users = {name for name in users if name and not is_system_user(name)}
    folders = (bind.partition(":")[0] for bind in campaign.get("binds", []))
    return Names(hosts - {""}, users, _own_words(analysis), folders)


def _users(loads: Iterable[Any]) -> set[str]:
    return {program.user for load in loads if load for program in load.others if program.user}


def _own_words(analysis: Analysis) -> set[str]:
    """What the result itself is about."""
    trials = [outcome.trial for outcome in analysis.outcomes]
    words = {analysis.campaign, *(verdict.overhead.summary.metric for verdict in analysis.verdicts)}
    words |= {word for each in trials for word in (each.workload.name, each.workload.kind)}
    return words | {word for each in trials for word in (each.environment.name, each.environment.technology)}


def copied(folder: ResultFolder, names: Names | None) -> Files:
    """The files of a result; with ``names`` nothing in them names a host, a user or a folder of theirs.

    ``InputError`` where a record cannot have a placeholder.
    """
    plain = {name: path.read_bytes() for name, path in _sources(folder)}
    if names is None:
        return plain
    changed = {
        f"{prefix}{name}": content
        for prefix, each in _folders(folder)
        for name, content in _anonymous(each, names).items()
    }
    for name in (folder.calibration.name, f"{EXPLANATIONS}/{CALLS_FILE}"):
        if name in plain:
            changed[name] = json_bytes(names.value(json.loads(plain[name])))
    return changed if names.hidden else plain


def _folders(folder: ResultFolder) -> Iterator[tuple[str, ResultFolder]]:
    yield "", folder
    for child in folder.explanations():
        yield f"{EXPLANATIONS}/{child.path.name}/", child


def _sources(folder: ResultFolder) -> Iterator[tuple[str, Path]]:
    for prefix, each in _folders(folder):
        yield f"{prefix}{CAMPAIGN_FILE}", each.path / CAMPAIGN_FILE
        yield from ((f"{prefix}journal/{path.name}", path) for path in journal_files(each.journal))
    for path in (folder.calibration, folder.explanation / CALLS_FILE):
        if path.is_file() and not path.is_symlink():  # a link may lead to anything of the user's
            yield str(path.relative_to(folder.path)), path


def _anonymous(folder: ResultFolder, names: Names) -> Files:
    campaign = names.value(without_ways_in(json.loads(folder.read_campaign())))
    files = {CAMPAIGN_FILE: json_bytes(campaign)}
    digests = {campaign_digest(folder.path): f"sha256:{hashlib.sha256(files[CAMPAIGN_FILE]).hexdigest()}"}
    seen: dict[str, Seen] = {}
    for path in journal_files(folder.journal):
        files[f"journal/{path.name}"], seen[path.name] = _resealed(path, names, digests, seen)
    return files


def without_ways_in(campaign: dict[str, Any]) -> dict[str, Any]:
    """The campaign without what only opens its hosts: options of ssh, and its network's own range."""
    hosts = [{**host, "ssh_options": [], "address": _host_alone(host)} for host in campaign.get("hosts", [])]
    subnet = _DOCUMENTED if campaign.get("subnet") else campaign.get("subnet")
    return {**campaign, "hosts": hosts, "subnet": subnet}


def _host_alone(host: Mapping[str, Any]) -> str | None:
    address = host.get("address")
    return address.rpartition("@")[2] if isinstance(address, str) else None


def _resealed(
    path: Path, names: Names, digests: Mapping[str | None, str], seen: Mapping[str, Seen]
) -> tuple[bytes, Seen]:
    """A file's intact records with placeholders, and its extent for later files."""
    lines, link, file = [], first_link(path.name), OneFile(path)
    for record in file.records():
        changed = _with_placeholders(record, names, str(path))
        if isinstance(changed, Session):
            changed = _joined(changed, digests, seen)
        line, link = seal(changed, link)
        lines.append(line)
    if file.ended:
        line, link = seal(None, link)
        lines.append(line)
    return b"".join(lines), Seen(lines=link.number, crc=f"{link.crc:08x}")


def _joined(session: Session, digests: Mapping[str | None, str], seen: Mapping[str, Seen]) -> Session:
    """The session with what it knew of the campaign and of other files, as they are now."""
    return replace(
        session,
        campaign_digest=digests.get(session.campaign_digest, session.campaign_digest),
        earlier={name: seen[name] for name in session.earlier if name in seen},
    )


def _with_placeholders(record: Session | Outcome, names: Names, where: str) -> Session | Outcome:
    """Samples, the bulk of a record, name metrics alone."""
    body = json.loads(body_of(record))
    samples = body.pop("samples", None)
    body = names.value(body)
    if samples is not None:
        body["samples"] = samples
    try:
        line = b'{"record":%s}' % json.dumps(body, ensure_ascii=False).encode()
        return read_record(kind_of(record), line, where)
    except JournalError as error:
        raise InputError(
            f"{where}: a name in it cannot be replaced ({error}); publish it with --named"
        ) from error
