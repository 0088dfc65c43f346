# SPDX-License-Identifier: Apache-2.0
"""``tare completion``: a script that completes commands, options and names in a shell."""

from collections.abc import Iterable

from tare.errors import ExitCode, InputError, TareError

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_TARE_COMPLETE"
"""The shell's script asks ``tare`` for words with this variable set (typer, completion)."""


def run_completion(shell: str) -> ExitCode:
    """Print the script for ``shell``; ``InputError`` for another shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # not listed there

    if shell not in SHELLS:
        raise InputError(f"{shell}: there is no completion for this shell; choose one of {', '.join(SHELLS)}")
    print(get_completion_script(prog_name="tare", complete_var=VARIABLE, shell=shell))
    return ExitCode.DONE


def environments(incomplete: str) -> list[str]:
    """Technologies that begin so."""
    from tare.environments import PROVIDERS

    return _beginning(PROVIDERS, incomplete)


def images(incomplete: str) -> list[str]:
    """Images on this host that begin so."""
    from tare.image import list_images

    try:
        return _beginning((image.name for image in list_images()), incomplete)
    except TareError:  # a shell shows no message here
        return []


def presets(incomplete: str) -> list[str]:
    """Presets that begin so."""
    from tare.plan.campaign import preset_names

    return _beginning(preset_names(), incomplete)


def papers(incomplete: str) -> list[str]:
    """Papers that begin so."""
    from tare.papers import PAPERS

    return _beginning((*PAPERS, "all"), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
