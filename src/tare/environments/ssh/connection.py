# SPDX-License-Identifier: Apache-2.0
"""The hosts to reach and how: the options of the environment, and ssh's argv (ssh(1), ssh_config(5))."""

import ipaddress
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from tare.environments.ssh import srun
from tare.errors import NodeError
from tare.host import slurm
from tare.records import NATIVE, OptionValue
from tare.untrusted import from_json

OPTION_NAMES: Mapping[str, str] = {
    "host": "who is reached: user@host, or a name of the ssh configuration; or a list, node by node in turn; "
    "here: this host, without ssh",
    "subnet": "address range in which these hosts and this one reach each other, for MPI between nodes",
    "ssh_options": "further words for ssh, such as a port",
    "below": "technology of the nodes on that host",
    "below_options": "its options, each as NAME=VALUE",
    "state": "folder on that host for the image and what is running",
    "python": "Python 3.11 or newer on that host",
    "become": "what to put before a command there to be root, such as sudo -n",
    "job": "number of the Slurm job whose node it is, which srun then reaches instead of ssh",
}
HERE = "here"
_LISTS = ("ssh_options", "below_options", "become")
_STATE = "/var/lib/tare"
_INSISTED = (
    *("BatchMode=yes", "ControlPersist=no", "RemoteCommand=none", "PermitLocalCommand=no"),
    *("ClearAllForwardings=yes", "EscapeChar=none"),
)
"""Set whatever the user's configuration says (ssh uses the first value): no question, forwarding or other command."""
_SSH_FAILED = 255
_QUOTE = """\
said=$1 count=$2
shift 2
for word do
    count=$((count - 1))
    shift
    if [ $count -ge 0 ]; then
        set -- "$@" "$word"
        continue
    fi
    quoted=
    while :; do
        case $word in
        *\\'*) quoted=$quoted${word%%\\'*}"'\\''" word=${word#*\\'} ;;
        *) break ;;
        esac
    done
    said="$said '$quoted$word'"
done
exec "$@" "$said"
"""
"""For sh here: becomes ssh, the first $2 words, with $1 and every further word quoted as its last one.

ssh(1) joins a command's words with spaces, and the far login shell splits them again. A thousand nodes are entered at
the same time: a Python for each would take ten times as long.
"""
_DEFAULTS = ("ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=4", "LogLevel=ERROR")
_ADVICE = {
    "REMOTE HOST IDENTIFICATION HAS CHANGED": "its key is not the one this user knows: find out why; "
    "if that is right, forget the old one with ssh-keygen -R",
    "Host key verification failed": "its key is not known here: connect once by hand with ssh and compare the "
    "fingerprint",
    "Permission denied": "it does not let this user in without a password: give it a key with ssh-copy-id, "
    "or name the user and the key in host and ssh_options",
    "Too many authentication failures": "name the one key that it accepts: ssh_options with -i and IdentitiesOnly=yes",
    "Connection refused": "no sshd listens there: start it, or name its port in ssh_options",
    "Could not resolve hostname": "the name is not known: correct host, or write it into the ssh configuration",
    "timed out": "it does not answer: is it up, and does a firewall let port 22 through?",
    "No route to host": "no network leads there",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """One other host, as an environment's options describe it."""

    host: str
    subnet: str | None = None
    ssh_options: tuple[str, ...] = ()
    below: str = NATIVE
    below_options: tuple[str, ...] = ()
    state: str = _STATE
    python: str = "python3"
    become: tuple[str, ...] = ()
    job: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, OptionValue], index: int = 0) -> Self:
        """The host for a trial's node number ``index``: nodes take turns.

        ``NodeError`` when the options name no host; ``complaints`` lists other problems.
        """
        if problems := complaints(options):
            raise NodeError("; ".join(f"{option}: {words}" for option, words in problems.items()))
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        hosts = _hosts(options["host"])
        return cls(**{**values, "host": hosts[index % len(hosts)]})  # type: ignore[arg-type] # checked just now

    @classmethod
    def all(cls, options: Mapping[str, OptionValue]) -> list[Self]:
        """Each host once; ``NodeError`` as ``of`` raises it."""
        first = cls.of(options)
        return [replace(first, host=host) for host in dict.fromkeys(_hosts(options["host"]))]

    @property
    def way(self) -> Self:
        """How the host is reached, without what runs there: equal ways share a connection."""
        return replace(self, subnet=None, below=NATIVE, below_options=())

    @property
    def options_below(self) -> Mapping[str, OptionValue]:
        return {
            name: _value(text)
            for name, _, text in (below_option.partition("=") for below_option in self.below_options)
        }

    @property
    def by(self) -> str:
        """The program that reaches it."""
        return "ssh" if self.job is None else "srun"

    def seen(self, image_root: Path) -> str | None:
        """Where to look there for the image before it is carried: nodes of Slurm often share a file system."""
        return None if self.job is None else str(image_root)

    @property
    def multiplexes(self) -> bool:
        """Whether further commands can go over the first connection."""
        return self.host != HERE and self.job is None

    def ssh(
        self, control: Path | None = None, *, master: bool = False, says_errors: bool = True
    ) -> list[str]:
        """The argv to which a command is added as one word; over the connection at ``control`` if there is one."""
        if self.job is not None:
            return srun.argv(self.job, self.host, says_errors=says_errors)
        if self.host == HERE:
            return ["sh", "-c"]
        return [
            *("ssh", "-T", "-a", "-x", "-S", "none" if control is None else str(control).replace("%", "%%")),
            *("-o", f"ControlMaster={'yes' if master else 'no'}", *_o(_INSISTED)),
            *(*self.ssh_options, *_o(_DEFAULTS), "--", self.host),
        ]

    def command(self, *words: str) -> str:
        """The command as one word for the far login shell."""
        return shlex.join([*self.become, *words])

    def enter(self, control: Path | None, words: list[str]) -> list[str]:
        """The argv before a command that runs it on the far side, after ``words`` there."""
        ssh = [*_agent(), *self.ssh(control, says_errors=False)]
        return ["sh", "-c", _QUOTE, "sh", self.command(*words), str(len(ssh)), *ssh]


