# SPDX-License-Identifier: Apache-2.0
"""What ``tare advise`` reads: results of one host, their workloads, and the application among them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tare.analyze.advice.known import ArmNames, known_workloads, measured_in, merged, withheld
from tare.commands.noise import same_host
from tare.drawing.words import counted
from tare.errors import InputError, JournalError, TareError
from tare.foreign import one_line
from tare.host.facts import host_facts
from tare.host.own_files import read_plain
from tare.journal.calls import read_calls
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.pipeline import analyse_result
from tare.records import (
    HOST_FILES,
    NATIVE,
    Analysis,
    Cell,
    Environment,
    Layout,
    Outcome,
    Status,
    TracedCalls,
    Workload,
)
from tare.records.advice import Application, Candidate, KnownWorkload, OwnVerdict, Resource
from tare.treat.pairing import cell_of
from tare.treat.resources import Counted, resource_rates
from tare.workloads.profile import FILE
from tare.workloads.traffic import parse_traffic

NEWEST = 20
"""As many results of a folder are read at most."""
_MOST_BYTE = 16 << 20
_COMMAND = "command"


@dataclass(kw_only=True)
class KnownHere:
    """What all results say together."""

    environments: dict[str, Environment] = field(default_factory=dict)
    """What an environment is called \N{RIGHTWARDS ARROW} what it is."""
    arms: dict[str, Candidate] = field(default_factory=dict)
    workloads: list[tuple[Workload, KnownWorkload, list[OwnVerdict]]] = field(default_factory=list)
    """In the order of the results: the application's come first."""
    named: list[tuple[Workload, Cell]] = field(default_factory=list)
    """Of the results that the user named."""
    ignored: list[str] = field(default_factory=list)
    host: Mapping[str, str] | None = None

    def add(self, analysis: Analysis, folder: ResultFolder, *, named: bool) -> None:
        """Add one result; one of another host, or an intervention, is ignored in words."""
        host = analysis.sessions[-1].host
        if self.host is not None and not same_host(host, self.host):
            self.ignored.append(
                f"{folder.path}: it was measured on another host; name it to ask about that one"
            )
            return
        self.host = self.host or host
        names = self._names(analysis)
        workloads = {cell_of(outcome): outcome.trial.workload for outcome in analysis.outcomes}
        kinds = {cell: workload.kind for cell, workload in workloads.items()}
        rates = resource_rates(analysis.outcomes, _counted(analysis.outcomes, folder), _traced(folder))
        known, arms = known_workloads(analysis, names, kinds, rates)
        self.ignored.extend(_lacking(analysis, folder))
        self.arms |= {arm.name: arm for arm in arms}
        if named:
            self.named.extend((workload, cell) for cell, workload in workloads.items())
        by_cell = {each.cell: each for each in known}
        for cell, workload in workloads.items():
            own = by_cell.get(cell) or KnownWorkload(
                name=cell.workload, cell=cell, rates=rates.get(cell, {}), overheads={}
            )
            measured = measured_in(analysis, names, cell, workload.kind)
            self.workloads.append((workload, own, measured))

    def _names(self, analysis: Analysis) -> ArmNames:
        """The same environment has one name in all results; another that has its name is called by its result too."""
        names = {}
        for environment in _environments(analysis.outcomes):
            same = (called for called, other in self.environments.items() if other == environment)
            called = next(same, environment.name)
            if self.environments.setdefault(called, environment) != environment:
                called = f"{environment.name} of {analysis.result}"
                self.environments[called] = environment
            names[environment.name] = Candidate(
                name=called, technology=environment.technology, settings=_settings(environment)
            )
        return ArmNames(names)


