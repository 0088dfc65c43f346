# SPDX-License-Identifier: Apache-2.0
"""Commands about this host: ``tare doctor``, ``calibrate`` and ``clean``."""

from typing import Annotated

import typer

from tare.cli.options import Commands, ImageName, Json, Output

app = Commands()


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
    """Say what works here, and what threatens a measurement."""
    from tare.commands.doctor import run_doctor

    return run_doctor(as_json, try_nodes, try_networks)


@app.command()
def calibrate(
    quick: Annotated[
        bool, typer.Option("--quick", help="In 5 minutes instead of 30 to 45; small faults may pass.")
    ] = False,
    output: Output = None,
    estimator: Annotated[
        str, typer.Option(metavar="NAME", help="Self-test: trimmed-t is broken on purpose and must fail.")
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


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> int:
    """Print a script that completes tare's words in a shell."""
    from tare.commands.completion import run_completion

    return run_completion(shell)
