# SPDX-License-Identifier: Apache-2.0
"""The command line: names, options and help; the work is in ``commands/``, imported on demand."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tare import __version__

EXIT_CODES = (
    "Exit codes: 0 done; 1 a trial failed or --fail-if fell short; 2 the input is wrong; "
    "3 the host cannot do it, or nothing could be compared; 130 interrupted; 141 nobody reads the output."
)
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: a third of the start-up time
    help="What a container or a virtual machine costs a high-performance computing job.",
    epilog=EXIT_CODES,
)
image_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The one root filesystem that every environment runs."
)
app.add_typer(image_app, name="image")

Json = Annotated[bool, typer.Option("--json", help='Print JSON ("schema": 1) instead of tables.')]
Seed = Annotated[int | None, typer.Option(help="Seed of the random order; drawn and logged when left out.")]
As = Annotated[
    str | None, typer.Option("--as", help="Whom commands run as: ordinary, which is usual, root or UID:GID.")
]
Blocks = Annotated[
    int | None, typer.Option(help="Blocks to run; 6 are the fewest that give a 95 % interval.")
]
Budget = Annotated[str | None, typer.Option(help="Hard limit of the time, such as 10m or 1h30m.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Result folder; continued if it is there.")
]
ImageName = Annotated[str, typer.Option("--image", help="Which image to run.")]
FailIf = Annotated[
    list[str] | None,
    typer.Option(help='End with 1 if so: "overhead > 2%", "docker overhead > 2%"; may be repeated.'),
]
Undecided = Annotated[
    str | None,
    typer.Option(metavar="fail|pass", help="What --fail-if says when the data do not tell; fail by default."),
]
Result = Annotated[Path, typer.Argument(help="A result folder.")]


@app.command(epilog=EXIT_CODES)
def run(
    campaign: Annotated[
        str, typer.Argument(help="A preset, a campaign file, or a result folder to continue.")
    ] = "quick",
    output: Output = None,
    blocks: Blocks = None,
    budget: Budget = None,
    seed: Seed = None,
    image: ImageName = "default",
    fail_if: FailIf = None,
    undecided: Undecided = None,
    user: As = None,
    as_json: Json = False,
) -> int:
    """Run a campaign, or continue one."""
    from tare.commands.run import Overrides, run_campaign_command

    conditions = tuple(fail_if or ())
    asked = Overrides(
        blocks=blocks, budget=budget, seed=seed, fail_if=conditions, undecided=undecided, user=user
    )
    return run_campaign_command(campaign, output, asked, image, as_json)


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}, epilog=EXIT_CODES
)
def weigh(
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND...", help="The command and its arguments.")
    ],
    environment: Annotated[
        list[str] | None,
        typer.Option("--env", help="Technology to compare with native; all usable ones by default."),
    ] = None,
    bind: Annotated[
        list[str] | None,
        typer.Option(help="Directory to show to the command at the same path; DIR:rw to write there."),
    ] = None,
    blocks: Blocks = None,
    budget: Budget = None,
    seed: Seed = None,
    user: As = None,
    layout: Annotated[
        str | None, typer.Option(help="NcMpKi; one node with all processors by default.")
    ] = None,
    network: Annotated[
        str | None, typer.Option(help="none, veth, macvlan, host or default; veth between several nodes.")
    ] = None,
    mpi: Annotated[
        bool, typer.Option("--mpi", help="Start it by mpirun, a process for each of its processors.")
    ] = False,
    threads: Annotated[
        int, typer.Option(min=1, help="Of each MPI process, which then has as many processors.")
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
    as_json: Json = False,
) -> int:
    """Weigh your own command natively and in every environment here."""
    from tare.commands.weigh import WeighOptions, run_weigh

    options = WeighOptions(
        command=tuple(command),
        environments=tuple(environment or ()),
        binds=tuple(bind or ()),
        layout=layout,
        network=network,
        mpi=mpi,
        threads=threads,
        profile=profile,
        whole=whole,
        turns=turns,
        blocks=blocks,
        budget=budget,
        seed=seed,
        user=user,
    )
    return run_weigh(options, output, image, as_json)


@app.command()
def plan(
    campaign: Annotated[str, typer.Argument(help="A preset or a campaign file.")] = "quick",
    seed: Seed = None,
    history: Annotated[
        Path | None,
        typer.Option(help="A result of this host that shows its noise; else the newest in ./results."),
    ] = None,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="Measure the noise first: native trials for up to two minutes.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Show what a campaign would run, how long it takes, and what it can decide."""
    from tare.commands.plan import run_plan

    return run_plan(campaign, seed, as_json, history, pilot)


@app.command()
def show(
    result: Result,
    show_all: Annotated[bool, typer.Option("--all", help="Every metric, also the undecided ones.")] = False,
    treatment: Annotated[
        str | None,
        typer.Option(help="For replication: the figures of a paper's own treatment, b16, b17, r15 or l12."),
    ] = None,
    as_json: Json = False,
) -> int:
    """Print a result's tables."""
    from tare.commands.show import run_show

    return run_show(result, as_json, show_all, treatment)


