# SPDX-License-Identifier: Apache-2.0
"""The options of the ``libvirt`` environment."""

import urllib.parse
from collections.abc import Mapping

from tare.environments.libvirt.virsh import Virsh
from tare.environments.managed.options import one_of
from tare.host.privileges import ordinary_user
from tare.records import OptionValue

CONNECTION = {"connection": "libvirt's URI, such as qemu:///system, xen:///system or esx://user@host"}
DOMAIN_OPTIONS: Mapping[str, str] = {
    **CONNECTION,
    "domain": "the user's own domain that is to be the node; or a list, node by node",
    "snapshot": "of that domain, to which it is reverted before every start",
}


def connection(options: Mapping[str, OptionValue]) -> Virsh:
    """The connection in the options, else the system's QEMU for root and the session's for others."""
    usual = "qemu:///session" if ordinary_user() else "qemu:///system"
    return Virsh(str(options.get("connection", usual)))


def domain(options: Mapping[str, OptionValue], index: int) -> str:
    """The name of the domain of a trial's node number ``index``."""
    return one_of(options["domain"], index)


def connection_complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    value = options.get("connection", "qemu:///system")
    try:
        parts = urllib.parse.urlsplit(value) if isinstance(value, str) else None
        named = parts is not None and parts.scheme
        secret = parts is not None and parts.password is not None
    except ValueError:
        named, secret = False, False
    if secret:
        return {
            "connection": "holds a password, which every user could read: write it into libvirt's auth.conf"
        }
    return {} if named else {"connection": f"{value!r} is no URI; write one such as qemu:///system"}


def domain_complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with it, among ``DOMAIN_OPTIONS``."""
    complaints = connection_complaints(options)
    names = options.get("domain")
    for name in names if isinstance(names, list) else [names]:
        if not isinstance(name, str) or not name or name.startswith("-"):
            complaints["domain"] = f"must be a domain's name, but is {name!r}"
    if names == []:
        complaints["domain"] = "is an empty list"
    snapshot = options.get("snapshot", "clean")
    if not isinstance(snapshot, str) or not snapshot or snapshot.startswith("-"):
        complaints["snapshot"] = f"must be a snapshot's name, but is {snapshot!r}"
    return complaints