def gathered(results: Sequence[Path], folders: Sequence[Path]) -> KnownHere:
    """Read the named results, which must be readable, and then those in the folders of their host, else of this one."""
    every = KnownHere(host=None if results else host_facts())
    for path in results:
        analysis = _analysed(path)
        every.add(analysis, ResultFolder(path), named=True)
    for path in _others(folders, results):
        try:
            analysis = _analysed(path)
        except TareError as error:  # torn, of another version, or never measured: nobody asked for it
            every.ignored.append(str(error))
        else:
            every.add(analysis, ResultFolder(path), named=False)
    return every


def application_of(every: KnownHere, name: str | None, layout: str | None) -> Application | None:
    """The named workload, else the only command; ``None``: there is none, and none was named."""
    chosen = _chosen(every, name, layout)
    if chosen is None:
        return None
    workload, cell = chosen
    own = [entry for entry in every.workloads if _is_same(entry, workload, cell)]
    (together,) = merged([("", known) for _, known, _ in own])
    return Application(
        name=cell.workload,
        layout=cell.layout,
        rates=together.rates,
        measured=_first_telling(measured for _, _, result in own for measured in result),
        command=_command(workload, cell.layout),
        identity=_program(workload),
    )


def _first_telling(every: Iterable[OwnVerdict]) -> tuple[OwnVerdict, ...]:
    """Of each environment the first that is an answer, else the first."""
    first: dict[str, OwnVerdict] = {}
    for own in every:
        known = first.setdefault(own.arm.name, own)
        if own.tells and not known.tells:
            first[own.arm.name] = own
    return tuple(first.values())


def known_of(every: KnownHere, application: Application, layout: str | None) -> list[KnownWorkload]:
    """Everything but the application in alike layouts: as many nodes, instances and hosts; else in the usual one."""
    others = [
        (workload, known)
        for workload, known, _ in every.workloads
        if known.overheads and _program(workload) != application.identity
    ]
    wanted = application.layout or layout or _usual(known.cell.layout for _, known in others)
    own = [
        (workload, known) for workload, known in others if wanted and _comparable(known.cell.layout, wanted)
    ]
    return merged([(_identity(workload, known.cell), known) for workload, known in own])


def _usual(layouts: Iterator[str]) -> str | None:
    every = list(layouts)
    return max(every, key=every.count, default=None)


def _comparable(layout: str, wanted: str) -> bool:
    shape = _shape(layout)
    return shape is not None and shape == _shape(wanted)


def _shape(layout: str) -> tuple[int, int, int] | None:
    """Nodes, instances and hosts, at any levels of factors; ``None``: with company, or in an order experiment."""
    try:
        own = Layout.parse(_without_levels(layout))
    except ValueError:
        return None
    return own.nodes, own.instances, own.hosts


def _without_levels(layout: str) -> str:
    return layout.partition(" [")[0]


def _identity(workload: Workload, cell: Cell) -> str:
    """The same in all results with this workload and layout."""
    return f"{_program(workload)} {cell.layout}"


def _program(workload: Workload) -> str:
    return f"{workload.kind} {sorted(map(str, workload.options.items()))}"


def _is_same(entry: tuple[Workload, KnownWorkload, list[OwnVerdict]], workload: Workload, cell: Cell) -> bool:
    return _identity(entry[0], entry[1].cell) == _identity(workload, cell)


def _chosen(every: KnownHere, name: str | None, layout: str | None) -> tuple[Workload, Cell] | None:
    candidates = [
        (workload, cell)
        for workload, cell in every.named
        if (workload.kind == _COMMAND if name is None else cell.workload == name)
        and (layout is None or cell.layout == layout)
    ]
    if not candidates:
        if name is None:
            return None
        have = one_line(", ".join(dict.fromkeys(cell.workload for _, cell in every.named)))
        raise InputError(f"--workload {one_line(name)}: the named results have {have or 'no workload'}")
    names = list(dict.fromkeys(cell.workload for _, cell in candidates))
    if len(names) > 1:
        raise InputError(
            f"the named results hold several commands, {one_line(', '.join(names))}: choose by --workload"
        )
    layouts = list(dict.fromkeys(cell.layout for _, cell in candidates))
    if len(layouts) > 1:
        raise InputError(
            f"{one_line(names[0])} ran in several layouts, {one_line(', '.join(layouts))}: choose by --layout"
        )
    return candidates[0]


