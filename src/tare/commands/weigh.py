# SPDX-License-Identifier: Apache-2.0
"""``tare weigh``: the user's own command, natively and in every environment here."""

import math
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from tare.commands.images_made import image_of_command, image_to_use
from tare.commands.line import Shown
from tare.commands.plan import show_plan
from tare.commands.run import budget_s, new_folder, run_and_show
from tare.commands.weigh_environments import host_arm, technologies_of
from tare.commands.weigh_files import WeighOptions, asked, binds_of, directory_of, remarks
from tare.errors import ExitCode, ImageError, InputError
from tare.foreign import one_line
from tare.host.facts import memory_byte, online_processors
from tare.host.privileges import ordinary_user
from tare.image import find_image
from tare.image.config import ImageConfig
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.measure.image_config import as_the_image_says
from tare.measure.launches import require_launches
from tare.nodes.provider import BETWEEN_HOSTS
from tare.plan.campaign import Campaign, with_overrides
from tare.plan.factor_tables import level_text
from tare.plan.factors import Factor, Of
from tare.plan.problems import nearest
from tare.plan.schema import LEAST_MEMORY_BYTE, Host, parse_layout
from tare.plan.written import device_here, duration_s, parse_bind, quantity
from tare.records import (
    HOST_FILES,
    USUAL_BOUNDS,
    USUAL_MARGIN,
    Environment,
    Layout,
    Level,
    Limits,
    NetworkKind,
    OptionValue,
    Way,
    Workload,
)
from tare.units import GIBIBYTE, MEBIBYTE, format_byte, parse_byte
from tare.workloads.command import CommandOptions
from tare.workloads.mpi import Launcher

_DEFAULT_BLOCKS = 10
_TIME_LIMIT = "1h"
_OPTION_OF = {
    "figures": "--metric",
    "unit": "--unit",
    "variables": "--env-var",
    "directory": "--working-directory",
    "argv": "the command",
}
"""Key of a command's options → what the command line calls it."""


def run_weigh(
    options: WeighOptions, output: Path | None, image_name: str, shown: Shown, *, dry_run: bool = False
) -> ExitCode:
    """Weigh, and end with one sentence for each environment; ``dry_run``: say what would be run."""
    options, campaign = composed(options, image_name, shown)
    if dry_run:
        _check_launches(campaign, image_to_use(image_name, make=False))
        return show_plan(campaign, shown.as_json)
    image = image_of(image_name, options, campaign)
    folder = ResultFolder(output or new_folder("weigh"))
    return run_and_show(Request(campaign=campaign, folder=folder, image_name=image, pilot=True), shown)


def composed(options: WeighOptions, image_name: str, shown: Shown) -> tuple[WeighOptions, Campaign]:
    """The options as the image completes them, and their campaign; says what a user must know of it."""
    _refuse_contradictions(options)
    config = _config(image_to_use(image_name, make=False))
    options = _with_entrypoint(options, config)
    technologies, absent = technologies_of(options)
    campaign = _campaign(options, technologies)
    if not shown.quiet:
        _say([*absent, *_unapplied(config), *remarks(options, campaign)])
    return options, campaign


def image_of(asked_name: str, options: WeighOptions, campaign: Campaign) -> str:
    """Made now if it is missing, once the options are known to be right: that may take minutes."""
    if options.mpi:
        return image_to_use(asked_name)
    bound = [parse_bind(bind).path for bind in campaign.binds]
    return image_of_command(asked_name, options.command, bound)


def _config(image: str) -> ImageConfig:
    try:
        return ImageConfig.kept(find_image(image).manifest)
    except ImageError:  # said when it is run
        return ImageConfig()


def _check_launches(campaign: Campaign, image_name: str) -> None:
    """As a run does, where the image is there."""
    with suppress(ImageError):
        image = find_image(image_name)
        require_launches(as_the_image_says(campaign, image), image)


