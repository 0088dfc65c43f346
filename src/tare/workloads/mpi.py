# SPDX-License-Identifier: Apache-2.0
"""How Open MPI starts the processes of one instance, in one node or several, and what carried its messages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tare.errors import InputError
from tare.workloads import mpi_site, mpi_verbs
from tare.workloads.kind import Shape, Span
from tare.workloads.mpi_paths import TRANSPORTS

SingleCopy = Literal["none", "cma", "natural"]
"""How large messages cross between the processes of a node (Open MPI's vader transport).

``none``: copied twice through shared memory, which works wherever there is a /dev/shm. ``cma``: copied once by
process_vm_readv(2), which some sandboxes forbid. ``natural``: left to Open MPI, as it is installed; where a sandbox
forbids the single copy, losing it is a cost of that sandbox, and the facts say so.
"""
Launcher = Literal["tare", "image"]
"""What starts the processes.

``tare``: the image's mpirun as that of Open MPI, with every choice fixed, across nodes too. ``image``: the image's
mpirun of whatever MPI, as it comes, within one node.
"""
LAUNCHER = "mpirun"
CLOCK_FAULT = 3
"""The exit code of ``mpiprobe`` when MPI's clock cannot be trusted."""

BY_IMAGE: Mapping[str, str] = {
    "HYDRA_LAUNCHER": "fork",
    "I_MPI_HYDRA_BOOTSTRAP": "fork",
    "I_MPI_PIN": "off",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""Variables for ``launch_by_image``; each MPI passes over the others'.

No ssh to the own host, root where Tare was asked for it, and no binding but by ``pin``. Sources: mpiexec.hydra(1),
Intel MPI's reference, mpirun(1) of Open MPI 4 and 5.
"""
_REFUSED = re.compile(
    r"^.*(?:Read -1, expected \d+, errno = \d+|CMA support is not available).*$", re.MULTILINE
)
"""Message of Open MPI 4.1 when the kernel forbids process_vm_readv; it then falls back to copying twice."""
_SENDING = re.compile(r"^\[[^\]\n]*\] mca: bml: Using (\w+) btl for send to .* on node \S+$", re.MULTILINE)
_CONNECTED = re.compile(
    r"^\[[^\]\n]*\] btl:\s?tcp: .*?(?:now connected to|connect\(\) to) ([0-9a-f.:]+?)(?::\d+ |,)",
    re.MULTILINE,
)
_CHATTER = re.compile(
    r"^\[[^\]\n]*\] (?:mca: b|select: init|btl:|plm:rsh: Warning: setpgid).*\n?", re.MULTILINE
)


def refused_single_copy(stderr: str) -> str | None:
    """Return the line that reports a forbidden single copy, so that the two paths are never mixed up."""
    match = _REFUSED.search(stderr)
    return match[0] if match else None


def launch(
    shape: Shape,
    *,
    single_copy: SingleCopy = "natural",
    variables: Mapping[str, str] | None = None,
    exported: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return the argv before the program: one process for each processor or ``threads``, each pinned to its own.

    Each setting fixes a choice that Open MPI would otherwise make from what it detects in the node. ``variables`` are
    passed to processes in other nodes too; ``exported`` are set only in the processes, not in mpirun.
    """
    if shape.span is not None and shape.span.site is not None:
        words = {**(variables or {}), **(exported or {}), **_verbs(shape, single_copy)}
        site = mpi_site.launch(shape, shape.span, shape.span.site, _settings(shape, single_copy), words)
        return (*site, *pinned(shape))
    stated = {**(exported or {}), **_verbs(shape, single_copy)}
    exports = [part for pair in stated.items() for part in ("-x", "=".join(pair))]
    count = ("-np", str(shape.processors // shape.threads))
    return (*_mpirun(shape, single_copy, variables or {}), *exports, *count, *pinned(shape))


def launch_by_image(shape: Shape) -> tuple[str, ...]:
    """The same by an mpirun of any MPI, which is told nothing but how many; ``InputError`` where nodes cooperate."""
    if shape.span is not None:
        raise InputError(
            'launcher = "image" starts processes within one node, and here an instance spans several; choose a layout '
            "with as many instances as nodes, such as 1c2p1i"
        )
    return (LAUNCHER, "-n", str(shape.processors // shape.threads), *pinned(shape))


def is_by_image(argv: Sequence[str]) -> bool:
    """Whether it was made by ``launch_by_image``."""
    return tuple(argv[:2]) == (LAUNCHER, "-n")


def launch_each(
    programs: Iterable[tuple[str, ...]], shape: Shape, variables: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the argv of one job whose processes each run one of the programs, in order."""
    if shape.span is not None and shape.span.site is not None:
        settings = _settings(shape, "natural")
        words = {**(variables or {}), **_verbs(shape, "natural")}
        site = mpi_site.launch(shape, shape.span, shape.span.site, settings, words)
        return (*site, *pinned(shape), *mpi_site.each_in_turn(tuple(programs)))
    exports = [part for pair in _verbs(shape, "natural").items() for part in ("-x", "=".join(pair))]
    parts: list[str] = []
    for program in programs:
        parts += [*([":"] if parts else []), *exports, "-np", "1", *pinned(shape), *program]
    return (*_mpirun(shape, "natural", variables or {}), *parts)


def pinned(shape: Shape) -> tuple[str, ...]:
    threads = () if shape.threads == 1 else ("--threads", str(shape.threads))
    return (f"{shape.tools_directory}/pin", *threads)


def hybrid(shape: Shape, threads: int) -> Shape:
    """Return it with processes of ``threads`` threads; raises ``InputError`` if its nodes cannot be divided so."""
    nodes = 1 if shape.span is None else len(shape.span.hosts)
    processors = shape.processors // nodes
    if processors % threads:
        raise InputError(
            f"threads = {threads} does not divide the {processors} processors of each node; every process is to have"
            " as many processors as threads"
        )
    return replace(shape, threads=threads)


def _mpirun(shape: Shape, single_copy: SingleCopy, variables: Mapping[str, str]) -> list[str]:
    argv = [LAUNCHER, "--allow-run-as-root", "--bind-to", "none"]
    argv += _here(shape) if shape.span is None else _across(shape, shape.span, variables)
    return argv + [word for pair in _messages(shape, single_copy).items() for word in _mca(*pair)]


def _verbs(shape: Shape, single_copy: SingleCopy) -> Mapping[str, str]:
    """Variables of the processes where they send by verbs."""
    return mpi_verbs.variables(single_copy) if shape.verbs else {}


def _messages(shape: Shape, single_copy: SingleCopy) -> dict[str, str]:
    """Settings of the processes, whoever starts them."""
    waiting = {"mpi_yield_when_idle": str(int(shape.oversubscribed))}
    if shape.verbs:
        return {**mpi_verbs.SETTINGS, **waiting}
    settings = {"pml": "ob1", "btl_base_verbose": "10", **waiting}
    if single_copy != "natural":
        settings["btl_vader_single_copy_mechanism"] = single_copy
    return settings


def _settings(shape: Shape, single_copy: SingleCopy) -> dict[str, str]:
    """All of them, where they are not mpirun's in the launcher's node."""
    subnet = "" if shape.span is None else shape.span.subnet
    between = {"btl": "self,vader,tcp", "btl_tcp_if_include": subnet}
    return between | _messages(shape, single_copy)


def _here(shape: Shape) -> list[str]:
    """Start no daemon, so no ssh is needed; control messages need a loopback that is up, data use shared memory.

    Each instance has its own folder for mpirun's notes: several that make the usual one at once disturb each other.
    """
    argv = ["--host", f"localhost:{shape.processors}"]
    argv += _mca("orte_tmpdir_base", f"/tmp/mpirun-{shape.instance}")  # noqa: S108 - of the node, as the usual one
    return argv + _mca("plm", "isolated") + _mca("oob_tcp_if_include", "lo") + _mca("btl", "vader,self")


def _across(shape: Shape, span: Span, variables: Mapping[str, str]) -> list[str]:
    """Let Tare's agent start the daemons (docs/mpi.md); without the last setting a dead daemon goes unnoticed."""
    slots = shape.processors // shape.threads // len(span.hosts)
    argv = ["--host", ",".join(f"{host}:{slots}" for host in span.hosts)]
    argv += [part for name in variables for part in ("-x", name)]
    argv += _mca("plm", "rsh") + _mca("plm_rsh_agent", f"{shape.tools_directory}/agent")
    argv += _mca("plm_rsh_no_tree_spawn", "1") + _mca("orte_leave_session_attached", "1")
    argv += _mca("oob_tcp_if_include", span.subnet)
    return argv + _mca("btl", "self,vader,tcp") + _mca("btl_tcp_if_include", span.subnet)


def _mca(name: str, value: str) -> list[str]:
    return ["--mca", name, value]


def preflight(shape: Shape, variables: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the argv that tests the same launch, and MPI's clock: exit code ``CLOCK_FAULT`` if that is wrong."""
    return (*launch(shape, variables=variables), f"{shape.tools_directory}/mpiprobe")


def preflight_by_image(shape: Shape) -> tuple[str, ...]:
    """The argv that tests ``launch_by_image`` with a program of no MPI."""
    return (*launch_by_image(shape), f"{shape.tools_directory}/burn", "1")


def transports(stderr: str) -> str | None:
    """Read from Open MPI's messages what carried the data: ``"shared memory; TCP (198.18.0.10, 198.18.0.11)"``.

    ``None`` when it reported nothing: a single process has no peer.
    """
    names = dict.fromkeys(TRANSPORTS.get(name, name) for name in _SENDING.findall(stderr) if name != "self")
    addresses = ", ".join(sorted({_shown(address) for address in _CONNECTED.findall(stderr)}))
    carriers = [f"{name} ({addresses})" if name == "TCP" and addresses else name for name in sorted(names)]
    carriers += mpi_verbs.carriers(stderr)
    return "; ".join(carriers) or None


def _shown(address: str) -> str:
    """Hide a link-local address, which changes at each start and says nothing."""
    return "link-local IPv6" if address.startswith("fe80:") else address


def last_words(stderr: str) -> str:
    """Return the last line of a program or a daemon, else the first line of mpirun's boxed explanation."""
    if (why := mpi_verbs.obstacle(stderr)) is not None:
        return why
    lines = [line.strip() for line in without_chatter(stderr).splitlines()]
    edges = [number for number, line in enumerate(lines) if line and set(line) == {"-"}]
    boxed = {
        number
        for first, last in zip(edges[::2], edges[1::2], strict=False)
        for number in range(first, last + 1)
    }
    outside = [line for number, line in enumerate(lines) if line and number not in boxed]
    inside = [lines[number] for number in sorted(boxed - set(edges)) if lines[number]]
    return (outside[-1:] or inside[:1] or ["it said nothing"])[0]


def without_chatter(stderr: str) -> str:
    """Remove Open MPI's report of its transports, and a warning about its own race.

    mpirun and the daemon that it has just started both give the daemon a process group; the later one complains.
    """
    return _CHATTER.sub("", mpi_verbs.without_chatter(stderr))
