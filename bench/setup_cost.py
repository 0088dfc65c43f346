# SPDX-License-Identifier: Apache-2.0
"""What set-up takes on a fresh machine: wall and CPU seconds, step by step and as a whole, of one tree or of several.

    python -m bench.setup_cost [TREE ...] [--whole-only] [--wheel FILE]            (as root, with a network)

A fresh machine is a root filesystem with Debian's minimum, make and Python, in which what set-up downloads by apt and
pip lies already; what mmdebstrap(1) and the kernel's package bring is fetched, as on any machine. Steps run alone, one
after another; then `make setup` runs as a whole on another such machine. CPU seconds are its control group's. The
claim: what `make setup` of the first tree takes as a whole is at most half of what the last takes, in CPU seconds,
where two are given. --wheel sets up with what `make wheel` made instead of the tree's own programs, and without make.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tare.host import cgroups
from tare.image.store import remove_tree
from tare.image.tool import together

GROUP = f"setup-cost-{os.getpid()}"
LIMIT_S = 3600
MOST = 0.5
PLACE, WHEELS = "/root/tare", "/root/wheels"
MINIMUM = ("ca-certificates", "debian-archive-keyring", "make", "python3")
LISTS = ("scripts/packages.txt",)
MADE = (
    "from tare.image import debian, native, recipe\nfrom tare.image.store import building\nwith building(): "
)
PYTHON, TARE = f"{PLACE}/.venv/bin/python", f"{PLACE}/.venv/bin/tare"
STEPS = {
    "host packages": ("scripts/install-packages", *LISTS),
    ".venv": ("scripts/make-venv",),
    "native on the host": ("scripts/build-native",),
    "builder root": (PYTHON, "-uc", f"{MADE}debian.builder(print)"),
    "native in the builder": (
        *(PYTHON, "-uc"),
        f"{MADE}native.native_programs(recipe.native_source(), print)",
    ),
    "base root": (PYTHON, "-uc", f"{MADE}debian.base(print)"),
    "image put together": (TARE, "image", "build"),
    "kernel": (TARE, "image", "kernel"),
}


class Machine:
    """A root filesystem with a tree in it, whose processes are counted together."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.group = cgroups.create_own_group(GROUP)

    def run(self, argv: Sequence[str]) -> None:
        """To its end, in the tree; what it says is shown when it fails."""
        log = self.root / "root/said"
        with log.open("ab") as said:
            process = subprocess.Popen(
                [*self._entered(), *argv],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                preexec_fn=self._join,  # noqa: PLW1509 - it writes a file and takes no lock
            )
        if process.wait(LIMIT_S) != 0:
            sys.exit(f"{' '.join(argv)} failed:\n{log.read_text(errors='replace')[-3000:]}")

    def _join(self) -> None:
        file = self.group.file("cpuacct", "cgroup.procs") or self.group.file("cpu", "cgroup.procs")
        assert file is not None
        file.write_text(str(os.getpid()))

    def _entered(self) -> list[str]:
        return [
            *("bwrap", "--dev-bind", str(self.root), "/", "--dev-bind", "/dev", "/dev"),
            *("--dev-bind", "/proc", "/proc", "--ro-bind", "/sys", "/sys"),
            *("--die-with-parent", "--cap-add", "ALL"),
            *("--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "--setenv", "HOME", "/root"),
            *("--setenv", "PIP_NO_INDEX", "1", "--setenv", "PIP_FIND_LINKS", WHEELS, "--chdir", PLACE, "--"),
        ]

    def cost(self, work: Callable[[], object]) -> tuple[float, float]:
        """Wall and CPU seconds."""
        before_s, cpu_s = time.monotonic(), self.group.cpu_s()
        work()
        after_s = self.group.cpu_s()
        assert cpu_s is not None
        assert after_s is not None
        return time.monotonic() - before_s, after_s - cpu_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", nargs="*", type=Path, default=[Path()])
    parser.add_argument("--whole-only", action="store_true")
    parser.add_argument("--wheel", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        template = fresh(Path(folder) / "template", chosen.trees)
        if chosen.wheel:
            with machine(template, chosen.trees[0]) as computer:
                show("with the wheel, as a whole", computer.cost(lambda: set_up_from(chosen.wheel, computer)))
            return 0
        wholes = []
        for tree in chosen.trees:
            print(f"{tree.resolve()}\n{'':26}wall s   CPU s", flush=True)
            if not chosen.whole_only:
                steps_alone(template, tree)
            wholes.append(whole(template, tree))
    return claim(wholes)


def claim(wholes: list[float]) -> int:
    if len(wholes) < 2:  # noqa: PLR2004 - nothing to compare
        return 0
    ratio = wholes[0] / wholes[-1]
    print(f"CPU seconds, first against last: {ratio:.2f} (claim: at most {MOST}; 1 round)")
    return 0 if ratio <= MOST else 1


def steps_alone(template: Path, tree: Path) -> None:
    with machine(template, tree) as computer:
        compiled = "build-native" in _text(["make", "-C", str(tree), "--dry-run", "--silent", "setup"])
        for name, argv in STEPS.items():
            if name != "native on the host" or compiled:
                show(name, computer.cost(partial(computer.run, argv)))


def whole(template: Path, tree: Path) -> float:
    with machine(template, tree) as computer:
        wall_s, cpu_s = computer.cost(lambda: computer.run(["make", "setup"]))
    show("make setup, as a whole", (wall_s, cpu_s))
    return cpu_s


def set_up_from(wheel: Path, computer: Machine) -> None:
    """What `make setup` does, but with the wheel: the same order, the same steps at the same time."""
    (computer.root / "root" / wheel.name).write_bytes(wheel.read_bytes())
    computer.run(["scripts/install-packages", "scripts/packages-image.txt"])
    computer.run(["/usr/bin/python3", "-m", "venv", ".venv"])
    computer.run([".venv/bin/pip", "install", "--no-compile", f"/root/{wheel.name}"])
    together(
        *(partial(computer.run, STEPS[name]) for name in ("host packages", "image put together", "kernel"))
    )


def show(name: str, cost: tuple[float, float]) -> None:
    print(f"  {name:24}{cost[0]:6.1f}  {cost[1]:6.1f}", flush=True)


@contextmanager
def machine(template: Path, tree: Path) -> Iterator[Machine]:
    """A fresh one, with what git knows of ``tree`` in it; nothing of it is left."""
    root = template.with_name("machine")
    subprocess.run(["cp", "-a", "--reflink=auto", str(template), str(root)], check=True)
    copy_tree(tree, root / PLACE.lstrip("/"))
    try:
        yield Machine(root)
    finally:
        cgroups.own_group(GROUP).remove()
        remove_tree(root)


def copy_tree(tree: Path, target: Path) -> None:
    target.mkdir()
    files = _text(["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    kept = "".join(f"{name}\0" for name in files.split("\0") if name and not (tree / name).is_symlink())
    packed = subprocess.run(
        ["tar", "-C", str(tree), "--null", "--files-from=-", "-c"],
        input=kept.encode(),
        capture_output=True,
        check=True,
    )
    subprocess.run(["tar", "-C", str(target), "-x", "--no-same-owner"], input=packed.stdout, check=True)


def fresh(template: Path, trees: Sequence[Path]) -> Path:
    """The machine that all start from, with the downloads of each tree."""
    print("making a fresh machine", file=sys.stderr, flush=True)
    argv = ["mmdebstrap", "--mode=root", "--variant=apt", "--skip=cleanup/apt/lists"]
    subprocess.run(
        [*argv, f"--include={','.join(MINIMUM)}", "bookworm", str(template)], check=True, capture_output=True
    )
    (template / "etc/resolv.conf").write_bytes(Path("/etc/resolv.conf").read_bytes())
    (template / PLACE.lstrip("/")).mkdir()
    computer = Machine(template)
    names = {name for tree in trees for name in packages(tree)}
    computer.run(
        ["apt-get", "install", "--yes", "--no-install-recommends", "--download-only", *sorted(names)]
    )
    (template / PLACE.lstrip("/")).rmdir()
    wheels = template / WHEELS.lstrip("/")
    for tree in trees:
        download = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--dest",
            str(wheels),
            "--require-hashes",
        ]
        subprocess.run([*download, "--requirement", str(tree / "requirements/run.txt")], check=True)
    return template


def packages(tree: Path) -> list[str]:
    lines = [line for name in LISTS for line in (tree / name).read_text().splitlines()]
    return [line.split()[0] for line in lines if line.strip() and line[0] != "#"]


def _text(argv: Sequence[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