def _unapplied(config: ImageConfig) -> list[str]:
    """What the image states and this user cannot have."""
    if config.user.partition(":")[0] in {"", "root", "0"} or not ordinary_user():
        return []
    return [f"the command runs as you, not as the image's user {one_line(config.user)}, which takes root"]


def _with_entrypoint(options: WeighOptions, config: ImageConfig) -> WeighOptions:
    """The command as a container engine composes it: the image's entry point, then the command or the usual one."""
    entrypoint = config.entrypoint if options.entrypoint else ()
    if entrypoint and options.against is not None:
        raise InputError(
            f"--against host: the image's entry point {shlex.join(entrypoint)} would start the command; add "
            "--no-entrypoint, and write the command as the host and the image both have it"
        )
    command = (*entrypoint, *(options.command or config.command))
    if not command:
        raise InputError(
            "there is no command to weigh, and the image has none; write it last: tare weigh [OPTIONS] -- COMMAND"
        )
    return replace(options, command=command, typed=options.command)


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _refuse_contradictions(options: WeighOptions) -> None:
    if not options.mpi and (options.profile or options.threads > 1):
        raise InputError("--profile and --threads are for an MPI program: add --mpi")
    if options.launcher not in get_args(Launcher):
        raise InputError(f"--launcher: {options.launcher!r} is neither tare nor image")
    if options.launcher == "image" and (options.profile or not options.mpi):
        raise InputError("--launcher image is for an MPI program: add --mpi, and leave --profile out")
    if options.turns and (options.whole or options.profile or options.input_file):
        raise InputError("--turns goes with none of --whole, --profile and --input")
    if options.against not in {None, HOST_FILES}:
        raise InputError(f"--against: {options.against!r} is not host, which is all there is besides native")
    if options.host_variables and options.against is None:
        raise InputError("--host-var is for the host's own files: add --against host")
    if not options.metrics and (options.unit or options.higher_is_better):
        raise InputError(
            "--unit and --higher-is-better are about a figure of merit: add --metric 'NAME=REGEX'"
        )


def _campaign(options: WeighOptions, technologies: Sequence[str]) -> Campaign:
    layout, network = _layout(options), _network(options.network)
    binds = binds_of(options)
    campaign = Campaign(
        name="weigh",
        environments=(
            *host_arm(options, network),
            *(Environment(name=name, technology=name, network=network) for name in technologies),
        ),
        layouts=(layout,),
        workloads=(_workload(options, _name(options), options.command),),
        factors=_factors(options),
        limits=Limits(
            memory_byte=_memory_byte(options.memory),
            shm_byte=min(256 * MEBIBYTE, _memory_byte(options.memory)),
            time_s=asked("--time-limit", duration_s, options.time_limit or _TIME_LIMIT),
            bounds=USUAL_BOUNDS,
        ),
        blocks=_DEFAULT_BLOCKS,
        margin=USUAL_MARGIN,
        budget_s=None,
        seed=None,
        binds=binds,
        devices=tuple(dict.fromkeys(asked("--device", device_here, text) for text in options.devices)),
    )
    return with_overrides(
        campaign,
        blocks=options.blocks,
        budget_s=budget_s(options.budget),
        seed=options.seed,
        user=options.user,
    )


