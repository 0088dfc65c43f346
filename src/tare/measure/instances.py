# SPDX-License-Identifier: Apache-2.0
"""K instances of a workload in the nodes of a trial: prepared, started on one barrier, and collected."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tare.errors import ClockFault, NodeError, WrongOutput
from tare.measure.at_once import for_each
from tare.measure.clock_line import ClockProbe
from tare.measure.clocks import compare
from tare.measure.protocol import RUN_FIELDS
from tare.measure.seats import Seat
from tare.measure.starts import StartClock, StartOffset, clock_key, start_clocks, start_offsets
from tare.measure.stopwatch import Beside, Command, Stopwatch, ending, go_together, wait_all
from tare.nodes.files import make_folder, opened_inside
from tare.nodes.provider import Node
from tare.nodes.unprivileged.limits import command_limits
from tare.records import Clocks, InstanceRun, User
from tare.workloads.kind import Job, Options, Output, WorkloadKind
from tare.workloads.mpi import CLOCK_FAULT, last_words, without_chatter
from tare.workloads.part_used import idle_facts, part_used

OUTPUT = ".output"
"""Suffix of the folder with the measured command's printed output."""
UNKNOWN = "not known"
"""Beginning of the text for evidence that a job's command did not provide."""
_STREAMS = ("stdout", "stderr")
_READY_LIMIT_S = 30.0
_ASIDE_LIMIT_S = 30.0
_LAUNCH_LIMIT_PER_NODE_S = 5.0
"""Further time for the launch in each node but the first: dozens that share a processor take minutes."""
_FIRST_PROCESS = '{"processes":'
"""What only the first process of ``mpiprobe`` prints."""
_MOST_NAMED = 4
_STOP_SLACK_S = 15.0
_OUTPUT_LIMIT_BYTE = 16 << 20
_HEAD_BYTE = 2000
_LONGEST_REFUSAL = 500
"""Characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance: its seat and its job."""

    seat: Seat
    job: Job
    limit_s: float
    iteration: int | None = None
    """Which of several runs of the command; ``None``: the only one."""
    resident: str | None = None
    """For a resident program, which works in turns: the workload's name, as several share the nodes."""

    @property
    def number(self) -> int:
        return self.seat.number

    @property
    def name(self) -> str:
        """Name of its folder in the work directory of each of its nodes; every iteration has one."""
        own = f"i{self.number}" if self.iteration is None else f"i{self.number}-{self.iteration}"
        return own if self.resident is None else f"{self.resident}-{own}"

    @property
    def work(self) -> Path:
        """The work directory with its output, as the host sees it."""
        return self.seat.members[0].spec.work

    @property
    def folder(self) -> Path:
        """Its own folder there."""
        return self.work / self.name

    def stopwatch(
        self,
        argv: tuple[str, ...],
        limit_s: float,
        output: str,
        *,
        turns: bool = False,
        reads: str | None = None,
    ) -> AbstractContextManager[Stopwatch]:
        """A stopwatch that will run ``argv`` in the node and store its printed output in the folder ``output``.

        ``reads``: the file that is its standard input.

        That folder is beside the command's own: the stopwatch may be root, and must not write where an ordinary user
        can rename things or replace them by a link.
        """
        seat = self.seat
        inside, of_image = f"{seat.node.work_directory}/{self.name}", not seat.node.host_files
        command = Command(
            argv=argv,
            directory=self.job.directory or (of_image and self.job.image_directory) or inside,
            variables={
                **seat.variables,
                **(self.job.image_variables if of_image else {}),
                **self.job.variables,
            },
            limit_s=limit_s,
            processors=seat.node.numbered_inside(seat.processors),
            file_limit_byte=seat.file_limit_byte,
            resource_limits=command_limits(seat.node.spec.bounds),
            input=reads,
            turns=turns,
            user=seat.node.user,
        )
        make_folder(self.work / f"{self.name}{output}", output_owner(seat.node))
        seat.provider.send(seat.node, [f"{self.name}{output}"])
        return seat.ways.stopwatch(seat.provider, seat.node, command, f"{inside}{output}")

    def fetch(self, output: str, *names: str) -> None:
        """Bring a command's printed output and files to where ``read`` finds them; for nodes on other hosts.

        The output of mpirun is in its own node, the job's files are in the first node where it computes.
        """
        seat = self.seat
        printed, left = self.printed_names(output), [f"{self.name}/{name}" for name in names]
        if seat.node == seat.members[0]:
            seat.provider.fetch(seat.node, [*printed, *left])
        else:
            seat.provider.fetch(seat.node, printed)
            seat.member_provider.fetch(seat.members[0], left)

    def printed_names(self, output: str = OUTPUT) -> list[str]:
        """Paths of a command's printed output, below ``work``."""
        return [f"{self.name}{output}/{stream}" for stream in _STREAMS]

    def output(self) -> Output:
        """Its printed output and files; ``WrongOutput`` if they are longer than any benchmark's."""
        output = {name: self.read(name) for name in self.job.collect}
        return Output(
            stdout=self.printed(OUTPUT, "stdout") or "",
            stderr=self.printed(OUTPUT, "stderr") or "",
            files={name: text for name, text in output.items() if text is not None},
        )

    def read(self, name: str) -> str | None:
        """A file of its folder as text; ``None`` if there is no such regular file."""
        return self._text(f"{self.name}/{name}")

    def printed(self, output: str, stream: str) -> str | None:
        """A command's printed output in the folder ``output`` as text, from ``stdout`` or ``stderr``."""
        return self._text(f"{self.name}{output}/{stream}")

    def _text(self, name: str) -> str | None:
        with opened_inside(self.work, name) as opened:
            if opened is None:
                return None
            content = opened.read(_OUTPUT_LIMIT_BYTE + 1)
        if len(content) > _OUTPUT_LIMIT_BYTE:
            head = content[:_HEAD_BYTE].decode(errors="replace")
            raise WrongOutput(f"{name} is longer than {_OUTPUT_LIMIT_BYTE >> 20} MiB", head)
        return content.decode(errors="replace")

    def complaint(self, output: str) -> str:
        """Its standard error so far, without Open MPI's report of its transports."""
        return without_chatter(self.printed(output, "stderr") or "").strip()


