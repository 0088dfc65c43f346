# SPDX-License-Identifier: Apache-2.0
"""Commands about results: ``tare plan``, ``show``, ``compare``, ``report``, ``serve``, ``export`` and others."""

from pathlib import Path
from typing import Annotated

import typer

from tare.cli.options import Budget, Commands, Hosts, Json, Output, Result, Seed

app = Commands()
View = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="VIEW",
        help="A paper's table or figure beside ours, such as b16:fig20; list shows which there are.",
    ),
]


@app.command()
def plan(
    campaign: Annotated[str, typer.Argument(help="A preset or a campaign file.")] = "quick",
    seed: Seed = None,
    budget: Budget = None,
    hosts: Hosts = None,
    history: Annotated[
        Path | None,
        typer.Option(
            metavar="RESULT", help="A result of this host that shows its noise; else the newest in ./results."
        ),
    ] = None,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="Measure the noise first: native trials for up to two minutes.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Show what a campaign would run, and for how long."""
    from tare.commands.plan import run_plan

    return run_plan(campaign, seed, as_json, history, pilot, hosts, budget)


@app.command()
def show(
    result: Result,
    show_all: Annotated[bool, typer.Option("--all", help="Every metric, also the undecided ones.")] = False,
    treatment: Annotated[
        str | None,
        typer.Option(
            metavar="PAPER",
            help="For replication: the figures of a paper's own treatment, b16, b17, r15 or l12.",
        ),
    ] = None,
    view: View = None,
    as_json: Json = False,
) -> int:
    """Print a result's tables."""
    from tare.commands.show import run_show

    return run_show(result, as_json, show_all, treatment, view)


@app.command()
def compare(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT...",
            help="Result folders, or what other tools wrote, also as NAME=FILE. The first is the reference.",
        ),
    ],
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also every metric, in a table.")] = False,
    as_json: Json = False,
) -> int:
    """Compare results, or files of hyperfine and other tools: how two measurements differ, whatever it comes from."""
    from tare.commands.compare import run_compare

    return run_compare(results, as_json, verbose)


@app.command()
def history(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with results.")] = Path(
        "results"
    ),
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help='End with 1 if the newest is so: "docker overhead worse by 2%"; may be repeated. It takes four '
            "earlier results on different days; with fewer the answer is undecided.",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the answers as JUnit XML.")
    ] = None,
    annotations: Annotated[
        str | None,
        typer.Option(
            metavar="github|gitlab", help="Workflow commands, or the file gl-code-quality-report.json."
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also the metrics that are not primary.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Show results by date; with --fail-if a gate for regressions."""
    from tare.commands.history import HistoryOptions, run_history

    options = HistoryOptions(
        fail_if=tuple(fail_if or ()),
        junit=junit,
        annotations=annotations,
        verbose=verbose,
        as_json=as_json,
    )
    return run_history(directory, options)


@app.command()
def report(
    result: Result,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The HTML file; RESULT/report.html by default."),
    ] = None,
    view: View = None,
) -> int:
    """Write a result's report: one self-contained HTML file."""
    from tare.commands.report import run_report

    return run_report(result, output, view)


@app.command()
def serve(
    places: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RESULT|FOLDER", help="Results, or folders with them; ./results by default."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="NUMBER", help="Port to listen on; 0 takes a free one.")
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address to listen on; others than this host need --yes-i-share."
        ),
    ] = "127.0.0.1",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
    shares: Annotated[
        bool, typer.Option("--yes-i-share", help="Let other hosts in, unencrypted, by the token alone.")
    ] = False,
) -> int:
    """Explore results in a browser, also while they are measured."""
    from tare.commands.serve import run_serve

    return run_serve(places or [], host, port, opens_browser=not no_browser, shares=shares)


@app.command()
def export(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT", help="A result folder, a trace of the profiler, or files of other tools."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A new file; its name ends with .csv, .parquet, .md, .tex, .json or .tar.gz. For figures a folder.",
        ),
    ],
    table: Annotated[
        str, typer.Option(metavar="verdicts|samples", help="Which table, in CSV and Parquet.")
    ] = "verdicts",
    kind: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Instead of the name's ending; archive is .tar.gz; svg, pdf and tikz are all figures; "
            "simgrid and otf2 are for traces.",
        ),
    ] = None,
) -> int:
    """Write a result for other programs, papers and repeaters."""
    from tare.commands.export import run_export

    return run_export(results, output, table, kind)


@app.command()
def publish(
    result: Result,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder.")],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Of the artifact.")] = None,
    author: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help='"Family, Given", an ORCID behind it; may be repeated.'),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option("--licence", "--license", metavar="SPDX", help="Of the data, such as CC-BY-4.0."),
    ] = None,
    named: Annotated[
        bool, typer.Option("--named", help="Keep the names of hosts, users and folders; hidden by default.")
    ] = False,
) -> int:
    """Write a paper's methods, figures and artifact from a result."""
    from tare.commands.publish import PublishOptions, run_publish

    options = PublishOptions(title=title, authors=tuple(author or ()), licence=licence, named=named)
    return run_publish(result, output, options)


@app.command()
def explain(
    result: Result,
    toggle: Annotated[
        list[str] | None,
        typer.Option(metavar="KNOB", help="Turn this one: a knob's name, or OPTION=VALUE. May be repeated."),
    ] = None,
    environment: Annotated[
        str | None, typer.Option("--env", "--environment", metavar="NAME", help="Only of this environment.")
    ] = None,
    workload: Annotated[str | None, typer.Option(metavar="NAME", help="Only on this workload.")] = None,
    layout: Annotated[str | None, typer.Option(metavar="NcMpKi", help="Only in this layout.")] = None,
    blocks: Annotated[
        int,
        typer.Option(
            min=1, max=1000, metavar="NUMBER", help="Blocks to run; 6 are the fewest that can show a cause."
        ),
    ] = 10,
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time for each environment and layout, such as 5m, the default."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Run nothing: say what is suspected and what would be tried.")
    ] = False,
    seed: Seed = None,
    output: Output = None,
    as_json: Json = False,
) -> int:
    """Find the cause of every claim, and its cure."""
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
def advise(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULT]...", help="Results with the application, such as of tare weigh."),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The application, if it is not the only command in them."),
    ] = None,
    layout: Annotated[str | None, typer.Option(metavar="NcMpKi", help="Only in this layout.")] = None,
    needs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NEEDS",
            help='What it uses and requires: "messages 1000/s, memory-bound, no root"; or a TOML file.',
        ),
    ] = None,
    count_calls: Annotated[
        bool,
        typer.Option(
            "--count-calls", help="First count the system calls of the RESULTs' programs, in spare runs."
        ),
    ] = False,
    known: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="A folder with results of known workloads; ./results by default."),
    ] = None,
    as_json: Json = False,
) -> int:
    """Which environment for which application, and why."""
    from tare.commands.advise import AdviseOptions, run_advise

    options = AdviseOptions(
        workload=workload,
        layout=layout,
        needs=tuple(needs or ()),
        known=tuple(known or [Path("results")]),
        count_calls=count_calls,
        as_json=as_json,
    )
    return run_advise(tuple(results or ()), options)
