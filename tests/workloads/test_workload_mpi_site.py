# SPDX-License-Identifier: Apache-2.0
"""The site's own launchers: what is asked of them, and that every word arrives as it is."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workloads.recorded import SHAPE

from tare.far import rank
from tare.records import MpiLauncher
from tare.workloads import mpi
from tare.workloads.kind import Shape, Site, Span

AGENT = '#!/bin/sh\ntest "$1" = site && exec sh -c "$2"\n'


def shape(launcher: MpiLauncher, tools: str = "/opt/tare/bin", folder: str = "/tmp/f") -> Shape:
    site = Site(
        launcher=launcher,
        enter=("enter",),
        agent="/image/agent",
        folder=folder,
        hosts=("n2", "n1") if launcher is MpiLauncher.SRUN else (),
        job="17" if launcher is MpiLauncher.SRUN else None,
    )
    span = Span(hosts=("tare-0", "tare-1"), subnet="198.18.0.0/16", site=site)
    return replace(SHAPE, processors=4, tools_directory=tools, span=span)


def words(argv: Sequence[str]) -> list[str]:
    """What the launcher's host is asked to run."""
    return list(argv[argv.index("/opt/tare/bin/agent") + 1 :])


def test_mpirun_has_a_daemon_beside_every_node_and_processes_enter_theirs() -> None:
    argv = words(mpi.launch(shape(MpiLauncher.MPIRUN)))
    assert argv[0] == "mpirun"
    assert argv[argv.index("--host") + 1] == "tare-0:2,tare-1:2"
    assert argv[argv.index("plm_rsh_agent") + 1] == "/image/agent"
    assert argv[argv.index("enter") :][:2] == ["enter", "env"]
    assert argv[-1] == "/opt/tare/bin/pin"


def test_srun_starts_by_pmix_on_the_hosts_in_the_order_of_the_ranks() -> None:
    argv = words(mpi.launch(shape(MpiLauncher.SRUN), variables={"A": "b c"}))
    srun = argv[argv.index("srun") :]
    assert {"--mpi=pmix", "--jobid=17", "--nodes=2", "--ntasks=4", "--cpu-bind=none"} <= set(srun)
    assert argv[4:6] == ["/tmp/f/hosts", "n2 n2 n1 n1"]
    inside = srun[srun.index("env") :]
    assert {"OMPI_MCA_pml=ob1", "OMPI_MCA_btl_tcp_if_include=198.18.0.0/16", "A=b c"} <= set(inside)


@pytest.mark.parametrize("launcher", [MpiLauncher.MPIRUN, MpiLauncher.SRUN])
def test_a_single_copy_that_is_asked_for_reaches_the_processes(launcher: MpiLauncher) -> None:
    argv = mpi.launch(shape(launcher), single_copy="cma")
    assert "OMPI_MCA_btl_vader_single_copy_mechanism=cma" in argv


def test_two_programs_are_told_apart_by_their_ranks() -> None:
    argv = mpi.launch_each((("echo", "a b"), ("echo", "it's")), shape(MpiLauncher.SRUN))
    run = [*argv[argv.index("/opt/tare/bin/pin") + 1 :]]
    said = [
        subprocess.run(run, env={"PMIX_RANK": number}, capture_output=True, text=True, check=True).stdout
        for number in "01"
    ]
    assert said == ["a b\n", "it's\n"]


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@settings(max_examples=20, deadline=None)
@given(listed=st.lists(TEXT, max_size=4))
def test_every_word_reaches_the_launcher_as_it_is(
    listed: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    tools = tmp_path_factory.mktemp("tools")
    (tools / "agent").write_text(AGENT)
    (tools / "agent").chmod(0o755)
    argv = mpi.launch(shape(MpiLauncher.MPIRUN, str(tools)))
    ask = argv[: argv.index("mpirun")]
    show = ["printf", r"%s\0", "-", *listed]
    done = subprocess.run([*ask, *show], capture_output=True, check=True, cwd=tools)
    assert done.stdout.decode().split("\0")[1:-1] == listed


def test_the_hosts_of_the_ranks_are_in_the_file_that_srun_reads(tmp_path: Path) -> None:
    argv = words(mpi.launch(shape(MpiLauncher.SRUN, folder=str(tmp_path))))
    subprocess.run([*argv[: argv.index("srun")], "true"], check=True)
    assert (tmp_path / "hosts").read_text() == "n2\nn2\nn1\nn1\n"


SHOWN = '#!/bin/sh\necho "$0" "$@"\n'
"""Of a program that says how it was called."""


@pytest.mark.parametrize(
    ("number", "unshares", "said"),
    [
        (4711, True, "program a b"),
        (0, True, "unshare --user --map-user=4711 --map-group=42 -- program a b"),
        (
            0,
            False,
            (
                "nsenter --mount=/proc/self/ns/mnt --wd=/ -- unshare --user --map-user=4711 --map-group=42 --keep-caps "
                '-- chroot . setpriv --ambient-caps=-all --inh-caps=-all -- sh -c cd "$1" && shift && exec "$@" sh {} '
                "program a b"
            ),
        ),
    ],
)
def test_a_users_rank_has_the_users_number_in_whatever_node(
    number: int, unshares: bool, said: str, tmp_path: Path
) -> None:
    tried = f'[ "$4" = true ] && exit {int(not unshares)}\n'
    programs = {"id": f"#!/bin/sh\necho {number}\n", "program": SHOWN, "nsenter": SHOWN}
    for name, text in {**programs, "unshare": SHOWN.replace("\n", f"\n{tried}", 1)}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", rank._AS_SELF, "sh", "4711", "42", "program", "a", "b"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.replace(f"{tmp_path}/", "").strip() == said.format(tmp_path)


def test_a_rank_enters_its_node_with_the_launchers_variables_and_nothing_else() -> None:
    variables = {
        "TARE_WAY": json.dumps(["in", "node"]),
        "TARE_DIRECTORY": "/mnt/tare/i0",
        "PMIX_RANK": "3",
        "SLURM_STEP_ID": "1",
        "SECRET": "x",
    }
    argv = rank.argv(["pin", "program"], variables)  # type: ignore[no-untyped-call] # any Python 3 reads it
    assert argv[:6] == ["in", "node", "env", "PMIX_RANK=3", "SLURM_STEP_ID=1", "PMIX_MCA_gds=hash"]
    assert argv[-3:] == ["/mnt/tare/i0", "pin", "program"]
    argv = rank.argv(["pin", "program"], {**variables, "TARE_AS_SELF": "yes"})  # type: ignore[no-untyped-call] # the same
    assert argv[-4:] == [str(os.geteuid()), str(os.getegid()), "pin", "program"]