def _hosts(value: OptionValue) -> list[str]:
    return value if isinstance(value, list) else [str(value)]


def _o(settings: tuple[str, ...]) -> list[str]:
    return [word for setting in settings for word in ("-o", setting)]


def variables() -> dict[str, str]:
    """The variables that ssh and srun need besides every tool's: the way to the user's keys, and Slurm's file."""
    return slurm.variables() | {name: os.environ[name] for name in ("SSH_AUTH_SOCK",) if name in os.environ}


def _agent() -> list[str]:
    agent = [f"{name}={value}" for name, value in variables().items()]
    return ["env", *agent] if agent else []


def failed(far: Far, code: int, said: str) -> NodeError | None:
    """The error if the way to the host failed; ``None`` if what ran there ended with this code."""
    if far.job is not None:
        return srun.failed(far.host, code, said)
    return unreachable(far, said) if code == _SSH_FAILED else None


def last_words(said: str) -> str:
    """The last line of what a program there said, without srun's own on its exit code."""
    lines = [line for line in said.strip().splitlines() if not srun.is_about_exit_code(line)]
    return lines[-1] if lines else "it said nothing"


def unreachable(far: Far, said: str) -> NodeError:
    """The error for ssh's message when it could not connect, with the remedy."""
    lines = [line.strip() for line in said.strip().splitlines()]
    advice = next((words for sign, words in _ADVICE.items() if sign in said), "try it by hand with ssh")
    return NodeError(
        f"{far.host} cannot be reached by ssh: {lines[-1] if lines else 'it said nothing'}; {advice}", said
    )


def complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with its value, or that it is missing."""
    problems = {} if "host" in options else {"host": "is missing; write user@host, or a name that ssh knows"}
    for name, value in options.items():
        if words := _complaint(name, value):
            problems[name] = words
    return problems or _complaints_below(options)


def _complaint(name: str, value: OptionValue) -> str | None:
    if name in _LISTS:
        return None if isinstance(value, list) else f"must be a list of texts, but is {value!r}"
    if name == "host" and isinstance(value, list):
        words = [_complaint(name, text) for text in value] or ["is an empty list"]
        return next(filter(None, words), None)
    if not isinstance(value, str) or not value:
        return f"must be a text, but is {value!r}"
    if name == "host" and (value.startswith("-") or any(letter.isspace() for letter in value)):
        return f"{value!r} is no host; write user@host, or a name that ssh knows"
    if name == "state" and not value.startswith("/"):
        return f"{value!r} must be a whole path, from /"
    return _wrong_text(name, value)


def _wrong_text(name: str, value: str) -> str | None:
    if name == "job" and not value.isdecimal():
        return f"{value!r} is no number of a Slurm job"
    return _no_range(value) if name == "subnet" else None


def _no_range(text: str) -> str | None:
    """The problem with a range; the versions of Open MPI in images accept only IPv4 ranges."""
    try:
        around = ipaddress.IPv4Network(text, strict=False)
    except ValueError:
        return f"{text!r} is no range of IPv4 addresses; write one such as 10.1.0.0/16"
    return None if text == str(around) else f"{text!r} is no whole range; write {around}"


def _complaints_below(options: Mapping[str, OptionValue]) -> dict[str, str]:
    from tare.environments import PROVIDERS  # noqa: PLC0415 - the list that includes this environment

    below = str(options.get("below", NATIVE))
    known = sorted(set(PROVIDERS) - {"ssh"})
    if below not in known:
        return {"below": f"unknown technology {below!r}; allowed: {', '.join(known)}"}
    given = options.get("below_options", [])
    parts = [text.partition("=") for text in given] if isinstance(given, list) else []
    provider = PROVIDERS[below]
    for name, separator, _ in parts:
        if not separator or name not in provider.option_names:
            allowed = ", ".join(sorted(provider.option_names)) or "none"
            return {"below_options": f"{below} has no option {name!r}; write NAME=VALUE, allowed: {allowed}"}
    check_options = provider.check_options({name: _value(text) for name, _, text in parts})
    return (
        {"below_options": "; ".join(f"{name}: {words}" for name, words in check_options.items())}
        if check_options
        else {}
    )


def _value(text: str) -> OptionValue:
    """As JSON if it is a truth value, a number or a list of texts there; else the text itself."""
    try:
        value = from_json(text)
    except ValueError:
        return text
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    return value if isinstance(value, int | float) else text
