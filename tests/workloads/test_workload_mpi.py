# SPDX-License-Identifier: Apache-2.0
"""One way to start MPI programs, and what Open MPI itself says carried the messages."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.workloads.recorded import OUTPUTS, SHAPE

from tare.errors import InputError
from tare.workloads import mpi
from tare.workloads.command import AnyCommand, CommandOptions
from tare.workloads.kind import Shape, Span

SPAN = Span(hosts=("one", "two"), subnet="198.18.0.0/16", variables={"TARE_AGENT": "/mnt/tare/.agent"})
ACROSS = replace(SHAPE, processors=4, span=SPAN)


def said(name: str) -> str:
    return (OUTPUTS / "mpi" / name).read_text()


def after(argv: tuple[str, ...], word: str) -> str:
    return argv[argv.index(word) + 1]


def test_in_one_node_shared_memory_carried_it() -> None:
    assert mpi.transports(said("one-node.stderr")) == "shared memory"


def test_across_nodes_tcp_carried_it_between_these_addresses() -> None:
    transports = mpi.transports(said("two-nodes-of-two.stderr"))
    assert transports == "TCP (198.18.0.10, 198.18.0.11); shared memory"


def test_a_single_process_or_another_mpi_tells_nothing() -> None:
    assert mpi.transports("") is None
    assert mpi.transports("[vm:1] mca: bml: Using self btl for send to [[1,1],0] on node vm\n") is None


@pytest.mark.parametrize("name", ["one-node.stderr", "two-nodes-of-two.stderr"])
def test_nothing_is_left_of_the_report_of_transports(name: str) -> None:
    assert mpi.without_chatter(said(name)) == ""
    assert mpi.without_chatter(f"{said(name)}its own words\n") == "its own words\n"


def test_open_mpis_race_with_its_own_daemon_is_nobodys_last_words() -> None:
    race = "[vm:14655] plm:rsh: Warning: setpgid(14660,14660) failed in parent with errno=Permission denied(13)\n"
    assert mpi.last_words(f"no daemon here\n{race}") == "no daemon here"


BOX = "-" * 74
EXPLANATION = f"{BOX}\nmpirun was unable to find\nthe program\n{BOX}\n"


@pytest.mark.parametrize(
    ("stderr", "last"),
    [
        (f"mpiprobe: too late\n{EXPLANATION}", "mpiprobe: too late"),
        (EXPLANATION, "mpirun was unable to find"),
        ("first\nlast\n\n", "last"),
        ("", "it said nothing"),
        (f"{BOX}\ncut", "cut"),
    ],
)
def test_the_programs_own_last_words_come_before_mpiruns_explanations(stderr: str, last: str) -> None:
    assert mpi.last_words(stderr) == last


@given(st.text())
def test_any_text_has_last_words_of_one_line(text: str) -> None:
    assert len(mpi.last_words(text).splitlines()) == 1


def test_in_one_node_no_daemon_is_started() -> None:
    argv = mpi.launch(SHAPE)
    assert after(argv, "plm") == "isolated"
    assert after(argv, "-np") == "2"
    assert after(argv, "--host") == "localhost:2"
    assert argv[-1] == "/opt/tare/bin/pin"


def test_across_nodes_the_agent_starts_the_daemons_and_variables_are_handed_on() -> None:
    argv = mpi.launch(ACROSS, variables={"THREADS": "1"})
    assert after(argv, "--host") == "one:2,two:2"
    assert after(argv, "plm_rsh_agent") == "/opt/tare/bin/agent"
    assert after(argv, "btl_tcp_if_include") == after(argv, "oob_tcp_if_include") == "198.18.0.0/16"
    assert after(argv, "-x") == "THREADS"
    assert "TARE_AGENT" not in argv


@pytest.mark.parametrize(("oversubscribed", "yields"), [(False, "0"), (True, "1")])
def test_processes_that_share_a_processor_make_room_for_each_other(oversubscribed: bool, yields: str) -> None:
    argv = mpi.launch(replace(SHAPE, oversubscribed=oversubscribed))
    assert after(argv, "mpi_yield_when_idle") == yields


def test_a_job_of_several_programs_has_one_process_of_each() -> None:
    argv = mpi.launch_each([("server",), ("client", "-h", "one")], ACROSS)
    parts = " ".join(argv[argv.index("-np") :]).split(" : ")
    assert [part.split()[-1] for part in parts] == ["server", "one"]
    assert all(part.startswith("-np 1 ") for part in parts)


def test_processes_with_threads_are_fewer_and_have_as_many_processors_each() -> None:
    argv = mpi.launch(mpi.hybrid(replace(ACROSS, processors=8), 2))
    assert after(argv, "-np") == "4"
    assert after(argv, "--host") == "one:2,two:2"
    assert argv[-3:] == ("/opt/tare/bin/pin", "--threads", "2")


@pytest.mark.parametrize(("shape", "threads"), [(SHAPE, 3), (SHAPE, 4), (ACROSS, 4)])
def test_threads_that_a_nodes_processors_cannot_be_shared_out_to_are_refused(
    shape: Shape, threads: int
) -> None:
    with pytest.raises(
        InputError, match=f"threads = {threads} does not divide the 2 processors of each node"
    ):
        mpi.hybrid(shape, threads)


def test_the_preflight_is_the_same_launch_with_the_probe() -> None:
    assert mpi.preflight(ACROSS) == (*mpi.launch(ACROSS), "/opt/tare/bin/mpiprobe")


def test_a_command_over_several_nodes_must_be_an_mpi_program() -> None:
    with pytest.raises(InputError, match="mpi = true"):
        AnyCommand().job(CommandOptions(argv=["true"]), ACROSS)
    job = AnyCommand().job(CommandOptions(argv=["true"], mpi=True), ACROSS)
    assert job.argv == (*mpi.launch(ACROSS), "true")
    assert job.preflight == mpi.preflight(ACROSS)


def test_a_command_has_threads_as_an_mpi_program_alone() -> None:
    job = AnyCommand().job(CommandOptions(argv=["true"], mpi=True, threads=2), ACROSS)
    assert job.argv == (*mpi.launch(mpi.hybrid(ACROSS, 2)), "true")
    with pytest.raises(ValidationError, match="set mpi = true"):
        CommandOptions(argv=["true"], threads=2)


def test_link_local_addresses_are_called_what_they_are() -> None:
    line = "[vm:1] btl:tcp: now connected to fe80::1:{}, process [[1,1],0]\n"
    stderr = (
        "[vm:1] mca: bml: Using tcp btl for send to [[1,1],0] on node n\n" + line.format(0) + line.format(9)
    )
    assert mpi.transports(stderr) == "TCP (link-local IPv6)"


def test_the_images_own_mpirun_is_told_only_how_many_and_where() -> None:
    options = CommandOptions(
        argv=["solver"], mpi=True, launcher="image", threads=2, image_variables=["HYDRA_LAUNCHER=ssh"]
    )
    job = AnyCommand().job(options, replace(SHAPE, processors=4))
    assert job.argv == ("mpirun", "-n", "2", "/opt/tare/bin/pin", "--threads", "2", "solver")
    assert job.preflight[:6] == job.argv[:6]
    assert "HYDRA_LAUNCHER" not in job.variables, "the image's own comes first"
    assert job.variables["OMPI_MCA_rmaps_base_oversubscribe"] == "1"
    assert job.program == "solver"


def test_the_images_own_mpirun_starts_nothing_in_other_nodes() -> None:
    options = CommandOptions(argv=["true"], mpi=True, launcher="image")
    with pytest.raises(InputError, match="as many instances as nodes"):
        AnyCommand().job(options, ACROSS)