def _command(workload: Workload, layout: str) -> tuple[str, ...]:
    argv = workload.options.get("argv")
    if workload.kind != _COMMAND or not isinstance(argv, Sequence) or isinstance(argv, str):
        return ()
    options = ("--mpi",) if workload.options.get("mpi") else ()
    return (*options, "--layout", _without_levels(layout), "--", *(str(word) for word in argv))


def _lacking(analysis: Analysis, folder: ResultFolder) -> Iterator[str]:
    """What of a result takes no part, and what to do."""
    path = folder.path
    if busy := withheld(analysis):
        yield f"{path}: {counted(busy, 'overhead')} that the host was too busy to tell"
    if damage := analysis.integrity.damage:
        more = f" and {len(damage) - 1} more" if len(damage) > 1 else ""
        yield f"{path}: what is damaged in it ({damage[0].sentence}{more}); tare run {path} measures it again"
    if (lacking := analysis.planned_trials - len(analysis.outcomes)) > 0:
        yield f"{path}: {counted(lacking, 'planned trial')} without an outcome; tare run {path} goes on"


def _analysed(path: Path) -> Analysis:
    analysis = analyse_result(path)
    if not analysis.sessions:
        raise JournalError(f"{path} holds a campaign and no measurement; tare run {path} measures it")
    return analysis


def _others(folders: Sequence[Path], results: Sequence[Path]) -> list[Path]:
    """The newest results in the folders that were not named."""
    named = {path.resolve() for path in results}
    dated = []
    for folder in folders:
        for file in folder.glob(f"*/{CAMPAIGN_FILE}"):
            if file.parent.resolve() not in named:
                with suppress(OSError):
                    dated.append((file.parent.stat().st_mtime, file.parent))
    return [path for _, path in sorted(dated, reverse=True)[:NEWEST]]


def _environments(outcomes: Sequence[Outcome]) -> list[Environment]:
    named = {outcome.trial.environment.name: outcome.trial.environment for outcome in outcomes}
    return [each for name, each in named.items() if name != NATIVE and each.technology != HOST_FILES]


def _settings(environment: Environment) -> tuple[str, ...]:
    options = tuple(f"{name} = {value}" for name, value in sorted(environment.options.items()))
    network = environment.network
    return options if network is None else (*options, f"network {network}")


def _traced(folder: ResultFolder) -> TracedCalls:
    with suppress(JournalError):
        return read_calls(folder.explanation) or TracedCalls(counts={}, untraced={})
    return TracedCalls(counts={}, untraced={})


def _counted(outcomes: Sequence[Outcome], folder: ResultFolder) -> dict[str, Counted]:
    """What the profiles of native trials count."""
    counted: dict[str, Counted] = {}
    for outcome in outcomes:
        if outcome.trial.environment.name == NATIVE and outcome.status is Status.OK:
            amounts = [
                _amounts(path) for path in sorted((folder.raw / outcome.trial.identity).glob(f"*.{FILE}"))
            ]
            if amounts and all(amounts):
                counted[outcome.trial.identity] = {
                    resource: sum(each[resource] for each in amounts) for resource in amounts[0]
                }
    return counted


def _amounts(path: Path) -> Counted:
    """Empty for a profile that cannot be read."""
    try:
        traffic = parse_traffic(read_plain(path, _MOST_BYTE).decode())
    except (OSError, ValueError):
        return {}
    return {
        Resource.MESSAGES: float(traffic.messages),
        Resource.MESSAGE_BYTES: float(traffic.message_byte),
        Resource.FILE_BYTES: float(traffic.file_byte),
    }
