# SPDX-License-Identifier: Apache-2.0
"""``tare run``, ``weigh``, ``capacity`` and ``reproduce``."""

from pathlib import Path
from typing import Annotated

import typer

from tare.cli.options import (
    As,
    Blocks,
    Budget,
    Commands,
    Environments,
    FailIf,
    Hosts,
    ImageName,
    Json,
    Output,
    Quiet,
    Seed,
    Undecided,
    Verbose,
    Yes,
    completed,
)
from tare.commands.line import CommandAfterOptions, Shown
from tare.errors import InputError

app = Commands()
_Command = Annotated[
    list[str] | None, typer.Argument(metavar="[--] COMMAND...", help="The command and its arguments.")
]
_Bind = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR", help="Directory to show to the command at the same path; DIR:rw to write there."
    ),
]
_TimeLimit = Annotated[str | None, typer.Option(metavar="TIME", help="Of one run; 1h by default.")]


@app.command()
def run(
    campaign: Annotated[
        str,
        typer.Argument(
            autocompletion=completed("presets"),
            help="A preset, a campaign file, or a result folder to continue.",
        ),
    ] = "quick",
    output: Output = None,
    blocks: Blocks = None,
    more: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Add so many blocks to a finished result: a second look at it."
        ),
    ] = None,
    budget: Budget = None,
    seed: Seed = None,
    hosts: Hosts = None,
    image: ImageName = "default",
    fail_if: FailIf = None,
    undecided: Undecided = None,
    user: As = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="slurm|pbs|lsf|flux",
            help="Submit it as jobs of the cluster, a block each, and watch them: docs/submit.md.",
        ),
    ] = None,
    partition: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the jobs; the cluster's usual one by default.")
    ] = None,
    account: Annotated[
        str | None, typer.Option(metavar="NAME", help="To which the jobs are charged.")
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Of each job; as many as the largest layout needs by default."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Limit of each job, such as 30m; the partition's by default."),
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Submit and leave; tare show says how far it is.")
    ] = False,
    job: Annotated[bool, typer.Option("--job", hidden=True)] = False,
    yes: Yes = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Run a campaign, or continue one."""
    from tare.commands.run import Overrides, run_campaign_command

    conditions = tuple(fail_if or ())
    asked = Overrides(
        blocks=blocks,
        budget=budget,
        seed=seed,
        fail_if=conditions,
        undecided=undecided,
        user=user,
        more=more,
        hosts=hosts,
    )
    shown = Shown(as_json=as_json, quiet=quiet, verbose=verbose, asks=not yes)
    if job:
        from tare.commands.element import run_job

        return run_job(campaign, output, asked, image)
    if on is not None:
        from tare.commands.submit import Submitted, run_on_scheduler

        wanted = Submitted(on=on, partition=partition, account=account, nodes=nodes, time=time, detach=detach)
        return run_on_scheduler(campaign, output, asked, image, wanted, shown)
    if detach or nodes is not None or any((partition, account, time)):
        raise InputError("--partition, --account, --nodes, --time and --detach are for jobs: add --on slurm")
    return run_campaign_command(campaign, output, asked, image, shown)


@app.command()
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            autocompletion=completed("papers"),
            help="b16-stage1, b16-stage2, b16-stage3, b17, y15, r15, l12, or all.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder with a result for each paper; continued."),
    ] = Path("results/reproduce"),
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Limit of each paper's time; problems become smaller to fit it."),
    ] = None,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Measure nothing: list what the results there show.")
    ] = False,
    blocks: Blocks = None,
    seed: Seed = None,
    hosts: Hosts = None,
    image: ImageName = "default",
    user: As = None,
    yes: Yes = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Measure a paper's whole matrix, and list which of its claims hold here."""
    from tare.commands.reproduce import Reproduction, run_reproduce
    from tare.commands.run import Overrides

    asked = Overrides(blocks=blocks, budget=budget, seed=seed, user=user, hosts=hosts)
    wanted = Reproduction(folder=output, asked=asked, image_name=image, runs=not no_run)
    shown = Shown(as_json=as_json, quiet=quiet, verbose=verbose, asks=not yes)
    return run_reproduce(paper, wanted, shown)


@app.command(cls=CommandAfterOptions)
def capacity(
    command: _Command = None,
    loss: Annotated[
        str, typer.Option(metavar="PERCENT", help="How much more time an instance may take than alone.")
    ] = "10%",
    most: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Most neighbours to try; by default two instances for each processor."
        ),
    ] = None,
    environment: Environments = None,
    layout: Annotated[
        str, typer.Option(metavar="1cMp1i", help="An instance alone: one node of M processors.")
    ] = "1c1p1i",
    bind: _Bind = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Of all instances together, such as 4GiB.")
    ] = None,
    time_limit: _TimeLimit = None,
    seed: Seed = None,
    user: As = None,
    output: Output = None,
    image: ImageName = "default",
    yes: Yes = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """How many neighbours fit before an instance of your command loses too much."""
    from tare.commands.capacity import CapacityOptions, run_capacity
    from tare.commands.weigh_files import WeighOptions

    options = WeighOptions(
        command=tuple(command or ()),
        environments=tuple(environment or ()),
        binds=tuple(bind or ()),
        memory=memory,
        time_limit=time_limit,
        layout=layout,
        whole=True,
        seed=seed,
        user=user,
    )
    shown = Shown(as_json=as_json, quiet=quiet, verbose=verbose, asks=not yes)
    return run_capacity(options, CapacityOptions(loss=loss, most=most), output, image, shown)