def output_owner(node: Node) -> User | None:
    """Owner for the folder into which a stopwatch of the node writes; ``None``: root, or the runner's user."""
    return node.owner if node.made_as_user else None


def make_instances(
    kind: WorkloadKind,
    options: Options,
    seats: Sequence[Seat],
    limit_s: float,
    iteration: int | None = None,
    *,
    resident: str | None = None,
) -> list[Instance]:
    """All instances in the order of their seats, their input files written."""
    instances = []
    for seat in seats:
        shape = part_used(options, seat.shape)
        job = kind.job(options, shape) if resident is None else kind.resident(options, shape)
        job = replace(job, facts={**job.facts, **idle_facts(options, seat.shape)})
        instance = Instance(seat=seat, job=job, limit_s=limit_s, iteration=iteration, resident=resident)
        for node in seat.members:
            make_folder(node.spec.work / instance.name, node.owner, instance.job.files)
        instances.append(instance)
    if instances:
        places = [(instance, node) for instance in instances for node in instance.seat.members]
        for_each(instances[0].seat.member_provider, lambda place: _send_folder(*place), places)
    return instances


def _send_folder(instance: Instance, node: Node) -> None:
    instance.seat.member_provider.send(node, [instance.name])


def gather_evidence(instance: Instance) -> dict[str, str]:
    """Run the job's evidence commands; a failing one is evidence too."""
    facts = {}
    for index, (label, argv) in enumerate(instance.job.evidence.items()):
        output = f".evidence{index}"
        said = run_aside(instance, argv, output)
        text = (instance.printed(output, "stdout") or "").strip()
        problem = said["error"] or f"{argv[0]} ended with {said['exit_code']}"
        facts[label] = text if said["exit_code"] == 0 else f"{UNKNOWN}: {problem}"
    return facts


