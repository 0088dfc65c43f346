# SPDX-License-Identifier: Apache-2.0
"""The nodes of a job are those of the scheduler's own list, each once and in its order."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import HostError, NodeError
from tare.host import job_nodes, process
from tare.host.process import Completed


@pytest.fixture(autouse=True)
def no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for signs in job_nodes._SIGNS.values():
        for sign in signs:
            monkeypatch.delenv(sign, raising=False)


@pytest.mark.parametrize(("scheduler", "sign"), [("pbs", "PBS_NODEFILE"), ("lsf", "LSB_DJOB_HOSTFILE")])
def test_a_file_with_a_line_for_each_processor_lists_each_node_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheduler: str, sign: str
) -> None:
    (tmp_path / "nodes").write_text("n2.cluster\nn2.cluster\nn1.cluster\nn1.cluster\n")
    assert not job_nodes.is_job(scheduler)
    monkeypatch.setenv(sign, str(tmp_path / "nodes"))
    assert job_nodes.is_job(scheduler)
    assert job_nodes.nodes(scheduler) == ("n2.cluster", "n1.cluster")


@pytest.mark.parametrize(
    ("sign", "text"), [("LSB_HOSTS", "n2 n2 n1 n1"), ("LSB_MCPU_HOSTS", "n2 2 n1 2"), ("LSB_HOSTS", "n2 n1")]
)
def test_lsf_lists_nodes_in_variables_too(monkeypatch: pytest.MonkeyPatch, sign: str, text: str) -> None:
    monkeypatch.setenv(sign, text)
    assert job_nodes.nodes("lsf") == ("n2", "n1")


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(1, 64)), min_size=1))
def test_counts_are_never_taken_for_nodes(pairs: list[tuple[str, int]]) -> None:
    text = " ".join(f"{node} {count}" for node, count in pairs)
    assert job_nodes._with_counts(text) == [node for node, _ in pairs]


def test_flux_is_asked_with_its_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[Sequence[str], object]] = []

    def run(argv: Sequence[str], *, variables: object, **_: object) -> Completed:
        called.append((argv, variables))
        return Completed(code=0, stdout="n1 n2\n", stderr="")

    monkeypatch.setattr(process, "run", run)
    monkeypatch.setenv("FLUX_JOB_ID", "f1")
    monkeypatch.setenv("FLUX_URI", "local:///run/flux")
    assert job_nodes.nodes("flux") == ("n1", "n2")
    ((argv, variables),) = called
    assert argv == ["flux", "hostlist", "--expand", "local"]
    assert isinstance(variables, dict)
    assert variables["FLUX_URI"] == "local:///run/flux"


def test_what_flux_cannot_say_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUX_JOB_ID", "f1")
    monkeypatch.setattr(
        process,
        "run",
        lambda *_, **__: Completed(code=1, stdout="", stderr="flux-hostlist: ERROR: no broker"),
    )
    with pytest.raises(HostError, match=r"flux does not name the nodes of this job: .*no broker"):
        job_nodes.nodes("flux")

    def missing(*_: object, **__: object) -> Completed:
        raise NodeError("'flux' is not on this host")

    monkeypatch.setattr(process, "run", missing)
    with pytest.raises(HostError, match="'flux' is not on this host; Tare asks flux"):
        job_nodes.nodes("flux")


def test_a_list_that_cannot_be_read_or_is_empty_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    with pytest.raises(HostError, match=r"list of nodes, .*/nodes, cannot be read"):
        job_nodes.nodes("pbs")
    (tmp_path / "nodes").write_text("\n")
    with pytest.raises(HostError, match="PBS_NODEFILE of this job names no node"):
        job_nodes.nodes("pbs")


def test_outside_of_a_job_the_way_into_one_is_said() -> None:
    with pytest.raises(HostError, match=r"this is no job of lsf, .*run it in a job \(bsub\), or name hosts"):
        job_nodes.nodes("lsf")
