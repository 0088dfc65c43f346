# SPDX-License-Identifier: Apache-2.0
"""What says who measured and where is replaced, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.publication.names import Names


@pytest.fixture
def names() -> Names:
    return Names(hosts=["node17.cluster.example", "n1", "slurm-1"], users=["alice"], kept=["copy"])


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("cc1plus of alice on node17.cluster.example", "cc1plus of user-1 on host-1"),
        ("not counted (on n1)", "not counted (on host-1)"),
        ("node17: refused.", "host-1: refused."),
        ("slurm-1 is Tare's own name", "slurm-1 is Tare's own name"),
        ("/data/alice/solver and /data/alice/mesh.dat", "/folder-1/solver and /folder-1/mesh.dat"),
        ("/opt/tare/bin/burn, /usr/bin/mpirun", "/opt/tare/bin/burn, /usr/bin/mpirun"),
        ("127.0.0.1/8, 198.18.16.11/24, 10.3.2.1/24", "127.0.0.1/8, 198.18.16.11/24, 192.0.2.1/24"),
        ("fe80::1234 at 52:54:00:12:34:56", "2001:db8::1 at interface-1"),
        ("Open MPI 4.1.4, at 10:20:30, 1/2/3 B/s", "Open MPI 4.1.4, at 10:20:30, 1/2/3 B/s"),
        ("alice-like and n12 and malice", "user-1-like and n12 and malice"),
        ("N1 is n1.hpc.uni.example, alice_run of Alice", "host-1 is host-2, user-1_run of user-1"),
        ("PATH=/usr/lib:/scratch/lab/lib -I/proj/lab/x", "PATH=/usr/lib:/folder-1/lib -I/folder-2/x"),
        ("file:///scratch/lab/a, https://a.example/b/c", "file:///folder-1/a, https://a.example/b/c"),
        ("192.0.2.0/24 and 2001:db8::7", "192.0.2.0/24 and 2001:db8::7"),
    ],
)
def test_a_name_is_replaced_where_it_is_one(names: Names, text: str, hidden: str) -> None:
    assert names.text(text) == hidden


def test_one_name_has_one_placeholder_in_keys_and_values(names: Names) -> None:
    shown = names.value({"n1": ["n1", {"by": "alice"}], "count": 1})
    assert shown == {"host-1": ["host-1", {"by": "user-1"}], "count": 1}
    assert names.hidden == {"n1": "host-1", "alice": "user-1"}


def test_a_word_of_the_result_itself_stays_and_is_reported() -> None:
    names = Names(hosts=["copy"], users=[], kept=["copy"])
    assert names.text("copy on copy") == "copy on copy"
    assert names.left == ["copy"]


def test_what_is_below_a_known_folder_keeps_its_place_there() -> None:
    names = Names(hosts=[], users=[], folders=["/scratch/alice/job"])
    assert names.value(["/scratch/alice/job:ro", "/scratch/alice/job/bin/step", "/scratch/alice/jobs/a"]) == [
        "/folder-1:ro",
        "/folder-1/bin/step",
        "/folder-2/a",
    ]


@given(st.text())
def test_what_is_hidden_is_never_seen_again(text: str) -> None:
    names = Names(hosts=["node17.cluster.example"], users=["alice"])
    assert names.seen_in(names.text(f"{text} alice {text} node17 {text}")) == []