def _memory_byte(text: str | None) -> int:
    most_byte = memory_byte()
    if text is None:
        return max(GIBIBYTE, most_byte // 2)
    asked_byte = round(asked("--memory", quantity(parse_byte, "4GiB"), text))
    if not LEAST_MEMORY_BYTE <= asked_byte <= most_byte:
        least, most = format_byte(LEAST_MEMORY_BYTE), format_byte(most_byte)
        raise InputError(f"--memory: {text} is not between {least} and this host's {most}")
    return asked_byte


def _name(options: WeighOptions) -> str:
    return Path(options.command[0]).name or "command"


def _factors(options: WeighOptions) -> tuple[Factor, ...]:
    """The values of ``--variable``, each in its place in the command."""
    if options.variable is None:
        return ()
    variable, values = _sweep(options.variable)
    mark = f"{{{variable}}}"
    if not any(mark in word for word in options.command):
        raise InputError(f"--variable: the command does not hold {mark}, where its values would go")
    numbers: Sequence[float | None] = _numbers(values) or [None] * len(values)
    levels = tuple(
        Level(key=variable, text=level_text(value), number=number)
        for value, number in zip(values, numbers, strict=True)
    )
    if len({level.text for level in levels}) < len(levels):
        raise InputError(
            "--variable: two values read alike without their special characters; name them apart"
        )
    return (
        Factor(key=variable, of=Of.ARGUMENT, levels=levels, values=tuple(values), names=(_name(options),)),
    )


def _numbers(values: Sequence[str]) -> list[float] | None:
    """The values as numbers, which make a curve; ``None`` if one is none, or below 0, which no axis has."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return None
    return (
        numbers
        if all(0 <= number < math.inf for number in numbers) and len(set(numbers)) == len(numbers)
        else None
    )


def _sweep(text: str) -> tuple[str, list[str]]:
    """``"n=1,2,4"`` → its name and values; ``InputError`` for fewer than two values or equal ones."""
    name, separator, listed = text.partition("=")
    values = listed.split(",")
    if not separator or not name.isidentifier():
        raise InputError(f"--variable: {text!r} is no variable with values; write such as n=1000,2000,4000")
    if len(values) < 2 or "" in values or len(set(values)) < len(values):  # noqa: PLR2004 - one is no sweep
        raise InputError(f"--variable: {name} needs two or more different values; write such as {name}=1,2,4")
    return name, values


def _workload(options: WeighOptions, name: str, command: Sequence[str]) -> Workload:
    chosen: dict[str, OptionValue] = {
        "argv": list(command),
        "mpi": options.mpi,
        "threads": options.threads,
        "profile": options.profile,
        "turns": options.turns,
    }
    written: dict[str, OptionValue | None] = {
        "launcher": options.launcher if options.launcher == "image" else None,
        "directory": directory_of(options),
        "input": str(options.input_file.resolve()) if options.input_file else None,
        "variables": list(options.variables),
        "prepare": _words("--prepare", options.prepare),
        "check": _words("--check", options.check),
        "figures": list(options.metrics),
        "unit": options.unit,
        "higher_is_better": options.higher_is_better,
    }
    chosen |= {key: value for key, value in written.items() if value}
    try:
        merits = CommandOptions.model_validate(chosen).merits
    except ValidationError as error:
        raise InputError(_complaint(error)) from error
    figures = tuple(merit.name for merit in merits if not merit.places)
    return Workload(name=name, kind="command", options=chosen, way=_way(options), primary=figures)


def _complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    said = first["msg"].removeprefix("Value error, ")
    return f"{_OPTION_OF.get(key, key)}: {said}" if key else said


def _words(option: str, text: str | None) -> list[str]:
    """A command's words, as a shell would split them; none is started."""
    words = asked(option, shlex.split, text) if text is not None else []
    if text is not None and not words:
        raise InputError(f"{option}: the command is empty")
    return words


def _way(options: WeighOptions) -> Way:
    if options.turns:
        return Way.SLICES
    whole = options.whole or options.profile or options.metrics or options.devices
    return Way.WHOLE if whole else Way.FREEZER


def _layout(options: WeighOptions) -> Layout:
    processors = len(online_processors())
    if options.layout is None:
        return Layout(nodes=1, processors=processors, instances=1)
    layout = asked(
        "--layout", lambda text: parse_layout(text, Host(processors, memory_byte())), options.layout
    )
    if layout.cooperative and not options.mpi:
        raise InputError(
            f"--layout: in {layout} an instance spans nodes, which takes an MPI program: add --mpi"
        )
    return layout


def _network(text: str | None) -> NetworkKind | None:
    if text is None:
        return None
    kinds = [kind for kind in NetworkKind if kind not in BETWEEN_HOSTS]
    if text not in kinds:
        raise InputError(f"--network: {text!r} is none of {', '.join(kinds)}{nearest(text, kinds)}")
    return NetworkKind(text)
