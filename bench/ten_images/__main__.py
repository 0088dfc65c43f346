# SPDX-License-Identifier: Apache-2.0
r"""Ten images of other people's making, each weighed in four environments, or refused in words.

    PATH=$PWD/build/apptainer/bin:$PATH \
        scripts/with-dockerd .venv/bin/python -m bench.ten_images --folder DIR [--only NAME]...      (as root)

Makes Debian roots in DIR/roots once (about 1.4 GB), and the images in DIR/made anew. Each command ends with 0 only if
the variables, directory, user, files and libraries are as its image states, so a verdict says that they were, in every
arm. Prints a table and writes it to DIR/ten-images.txt; ends with 1 if an image had neither verdicts nor a reason.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ten_images.images import TEN, ForeignImage
from bench.ten_images.roots import Workshop
from tare.host.facts import online_processors
from tare.image.sources import image_name

ENVIRONMENTS = ("docker", "podman", "apptainer", "bubblewrap")
WAY_OUT = ("--launcher", "image")
LIMIT_S = 1800.0


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    form: str
    holds: str
    cells: Mapping[str, str]
    is_answered: bool
    """Whether each environment has a verdict or a reason."""


def weighed(image: ForeignImage, source: str, folder: Path, blocks: int, more: Sequence[str] = ()) -> Row:
    """One row; its reasons are what the command line says."""
    result = folder / "-".join([image.name, *(word.strip("-") for word in more)])
    shutil.rmtree(result, ignore_errors=True)
    command = [word.format(ranks=len(online_processors())) for word in image.command]
    arms = [word for name in ENVIRONMENTS for word in ("--env", name)]
    argv = ["weigh", "--image", source, *arms, "--blocks", str(blocks), *image.options, *more]
    done = tare(*argv, "--json", "--quiet", "--output", str(result), *(["--", *command] if command else []))
    (folder / f"{result.name}.stderr").write_text(done.stderr)
    document = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    cells = dict(_cells(document))
    reason = next((line for line in done.stderr.splitlines() if line.startswith("tare: ")), "it said nothing")
    answered = all(name in cells for name in ENVIRONMENTS) or (
        done.returncode in {2, 3} and "Traceback" not in done.stderr
    )
    return Row(
        f"{image.name} {' '.join(more)}".strip(),
        image.form,
        image.holds,
        {name: cells.get(name, reason.replace("tare:", "no:")) for name in ENVIRONMENTS},
        answered,
    )


def tare(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tare", *words], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def _cells(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for skipped in document.get("skipped", []):
        yield skipped["environment"], f"no: {skipped['reason']}"
    for lost in document.get("lost", []):
        yield lost["environment"], f"lost: {lost['reason']}"
    for verdict in document.get("verdicts", []):
        if verdict["primary"]:
            yield verdict["environment"], f"{verdict['word']} (n = {verdict['typical']['n']})"


def rows(chosen: Sequence[ForeignImage], folder: Path, blocks: int) -> Iterator[Row]:
    workshop = Workshop(folder)
    for image in chosen:
        print(f"{image.name}: making the {image.form}", file=sys.stderr, flush=True)
        source = image.make(workshop, image.name)
        row = weighed(image, source, folder, blocks)
        yield row
        if " ".join(WAY_OUT) in " ".join(row.cells.values()):
            yield weighed(image, source, folder, blocks, WAY_OUT)
        remove(source)
        shutil.rmtree(folder / "made")


def remove(source: str) -> None:
    tare("image", "rm", image_name(source))
    engine, separator, name = source.partition(":")
    if separator and "/" not in engine:
        subprocess.run([engine, "rmi", name], capture_output=True, timeout=LIMIT_S, check=False)


def table(listed: Sequence[Row]) -> str:
    lines = ["| image | form | holds | " + " | ".join(ENVIRONMENTS) + " |", "|---" * 7 + "|"]
    for row in listed:
        cells = [row.cells[name] for name in ENVIRONMENTS]
        same = [cells[0], *("as docker" if cell == cells[0] else cell for cell in cells[1:])]
        shown = same if cells[0].startswith("no: ") else cells
        lines.append(f"| {row.name} | {row.form} | {row.holds} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--only", action="append", choices=[image.name for image in TEN])
    asked = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("run it as root: docker's nodes need it")
    folder = asked.folder.resolve()
    shutil.rmtree(folder / "made", ignore_errors=True)
    listed = list(
        rows([image for image in TEN if asked.only is None or image.name in asked.only], folder, asked.blocks)
    )
    text = table(listed)
    (folder / "ten-images.txt").write_text(text)
    print(text)
    return 0 if all(row.is_answered for row in listed) else 1


if __name__ == "__main__":
    sys.exit(main())
