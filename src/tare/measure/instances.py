# SPDX-License-Identifier: Apache-2.0
"""K instances of a workload in the nodes of a trial: made ready, started on one barrier, and collected."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tare.environments.provider import Node, Provider
from tare.errors import WrongOutput
from tare.measure.clocks import compare, host_start_ns
from tare.measure.context import MINIMAL_VARIABLES
from tare.measure.node_files import opened_inside
from tare.measure.placement import NodePlace
from tare.measure.protocol import RUN_FIELDS
from tare.measure.stopwatch import Command, Stopwatch, wait_all
from tare.records import Clocks, InstanceRun, Limits
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind

_READY_LIMIT_S = 30.0
_STOP_SLACK_S = 15.0
_OUTPUT_LIMIT_BYTE = 16 << 20
_HEAD_BYTE = 2000
_FILE_LIMIT_BYTE = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance, its node and its job."""

    number: int
    node: Node
    provider: Provider
    processors: tuple[int, ...]
    memory_byte: int
    job: Job
    limits: Limits

    @property
    def folder(self) -> Path:
        """Its own folder, as the host sees it."""
        return self.node.spec.work / f"i{self.number}"

    def stopwatch(self, argv: tuple[str, ...], limit_s: float, output: str) -> Stopwatch:
        """Start a stopwatch that will run ``argv`` in the node and keep what it prints in the folder ``output``."""
        inside = f"{self.node.work_directory}/i{self.number}"
        command = Command(
            argv=argv,
            directory=self.job.directory or inside,
            variables={**MINIMAL_VARIABLES, **self.node.variables, **self.job.variables},
            limit_s=limit_s,
            processors=self.processors,
            file_limit_byte=min(_FILE_LIMIT_BYTE, self.memory_byte // 2),
        )
        (self.folder / output).mkdir()
        prefix = self.provider.prefix(self.node)
        program = f"{self.node.tools_directory}/stopwatch"
        return Stopwatch([*prefix, program, *command.options(f"{inside}/{output}")])

    def output(self) -> Output:
        """What it printed and left; ``WrongOutput`` when that is longer than any benchmark's."""
        found = {name: self.read(name) for name in self.job.collect}
        return Output(
            stdout=self.read(".output/stdout") or "",
            stderr=self.read(".output/stderr") or "",
            files={name: text for name, text in found.items() if text is not None},
        )

    def read(self, name: str) -> str | None:
        """A file of its folder as text; ``None`` when there is no such regular file."""
        with opened_inside(self.node.spec.work, f"{self.folder.name}/{name}") as opened:
            if opened is None:
                return None
            content = opened.read(_OUTPUT_LIMIT_BYTE + 1)
        if len(content) > _OUTPUT_LIMIT_BYTE:
            head = content[:_HEAD_BYTE].decode(errors="replace")
            raise WrongOutput(f"{name} is longer than {_OUTPUT_LIMIT_BYTE >> 20} MiB", head)
        return content.decode(errors="replace")


def make_instances(
    kind: WorkloadKind,
    options: Options,
    places: Sequence[tuple[Node, NodePlace]],
    limits: Limits,
    provider: Provider,
) -> list[Instance]:
    """All instances in the order of their numbers, their input files written."""
    found = []
    for node, place in places:
        memory_byte = place.memory_byte // len(place.instances)
        for number in place.instances:
            processors = place.instance_processors(number)
            shape = Shape(
                processors=len(processors),
                memory_byte=memory_byte,
                instance=number,
                tools_directory=node.tools_directory,
            )
            job = kind.job(options, shape)
            instance = Instance(
                number=number,
                node=node,
                provider=provider,
                processors=processors,
                memory_byte=memory_byte,
                job=job,
                limits=limits,
            )
            _write_files(instance)
            found.append(instance)
    return sorted(found, key=lambda instance: instance.number)


def _write_files(instance: Instance) -> None:
    instance.folder.mkdir()
    for name, text in instance.job.files.items():
        path = instance.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def gather_evidence(instance: Instance) -> dict[str, str]:
    """Run the job's evidence commands; a failing one is evidence too."""
    facts = {}
    for index, (label, argv) in enumerate(instance.job.evidence.items()):
        output = f".evidence{index}"
        with instance.stopwatch(argv, _READY_LIMIT_S, output) as stopwatch:
            stopwatch.wait_ready(_READY_LIMIT_S)
            stopwatch.go()
            (said,) = wait_all([stopwatch], _READY_LIMIT_S + _STOP_SLACK_S)
            stopwatch.quit()
        text = (instance.read(f"{output}/stdout") or "").strip()
        problem = said["error"] or f"{argv[0]} ended with {said['exit_code']}"
        facts[label] = text if said["exit_code"] == 0 else f"not known: {problem}"
    return facts


@contextmanager
def ready_instances(instances: Sequence[Instance]) -> Iterator[list[Stopwatch]]:
    """One ready stopwatch for each instance."""
    with ExitStack() as stack:
        stopwatches = []
        for instance in instances:
            started = instance.stopwatch(instance.job.argv, instance.limits.time_s, ".output")
            stopwatches.append(stack.enter_context(started))
        for stopwatch in stopwatches:
            stopwatch.wait_ready(_READY_LIMIT_S)
        yield stopwatches


def run_on_barrier(
    stopwatches: Sequence[Stopwatch], limit_s: float, tick: Callable[[], None], at_end: Callable[[], None]
) -> list[InstanceRun]:
    """GO to all at once, wait for all; ``at_end`` is called right after the last DONE.

    ``WrongOutput`` when a command could not be executed at all.
    """
    before = [stopwatch.probe() for stopwatch in stopwatches]
    for stopwatch in stopwatches:
        stopwatch.go()
    said = wait_all(stopwatches, limit_s + _STOP_SLACK_S, tick)
    at_end()
    _refuse_unexecuted(said)
    after = [stopwatch.probe() for stopwatch in stopwatches]
    for stopwatch in stopwatches:
        stopwatch.quit()
    starts = [host_start_ns(words["start_ns"], probes) for words, probes in zip(said, before, strict=True)]
    runs = []
    for number, words in enumerate(said):
        clocks = compare(words["start_ns"], words["end_ns"], before[number], after[number])
        offset_s = (starts[number] - min(starts)) * 1e-9
        runs.append(_record(number, words, clocks, offset_s))
    return runs


def _refuse_unexecuted(said: Sequence[Mapping[str, Any]]) -> None:
    for words in said:
        if words["error"]:
            advice = "is it in the image? (tare image list; tare weigh --bind DIR for your own files)"
            raise WrongOutput(f"{words['error']}; {advice}")


def _record(number: int, words: Mapping[str, Any], clocks: Clocks, offset_s: float) -> InstanceRun:
    return InstanceRun(
        instance=number,
        clocks=clocks,
        start_offset_s=offset_s,
        **{name: words[name] for name in RUN_FIELDS},
    )
