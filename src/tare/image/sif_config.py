# SPDX-License-Identifier: Apache-2.0
"""What a SIF states about its commands, in scripts of its own, which are read and never run.

Apptainer writes them from a definition file, or from a container image, of which it keeps the variables,
the entry point and the usual arguments. Source: what ``apptainer build`` of 1.4 writes; apptainer-build(1).
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tare.foreign import one_line
from tare.image.config import ImageConfig
from tare.image.tool import Progress
from tare.nodes.files import opened_inside

_FOLDER = ".singularity.d"
_ENVIRONMENT = ("env/10-docker2singularity.sh", "env/90-environment.sh")
_RUN = "runscript"
_NO_RUN = "There is no runscript defined"
_TEXT_BYTE = 1 << 20
_ASSIGNED = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_DEFAULT = r'"\$\{{{name}:-"([^"$`\\]*)"\}}"'
"""As a variable of a container image is written: the value, unless the caller has set another."""
_VALUE = re.compile(r"""(?:"([^"`\\]*)"|'([^']*)'|([^\s"'`\\;&|<>()]*))\s*;?\s*""")
_REFERENCE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_USUAL = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
"""Before any assignment; every other variable is empty."""


def sif_config(root: Path, progress: Progress) -> ImageConfig:
    """Its variables, and its runscript as the usual command, as ``apptainer run`` has them.

    What only a shell could know, such as the output of a command, is left out, and said.
    """
    variables: dict[str, str] = {}
    for name, text in _assignments(root):
        value = _value(name, text, _USUAL | variables)
        if value is None:
            progress(f"left out the variable {name}, whose value takes a shell: {one_line(text, 80)}")
        else:
            variables[name] = value
    script = _text(root, _RUN)
    command = (f"/{_FOLDER}/{_RUN}",) if script and _NO_RUN not in script else ()
    return ImageConfig(variables=variables, command=command)


def _assignments(root: Path) -> Iterator[tuple[str, str]]:
    for file in _ENVIRONMENT:
        for line in _text(root, file).splitlines():
            if match := _ASSIGNED.fullmatch(line):
                yield match[1], match[2]


def _value(name: str, text: str, known: Mapping[str, str]) -> str | None:
    """A word as a shell would read it, if it holds nothing but text and known variables; else ``None``."""
    if match := re.fullmatch(_DEFAULT.format(name=name), text.strip()):
        return match[1]
    match = _VALUE.fullmatch(text)
    if match is None:
        return None
    if match[2] is not None:
        return match[2]
    plain = match[1] if match[1] is not None else match[3]
    if "$" in _REFERENCE.sub("", plain):
        return None
    return _REFERENCE.sub(lambda reference: known.get(reference[1] or reference[2], ""), plain)


def _text(root: Path, name: str) -> str:
    with opened_inside(root, f"{_FOLDER}/{name}") as opened:
        return "" if opened is None else opened.read(_TEXT_BYTE).decode(errors="replace")