def run_preflight(instance: Instance) -> None:
    """Test the launch; ``NodeError`` says why it cannot work, ``ClockFault`` that MPI's clock is wrong here."""
    if not instance.job.preflight:
        return
    output = ".preflight"
    members = instance.seat.members
    limit_s = _ASIDE_LIMIT_S + _LAUNCH_LIMIT_PER_NODE_S * (len(members) - 1)
    said = run_aside(instance, instance.job.preflight, output, limit_s)
    if said["exit_code"] == 0:
        refuse_strangers(instance.printed(output, "stdout") or "")
        return
    complaint = instance.complaint(output)
    last = f"{said['error']}; has the image Open MPI?" if said["error"] else last_words(complaint)
    if said["exit_code"] == CLOCK_FAULT:
        raise ClockFault(f"MPI's clock cannot be trusted here: {last}", complaint)
    if said["timed_out"]:
        names = ", ".join(node.spec.name for node in members)
        nodes = names if len(members) <= _MOST_NAMED else f"{len(members)} nodes"
        raise NodeError(
            f"MPI processes in {nodes} did not find each other in {limit_s:.0f} s: {last}", complaint
        )
    raise NodeError(f"MPI does not start here: {last}", complaint)


def refuse_strangers(printed: str) -> None:
    """``NodeError`` if several of the probe's processes say that they are the first: each is then the only one.

    So ends a launcher whose PMIx is not understood by the image's MPI: every program works, by itself.
    """
    if (alone := printed.count(_FIRST_PROCESS)) > 1:
        raise NodeError(
            f"{alone} MPI processes were started, and each believes to be the only one: the launcher's PMIx and that "
            'of the image\'s MPI do not understand each other; take versions that do, or mpi_launcher = "tare"',
            printed,
        )


def run_aside(
    instance: Instance, argv: tuple[str, ...], output: str, limit_s: float = _ASIDE_LIMIT_S
) -> Mapping[str, Any]:
    """Run a command beside the measured one, through the same way in; the stopwatch's report on it."""
    with instance.stopwatch(argv, limit_s, output) as stopwatch:
        stopwatch.wait_ready(_READY_LIMIT_S)
        stopwatch.go()
        watch = _launch_watch([instance], output)
        (said,) = wait_all([stopwatch], limit_s + _STOP_SLACK_S, watch)
    instance.fetch(output)
    return said


def prepare_run(instances: Sequence[Instance]) -> None:
    """Run each job's ``prepare``; ``WrongOutput`` if one fails."""
    for instance in instances:
        _run_own(instance, "prepare", instance.job.prepare)


def checked(instances: Sequence[Instance], runs: Sequence[InstanceRun]) -> list[InstanceRun]:
    """The runs, each judged by its job's ``check`` if it ended well and has one."""
    return [_checked(instance, run) for instance, run in zip(instances, runs, strict=True)]


def _checked(instance: Instance, run: InstanceRun) -> InstanceRun:
    if not run.ended_well:
        return run
    try:
        _run_own(instance, "check", instance.job.check)
    except WrongOutput as error:
        said = f": {error.excerpt}" if error.excerpt else ""
        return replace(run, refused=f"{error}{said}"[:_LONGEST_REFUSAL])
    return run


def _run_own(instance: Instance, name: str, argv: tuple[str, ...]) -> None:
    if not argv:
        return
    output = f".{name}"
    done = run_aside(instance, argv, output, instance.limit_s)
    if done["exit_code"] != 0:
        printed = (instance.printed(output, stream) or "" for stream in _STREAMS)
        said = "\n".join(filter(None, map(str.strip, printed)))
        raise WrongOutput(f"--{name} {argv[0]!r}: {ending(done)}", said or None)


