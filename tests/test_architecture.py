# SPDX-License-Identifier: Apache-2.0
"""The tree is the pipeline: nothing imports against plan → measure → treat → analyze → report."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from scripts import draw_architecture
from tests.conftest import REPOSITORY

SOURCE = REPOSITORY / "src" / "tare"
BASE = {
    "causes",
    "collection",
    "errors",
    "foreign",
    "on_demand",
    "records",
    "statistics",
    "units",
    "untrusted",
}
ALLOWED: dict[str, set[str]] = {
    "causes": set(),
    "errors": set(),
    "collection": set(),
    "foreign": set(),
    "on_demand": set(),
    "statistics": set(),
    "units": set(),
    "untrusted": set(),
    "records": {"statistics"},
    "host": {"errors", "units", "untrusted"},
    "nodes": BASE | {"host"},
    "image": BASE | {"host", "nodes"},
    "guests": BASE | {"host", "image", "nodes"},
    "engines": BASE | {"host", "nodes"},
    "environments": BASE | {"engines", "guests", "host", "nodes"},
    "network": BASE | {"environments", "guests", "host", "nodes"},
    "node_life": {"errors", "host", "network", "nodes"},
    "signals": BASE | {"host", "nodes"},
    "far": BASE | {"environments", "host", "image", "network", "node_life", "nodes", "signals"},
    "workloads": BASE | {"host"},
    "imports": BASE | {"host", "workloads"},
    "traces": {"errors", "host", "untrusted"},
    "plan": BASE | {"engines", "environments", "nodes", "workloads"},
    "journal": BASE | {"host"},
    "submission": BASE | {"host", "journal", "nodes"},
    "measure": BASE
    | {
        *("environments", "host", "image", "journal", "network", "node_life", "nodes", "plan", "signals"),
        "workloads",
    },
    "papers": {"errors", "records"},
    "treat": {"records"},
    "analyze": {"causes", "records", "statistics", "treat", "units"},
    "drawing": {"errors", "foreign", "records", "units"},
    "report": BASE | {"analyze", "drawing", "statistics", "treat"},
    "publication": BASE | {"analyze", "drawing", "host", "image", "journal", "report"},
    "calibrate": BASE
    | {"analyze", "environments", "host", "journal", "measure", "nodes", "plan", "treat", "workloads"},
    "pipeline": BASE | {"analyze", "journal", "measure", "plan", "treat", "workloads"},
    "serve": BASE | {"analyze", "drawing", "host", "journal", "measure", "pipeline", "report", "treat"},
}
"""Part of the program → what else of it each may import; every part may import itself."""
EVERYTHING = {"cli", "commands", "__main__"}
PURE = {"statistics", "treat", "analyze"}
PURE_MODULES = {
    "bisect",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "itertools",
    "math",
    "numpy",
    "statistics",
    "typing",
}
STARTING = {
    "measure",
    "submission",
    "engines",
    "environments",
    "nodes",
    "guests",
    "network",
    "image",
    "host",
    "far",
}
HEAVY = {"numpy", "scipy", "altair", "vl_convert", "pydantic", "jinja2", "duckdb", "pyarrow"}
FILES = sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The folder or the file directly below ``tare``."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imported(text: str) -> frozenset[str]:
    """Every module that a source text imports, anywhere in it; ``from a import b`` counts as ``a.b`` too."""
    return frozenset(_imported(text))


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide what is imported"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_parts(text: str) -> set[str]:
    return {name.split(".")[1] for name in imported(text) if name.startswith("tare.")} - {"__version__"}


@cache
def calls(text: str) -> frozenset[str]:
    """Names called, ``open`` or ``os.fork``."""
    nodes = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return frozenset(ast.unparse(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute))


def against_the_flow(part: str, text: str) -> set[str]:
    return own_parts(text) - ALLOWED[part] - {part}


def impure(text: str) -> set[str]:
    outside = {name.split(".")[0] for name in imported(text)} - {"tare"} - PURE_MODULES
    return outside | (calls(text) & {"open", "print", "input", "exec", "eval", "__import__"})


def starters(text: str) -> set[str]:
    """What in a source text starts processes, without going through ``tare.host.process``."""
    modules = {
        name for name in imported(text) if name.split(".")[0] in {"subprocess", "multiprocessing", "pty"}
    }
    prefixes = ("os.fork", "os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.popen", "process.run")
    return modules | {name for name in calls(text) if name.startswith((*prefixes, "process.start_idle"))}


def test_every_part_of_the_program_has_its_place() -> None:
    assert {part_of(path) for path in FILES} - {"__init__"} == set(ALLOWED) | EVERYTHING


def test_the_table_itself_has_no_circle() -> None:
    placed: set[str] = set()
    while ready := {part for part in ALLOWED if part not in placed and ALLOWED[part] <= placed}:
        placed |= ready
    assert placed == set(ALLOWED)


def offenders(judge: Callable[[Path], set[str]], parts: Callable[[str], bool]) -> dict[str, set[str]]:
    """Each file of these parts that breaks a rule, and with what."""
    judged = {str(path.relative_to(SOURCE)): judge(path) for path in FILES if parts(part_of(path))}
    assert judged, "no file was checked"
    return {name: broken for name, broken in judged.items() if broken}


def test_nothing_imports_against_the_flow() -> None:
    assert (
        offenders(
            lambda path: against_the_flow(part_of(path), path.read_text()), lambda part: part in ALLOWED
        )
        == {}
    )


def test_treat_and_analyze_have_no_input_or_output() -> None:
    assert offenders(lambda path: impure(path.read_text()), lambda part: part in PURE) == {}


def test_the_statistics_import_nothing_of_tare() -> None:
    texts = (path.read_text() for path in FILES if part_of(path) == "statistics")
    assert set().union(*map(own_parts, texts)) <= {"statistics"}


def test_the_report_computes_no_statistics() -> None:
    texts = (path.read_text() for path in FILES if part_of(path) == "report")
    modules = {name.split(".")[0] for text in texts for name in imported(text)}
    assert modules & {"statistics", "numpy", "scipy"} == set()


def test_what_only_the_tests_need_is_imported_nowhere() -> None:
    extra = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]["dev"]
    names = {re.split("[^a-z0-9]", requirement)[0] for requirement in extra}
    assert "scipy" in names
    assert {name.split(".")[0] for path in FILES for name in imported(path.read_text())} & names == set()


def test_only_these_folders_start_processes() -> None:
    assert offenders(lambda path: starters(path.read_text()), lambda part: part not in STARTING) == {}


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("host", "from tare.plan.campaign import Campaign"),
        ("report", "import tare.measure.clocks"),
        ("report", "def draw():\n    from tare.journal import reader"),
        ("treat", "from tare import analyze"),
        ("journal", "if TYPE_CHECKING:\n    from tare.measure.trial import run_trial"),
    ],
)
def test_an_import_against_the_flow_would_be_found(part: str, text: str) -> None:
    assert against_the_flow(part, text)


@pytest.mark.parametrize(
    "text", ["import os", "from pathlib import Path", "open('x')", "print(1)", "import subprocess"]
)
def test_input_and_output_would_be_found(text: str) -> None:
    assert impure(text)


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "import os\nos.execv('x', [])",
        "from tare.host import process\nprocess.run(['x'])",
    ],
)
def test_a_started_process_would_be_found(text: str) -> None:
    assert starters(text)


def test_the_command_line_loads_nothing_heavy_before_it_is_asked_to() -> None:
    script = "import sys, tare.cli; print(' '.join({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.split())
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_no_files_import_each_other_in_a_circle() -> None:
    names = {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path for path in FILES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    graph = {name: module_imports(path.read_text(), names.keys()) - {name} for name, path in names.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_the_architecture_page_shows_the_arrows_as_they_are() -> None:
    """Boxes with counts of files and lines are as they were when the page was written."""
    shown = (REPOSITORY / "ARCHITECTURE.md").read_text().split("```mermaid\n")[1].split("```")[0]
    assert drawn_arrows(shown) == drawn_arrows(draw_architecture.drawing(SOURCE))


def module_imports(text: str, modules: AbstractSet[str]) -> set[str]:
    """A package counts only where no module of it is meant."""
    names = set(imported(text))
    return {name for name in names if name in modules and not _is_only_the_way(name, names, modules)}


def _is_only_the_way(name: str, names: AbstractSet[str], modules: AbstractSet[str]) -> bool:
    below = {other.removeprefix(f"{name}.") for other in names if other.startswith(f"{name}.")}
    return bool(below) and all(f"{name}.{other}" in modules or "." in other for other in below)


def drawn_arrows(flowchart: str) -> list[str]:
    return [line.strip() for line in flowchart.splitlines() if "-->" in line]


def test_a_providers_file_imports_no_other_provider() -> None:
    names = {path.stem for path in (SOURCE / "environments").glob("*.py")} - {
        "__init__",
        "apptainer_fakeroot",
        "apptainer_sif",
        "custom_commands",
        "docker_shims",
        "fake_clock",
        "gvisor_node",
        "planted",
        "podman_network",
        "sarus_image",
    }
    for name in names:
        text = (SOURCE / "environments" / f"{name}.py").read_text()
        others = {f"tare.environments.{other}" for other in names - {name}}
        assert not others & set(imported(text)), name