@app.command(cls=CommandAfterOptions)
def weigh(
    command: _Command = None,
    environment: Environments = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="host", help="Also run it on the host's own files, to tell software from container."
        ),
    ] = None,
    host_variables: Annotated[
        list[str] | None,
        typer.Option(
            "--host-var",
            metavar="NAME[=VALUE]",
            help="Variable for the host's own files alone, which have PATH and LD_LIBRARY_PATH of this shell.",
        ),
    ] = None,
    bind: _Bind = None,
    no_bind: Annotated[
        bool,
        typer.Option(
            "--no-bind", help="Do not show the current directory to a command that names its files."
        ),
    ] = False,
    device: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DEVICE", help="GPU or fabric for every arm: nvidia, amd, dri, infiniband or /dev/NODE."
        ),
    ] = None,
    working_directory: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where the command runs; an empty folder by default.")
    ] = None,
    input_file: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE", help="Standard input of every run; none by default."),
    ] = None,
    variables: Annotated[
        list[str] | None,
        typer.Option(
            "--env-var", metavar="NAME=VALUE", help="Environment variable of the command; may be repeated."
        ),
    ] = None,
    prepare: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run before every run, in the same place, not timed."),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run after every run; it counts only if this ends with 0."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=REGEX",
            help="Figure of merit in the output: its first group. NAME [UNIT, higher]=REGEX states its unit.",
        ),
    ] = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="Of the metric, such as GB/s.")] = None,
    higher_is_better: Annotated[
        bool, typer.Option("--higher-is-better", help="Of the metric; lower is better by default.")
    ] = False,
    variable: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=A,B,C", help="Weigh it with each value in the place of {NAME}, and draw a curve."
        ),
    ] = None,
    blocks: Blocks = None,
    budget: Budget = None,
    time_limit: _TimeLimit = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Of each arm, such as 4GiB; half of the host's by default."),
    ] = None,
    seed: Seed = None,
    user: As = None,
    layout: Annotated[
        str | None, typer.Option(metavar="NcMpKi", help="One node with all processors by default.")
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="none, veth, macvlan, ipvlan, host or default; veth between several nodes."
        ),
    ] = None,
    mpi: Annotated[
        bool, typer.Option("--mpi", help="Start it by mpirun, a process for each of its processors.")
    ] = False,
    launcher: Annotated[
        str,
        typer.Option(
            metavar="tare|image",
            help="By what --mpi starts it: as Open MPI, alike everywhere, or the image's own mpirun as it comes.",
        ),
    ] = "tare",
    threads: Annotated[
        int,
        typer.Option(min=1, metavar="NUMBER", help="Of each MPI process, which then has as many processors."),
    ] = 1,
    profile: Annotated[
        bool, typer.Option("--profile", help="Load the MPI profiler: where the time goes, and why.")
    ] = False,
    turns: Annotated[
        bool,
        typer.Option(
            "--turns", help="It does one iteration for each line that it reads, and answers each with a line."
        ),
    ] = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="Time every run from start to end; else they take turns, frozen between."
        ),
    ] = False,
    output: Output = None,
    image: ImageName = "default",
    no_entrypoint: Annotated[
        bool, typer.Option("--no-entrypoint", help="Run the command without the image's entry point.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Run nothing: say what would be compared, and how.")
    ] = False,
    yes: Yes = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Weigh your own command natively and in every environment here."""
    from tare.commands.weigh import run_weigh
    from tare.commands.weigh_files import WeighOptions

    options = WeighOptions(
        command=tuple(command or ()),
        entrypoint=not no_entrypoint,
        environments=tuple(environment or ()),
        against=against,
        host_variables=tuple(host_variables or ()),
        binds=tuple(bind or ()),
        devices=tuple(device or ()),
        binds_here=not no_bind,
        directory=working_directory,
        input_file=input_file,
        variables=tuple(variables or ()),
        prepare=prepare,
        check=check,
        metrics=tuple(metric or ()),
        unit=unit,
        higher_is_better=higher_is_better,
        variable=variable,
        time_limit=time_limit,
        memory=memory,
        layout=layout,
        network=network,
        mpi=mpi,
        launcher=launcher,
        threads=threads,
        profile=profile,
        whole=whole,
        turns=turns,
        blocks=blocks,
        budget=budget,
        seed=seed,
        user=user,
    )
    shown = Shown(as_json=as_json, quiet=quiet, verbose=verbose, asks=not yes)
    return run_weigh(options, output, image, shown, dry_run=dry_run)