def _launch_watch(instances: Sequence[Instance], output: str) -> Callable[[], None]:
    def look() -> None:
        for instance in instances:
            instance.seat.refuse_failed_launch(partial(instance.complaint, output))

    return look


@contextmanager
def ready_instances(instances: Sequence[Instance]) -> Iterator[list[Stopwatch]]:
    """One ready stopwatch for each instance; what prepares its run has ended."""
    prepare_run(instances)
    with ExitStack() as stack:
        provider = instances[0].seat.provider
        stopwatches = for_each(provider, lambda instance: _own_stopwatch(instance, stack), instances)
        for stopwatch in stopwatches:
            stopwatch.wait_ready(_READY_LIMIT_S)
        for instance in instances:
            instance.seat.ways.close()
        yield stopwatches


def _own_stopwatch(instance: Instance, stack: ExitStack) -> Stopwatch:
    """The stopwatch of its command, left with the stack; threads may do so at the same time."""
    entered = instance.stopwatch(
        instance.job.argv,
        instance.limit_s,
        OUTPUT,
        turns=instance.resident is not None,
        reads=instance.job.input,
    )
    stopwatch = (
        entered.__enter__()
    )  # not by the stack, which may be told by threads what to leave, not to enter
    stack.push(entered)
    return stopwatch


def run_on_barrier(
    instances: Sequence[Instance],
    stopwatches: Sequence[Stopwatch],
    tick: Callable[[], None],
    at_end: Callable[[], None],
    beside: Sequence[Beside] = (),
) -> list[InstanceRun]:
    """Send GO to all at once, and wait for all; ``at_end`` is called right after the last DONE.

    ``WrongOutput`` when a command could not be executed at all, ``NodeError`` when a launch cannot go on.
    """
    before = [stopwatch.probe() for stopwatch in stopwatches]
    go_together(stopwatches, before, _start_clocks(instances, before))
    return ended_runs(instances, stopwatches, before, tick, at_end, beside)


def ended_runs(
    instances: Sequence[Instance],
    stopwatches: Sequence[Stopwatch],
    before: Sequence[Sequence[ClockProbe]],
    tick: Callable[[], None] = lambda: None,
    at_end: Callable[[], None] = lambda: None,
    beside: Sequence[Beside] = (),
) -> list[InstanceRun]:
    """Wait for the end of all started commands; ``before``: clock probes from their start. Raises the same errors."""
    watch = _launch_watch(instances, OUTPUT)

    def look() -> None:
        tick()
        watch()

    said = wait_all(stopwatches, instances[0].limit_s + _STOP_SLACK_S, look, beside)
    at_end()
    refuse_unexecuted(said)
    after = [stopwatch.probe() for stopwatch in stopwatches]
    offsets = start_offsets(said, _start_clocks(instances, before))
    runs = []
    for number, words in enumerate(said):
        clocks = compare(words["start_ns"], words["end_ns"], before[number], after[number])
        runs.append(record(number, words, clocks, offsets[number], stopwatches[number].host_span_s))
    return runs


def _start_clocks(instances: Sequence[Instance], before: Sequence[Sequence[ClockProbe]]) -> list[StartClock]:
    return start_clocks(before, [clock_key(instance.seat.node) for instance in instances])


def refuse_unexecuted(said: Sequence[Mapping[str, Any]]) -> None:
    for words in said:
        if words["error"]:
            advice = "is it in the image? (tare image list; tare weigh --bind DIR for your own files)"
            raise WrongOutput(f"{words['error']}; {advice}")


def record(
    number: int, words: Mapping[str, Any], clocks: Clocks, offset: StartOffset, host_span_s: float
) -> InstanceRun:
    return InstanceRun(
        instance=number,
        clocks=clocks,
        start_offset_s=offset.offset_s,
        start_bound_s=offset.bound_s,
        host_span_s=host_span_s,
        **{name: words[name] for name in RUN_FIELDS},
    )
