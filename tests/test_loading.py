# SPDX-License-Identifier: Apache-2.0
"""A command loads what it needs: most of a small result's analysis would else go into reading what it does not use."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.fake_results import write_result

from tare.environments import PROVIDERS
from tare.workloads import KINDS

LARGE = {"scipy", "pyarrow", "duckdb", "jinja2"}
CHILD = """
import json, sys
from tare.cli import main
try:
    main()
finally:
    print(json.dumps(list(sys.modules)), file=sys.stderr)
"""
CAMPAIGN = """
name = "fakes"
blocks = { looks = [10, 16, 24, 32], margin = 0.01 }
layouts = ["1c1p1i"]

[[environment]]
technology = "fake"
[[workload]]
name = "fake"
"""


def loaded(folder: Path, *argv: str) -> set[str]:
    """The modules that a command has loaded when it ends well."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *argv],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "TARE_STATE": str(folder)},
    )
    *said, modules = done.stderr.splitlines()
    assert done.returncode == 0, "\n".join(said)
    return set(json.loads(modules))


def packages(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


def test_help_loads_no_large_package(tmp_path: Path) -> None:
    result = packages(loaded(tmp_path, "--help"))
    assert "tare" in result
    assert result & (LARGE | {"numpy"}) == set()


def test_a_plan_with_looks_loads_no_large_package(tmp_path: Path) -> None:
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(CAMPAIGN)
    result = packages(loaded(tmp_path, "plan", str(campaign)))
    assert "numpy" in result
    assert result & LARGE == set()


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_the_tables_of_a_small_result_take_neither_a_large_package_nor_what_measures(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    write_result(tmp_path / "result", blocks=10, environments=2)
    modules = loaded(tmp_path, "show", str(tmp_path / "result"), *arguments)
    assert packages(modules) & LARGE == set()
    assert "tare.analyze.families" in modules
    assert modules & {"tare.measure.campaign", "tare.measure.trial", "tare.plan.schema", "numpy.ma"} == set()
    assert {name for name in modules if name.startswith("tare.environments.libvirt")} == set()
    assert modules & {f"tare.workloads.{kind}" for kind in ("hpcc", "npb", "slices", "fake")} == {
        "tare.workloads.fake"
    }


@pytest.mark.parametrize("technology", PROVIDERS)
def test_every_environment_stands_in_the_list_under_its_own_name(technology: str) -> None:
    assert PROVIDERS[technology].technology == technology
    assert PROVIDERS[technology] is PROVIDERS[technology]


@pytest.mark.parametrize("kind", KINDS)
def test_every_workload_stands_in_the_list_under_its_own_name(kind: str) -> None:
    assert KINDS[kind].name == kind
