# SPDX-License-Identifier: Apache-2.0
"""No arm takes a code path that another arm's processor lacks, in no session of a result."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Self

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request

from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.journal.reader import read_journal
from tare.measure import campaign, usable
from tare.measure.campaign import measure_campaign
from tare.measure.usable import lacking_flags
from tare.records import Environment, OptionValue
from tare.workloads import KINDS
from tare.workloads.kind import Job, Options, Shape

HOST = frozenset({"avx2", "fma", "avx512f", "fpu"})


class Lesser(Fake):
    """Its nodes lack what its option ``lacking`` says."""

    def __init__(self, lacking: OptionValue = "unknown") -> None:
        self._lacking = lacking

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options["lacking"])

    def lacking_flags(self, flags: AbstractSet[str]) -> AbstractSet[str]:
        if self._lacking == "unknown":
            raise NodeError("nobody knows")
        assert isinstance(self._lacking, list)
        return flags & set(self._lacking)


def lesser(name: str, lacking: OptionValue) -> Environment:
    return Environment(name=name, technology="lesser", options={"lacking": lacking})


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usable, "cpu_flags", lambda: HOST)


def test_only_the_hosts_flags_on_which_a_code_path_depends_are_asked_for() -> None:
    flags = lacking_flags([lesser("guest", ["avx512f", "avx2", "fpu", "avx"])], {"lesser": Lesser()})
    assert flags == {"guest": ("avx2", "avx512f")}


def test_who_lacks_nothing_or_cannot_tell_is_left_out() -> None:
    environments = [fake_environment("equal"), lesser("unknown", "unknown"), lesser("none", [])]
    assert lacking_flags(environments, {"fake": Fake(), "lesser": Lesser()}) == {}


@pytest.mark.usefixtures("fake_image")
def test_every_session_of_a_result_keeps_what_the_first_one_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: list[Shape] = []
    made = KINDS["fake"].job

    def remember(options: Options, shape: Shape) -> Job:
        shapes.append(shape)
        return replace(made(options, shape), facts={"path": "chosen beforehand"})

    request = fake_request(fake_campaign(blocks=1), tmp_path / "result")
    monkeypatch.setattr(KINDS["fake"], "job", remember)
    monkeypatch.setattr(
        campaign, "require_launches", lambda *_: None
    )  # asks for a job before anything is known
    monkeypatch.setattr(campaign, "lacking_flags", lambda *_: {"slow": ("avx2",)})
    measure_campaign(request, Listener())
    monkeypatch.setattr(campaign, "lacking_flags", lambda *_: {})
    measure_campaign(request, Listener())

    journal = read_journal(request.folder.journal)
    assert [session.lacking_flags for session in journal.sessions] == [{"slow": ("avx2",)}] * 2
    assert [shape.lacking_flags for shape in shapes] == [{"slow": ("avx2",)}] * len(journal.outcomes)
    assert {outcome.facts["path"] for outcome in journal.outcomes} == {"chosen beforehand"}
