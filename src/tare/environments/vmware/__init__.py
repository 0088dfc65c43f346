# SPDX-License-Identifier: Apache-2.0
"""Nodes in machines of VMware's vCenter or ESXi, by govc (docs/vmware.md)."""

from collections.abc import Mapping
from typing import TypedDict
from urllib.parse import urlsplit

from tare.environments.managed.copied import COPY_OPTIONS, copy_complaints, sources
from tare.environments.managed.machine import Machine
from tare.environments.managed.options import INSIDE_OPTIONS, inside_complaints
from tare.environments.managed.provider import Managed
from tare.environments.vmware import described
from tare.environments.vmware.govc import Govc
from tare.environments.vmware.machine import VmwareMachine
from tare.errors import NodeError
from tare.host.told import told
from tare.nodes.provider import NodeSpec, Probe
from tare.records import OptionValue

_OWN: Mapping[str, str] = {
    "url": "address of vCenter or ESXi, without a password; else GOVC_URL of the environment",
    "username": "who logs in; else GOVC_USERNAME",
    "password_file": "file of the password, which nobody else may read; else GOVC_PASSWORD",
    "ca_certificates": "file of the certificates to trust; else GOVC_TLS_CA_CERTS",
    "known_hosts": "file of known certificates, as govc about.cert writes it; else GOVC_TLS_KNOWN_HOSTS",
    "insecure": "true: any certificate will do; else GOVC_INSECURE",
    "datacenter": "where the machines are, if there are several",
    "folder": "inventory folder for the copies",
    "pool": "resource pool of the copies",
    "datastore": "of the copies",
    "network": "to which the copies' first adapter is connected, instead of the original's",
    "reserve": "true: reserve the machine's memory and processors on its host",
    "govc": "path of the govc to use, instead of the one on PATH",
}
OPTION_NAMES: Mapping[str, str] = {**_OWN, **COPY_OPTIONS, **INSIDE_OPTIONS}
"""Option → what it does."""
_SWITCHES = ("insecure", "reserve")
_FILES = ("password_file", "ca_certificates", "known_hosts", "govc")
_PROBE_LIMIT_S = 10.0


def complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with it."""
    problems = {**copy_complaints(options), **inside_complaints(options)}
    for name in _OWN:
        if name in options and (words := _complaint(name, options[name])):
            problems[name] = words
    return problems


def _complaint(name: str, value: OptionValue) -> str | None:
    if name in _SWITCHES:
        return None if isinstance(value, bool) else f"must be true or false, but is {value!r}"
    if name == "url":
        return _url_complaint(value)
    if not isinstance(value, str) or not value or value.startswith("-"):
        return f"must be a text, but is {value!r}"
    if name in _FILES and name != "govc" and not value.startswith("/"):
        return f"{value!r} must be a whole path, from /"
    return None


def _url_complaint(value: OptionValue) -> str | None:
    """What is wrong with it, without the value where that holds a password: complaints are printed and logged."""
    if not isinstance(value, str) or not value or value.startswith("-"):
        return f"must be an address such as https://vcenter.example.org, but is {value!r}"
    whole = value if "://" in value else f"https://{value}"
    try:
        user_info = "@" in urlsplit(whole).netloc
    except ValueError:
        return "is no address; write one such as https://vcenter.example.org"
    return "must not hold who logs in: write username and password_file" if user_info else None


class _Server(TypedDict):
    fullName: str


class _About(TypedDict):
    about: _Server


class Vmware(Managed):
    technology = "vmware"
    option_names: Mapping[str, str] = OPTION_NAMES

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return complaints(options)

    def machine(self, spec: NodeSpec) -> Machine:
        return VmwareMachine(spec)

    def probe(self) -> Probe:
        """Check the log-in and the machines; over a network it may take longer than on this host."""
        if self._options is None:
            reason = "its machine is named in a campaign file, and checked with it"
            return Probe(usable=False, reason=reason, remedy="write one as docs/vmware.md shows")
        try:
            return _probed(Govc.of(self._options), self._options)
        except NodeError as error:
            missing = "is not on this host" in str(error)
            remedy = "install govc, of VMware's govmomi" if missing else "try it by hand: govc about"
            return Probe(usable=False, reason=str(error), remedy=remedy)


def _probed(govc: Govc, options: Mapping[str, OptionValue]) -> Probe:
    server = _name(govc.ask("about", "-json", limit_s=_PROBE_LIMIT_S))
    for name in sources(options):
        if described.machine(govc.ask("vm.info", "-json", name, limit_s=_PROBE_LIMIT_S)) is None:
            reason = f"{server} has no machine {name}"
            return Probe(usable=False, reason=reason, remedy="see which there are: govc find / -type m")
    return Probe(usable=True, version=f"{govc.ask('version').strip()}, {server}")


def _name(text: str) -> str:
    return told(_About, text, "govc about")["about"]["fullName"]