@app.command()
def report(
    result: Result,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The HTML file; RESULT/report.html by default.")
    ] = None,
) -> int:
    """Write a result's report: one self-contained HTML file."""
    from tare.commands.report import run_report

    return run_report(result, output)


@app.command()
def explain(
    result: Result,
    toggle: Annotated[
        list[str] | None,
        typer.Option(metavar="KNOB", help="Turn this one: a knob's name, or OPTION=VALUE. May be repeated."),
    ] = None,
    environment: Annotated[str | None, typer.Option(help="Only of this environment.")] = None,
    workload: Annotated[str | None, typer.Option(help="Only on this workload.")] = None,
    layout: Annotated[str | None, typer.Option(help="Only in this layout.")] = None,
    blocks: Annotated[int, typer.Option(help="Blocks to run; 6 are the fewest that can show a cause.")] = 10,
    budget: Annotated[
        str | None, typer.Option(help="Time for each environment and layout, such as 5m, the default.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Run nothing: say what is suspected and what would be tried.")
    ] = False,
    seed: Seed = None,
    output: Output = None,
    as_json: Json = False,
) -> int:
    """Find the cause of every claim and its cure, by turning one knob at a time."""
    from tare.commands.explain import run_explain
    from tare.commands.explained import ExplainOptions

    options = ExplainOptions(
        toggles=tuple(toggle or ()),
        environment=environment,
        workload=workload,
        layout=layout,
        blocks=blocks,
        budget=budget,
        dry_run=dry_run,
        seed=seed,
        output=output,
    )
    return run_explain(result, options, as_json)


@app.command()
def doctor(
    try_nodes: Annotated[
        bool, typer.Option("--try", help="Also start, enter and stop a node of each.")
    ] = False,
    try_networks: Annotated[
        bool, typer.Option("--networks", help="Also have two nodes of each meet on every kind of network.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Say which environments work here, what the others lack, and what threatens a measurement."""
    from tare.commands.doctor import run_doctor

    return run_doctor(as_json, try_nodes, try_networks)


@app.command()
def calibrate(
    quick: Annotated[
        bool, typer.Option("--quick", help="In 5 minutes instead of 30 to 45; small faults may pass.")
    ] = False,
    output: Output = None,
    estimator: Annotated[
        str, typer.Option(help="Self-test: trimmed-t is broken on purpose and must fail.")
    ] = "aligned-ranks",
    image: ImageName = "default",
    as_json: Json = False,
) -> int:
    """Plant known truths on this host, and show that Tare finds them."""
    from tare.commands.calibrate import CalibrateOptions, run_calibrate

    return run_calibrate(
        CalibrateOptions(quick=quick, output=output, estimator=estimator, image_name=image, as_json=as_json)
    )


@app.command()
def clean(as_json: Json = False) -> int:
    """Remove what a killed run left; nothing of yours is touched."""
    from tare.commands.clean import run_clean

    return run_clean(as_json)


@image_app.command("build")
def image_build(
    name: Annotated[str, typer.Argument()] = "default",
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch the newest packages.")] = False,
    as_json: Json = False,
) -> int:
    """Build the image; nothing is done when it is there and up to date."""
    from tare.commands.image import run_build

    return run_build(name, as_json, refresh=refresh)


@image_app.command("list")
def image_list(as_json: Json = False) -> int:
    """List the images on this host."""
    from tare.commands.image import run_list

    return run_list(as_json)


@image_app.command("verify")
def image_verify(name: Annotated[str, typer.Argument()] = "default", as_json: Json = False) -> int:
    """Check that no byte of an image has changed."""
    from tare.commands.image import run_verify

    return run_verify(name, as_json)


@image_app.command("sbom")
def image_sbom(name: Annotated[str, typer.Argument()] = "default") -> int:
    """Print what an image is made of, as CycloneDX: packages, their files' hashes, licences."""
    from tare.commands.image import run_sbom

    return run_sbom(name)


@image_app.command("import")
def image_import(
    source: Annotated[Path, typer.Argument(help="A directory, a tar file or an OCI archive.")],
    name: Annotated[str, typer.Option(help="What to call it.")] = "imported",
    as_json: Json = False,
) -> int:
    """Take your own root filesystem as an image."""
    from tare.commands.image import run_import

    return run_import(source, name, as_json)


@image_app.command("kernel")
def image_kernel(
    source: Annotated[
        Path | None, typer.Option("--from", help="A kernel's file; else Debian's newest, or this host's own.")
    ] = None,
    modules: Annotated[
        Path | None,
        typer.Option(help="The folder of its modules, with modules.dep; found by itself beside it."),
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch Debian's newest.")] = False,
    as_json: Json = False,
) -> int:
    """Bring a kernel for virtual machines; nothing is done when there is one."""
    from tare.commands.image import run_kernel

    return run_kernel(source, modules, as_json, refresh=refresh)


def _version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold the options of `tare` itself."""


def main() -> None:
    """Run a command; a user sees a sentence and an exit code, never a traceback."""
    from tare.commands.outermost import ended

    sys.exit(ended(lambda: app(standalone_mode=False)))
