# SPDX-License-Identifier: Apache-2.0
"""Whom commands run as: settled once, kept with the result, and said where it is root."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from tests.fake_campaign import FAKES, Listener, fake_campaign, fake_environment, fake_request
from tests.measure.measure_nodes import node_spec

from tare.environments import PROVIDERS
from tare.errors import CampaignError, InputError, UnequalArms
from tare.image.store import Image
from tare.measure import users
from tare.measure.campaign import measure_campaign
from tare.measure.parity import require_user
from tare.measure.stopwatch import Command
from tare.measure.users import continued_user, root_said, settled_user, stranger, user_of, user_words
from tare.nodes.files import make_folder
from tare.nodes.provider import Node
from tare.plan.campaign import Campaign, with_overrides
from tare.records import Environment, Parity, User

WANTED_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@pytest.fixture
def ordinary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    monkeypatch.setattr(os, "getegid", lambda: 99)


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


class TestSettled:
    pytestmark = pytest.mark.usefixtures("as_root")

    @pytest.mark.parametrize("asked", [None, "ordinary"])
    def test_root_drops_to_an_id_that_is_nobodys_under_sudo_too(
        self, asked: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SUDO_UID", "1000")
        monkeypatch.setenv("SUDO_GID", "1000")
        monkeypatch.setattr(users, "_running_users", dict)
        assert settled_user(asked) == "65530:65530"

    def test_an_id_as_which_a_process_runs_is_passed_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(users, "_running_users", lambda: {65530: 7, 65529: 8})
        assert settled_user(None) == "65528:65528"

    def test_where_all_are_taken_it_is_the_first_and_the_run_says_so(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(users, "_running_users", lambda: dict.fromkeys(range(65000, 65534), 9))
        assert settled_user(None) == "65530:65530"
        assert "as whom process 9 runs on this host" in (users.stranger(User(65530, 65530)) or "")

    @pytest.mark.parametrize("asked", ["root", "7:8"])
    def test_what_is_asked_for_by_name_is_taken(self, asked: str) -> None:
        assert settled_user(asked) == asked

    def test_only_root_itself_is_not_dropped(self) -> None:
        assert user_of("7:8") == User(7, 8)
        assert user_of("root") is None
        assert user_of(None) is not None
        assert (user_words("root"), user_words("7:8")) == ("root", "user 7, group 8")


class TestOfAnOrdinaryUser:
    pytestmark = pytest.mark.usefixtures("ordinary")

    @pytest.mark.parametrize("asked", [None, "ordinary", "1234:99"])
    def test_commands_are_their_own(self, asked: str | None) -> None:
        assert settled_user(asked) == "1234:99"
        assert user_of(asked) is None

    @pytest.mark.parametrize("asked", ["root", "7:8"])
    def test_nobody_else_can_be_asked_for(self, asked: str) -> None:
        with pytest.raises(
            InputError, match=r"who cannot become another user; run tare as root, or say --as"
        ):
            settled_user(asked)

    def test_nothing_is_root(self) -> None:
        assert root_said(replace(fake_campaign(), user="root"), FAKES) is None


@pytest.mark.parametrize(
    "text", ["", "nobody", "0:0", "0:5", "5:0", "5", "5:5:5", "-1:5", "5:4294967295", "\u0665:5"]
)
def test_what_names_nobody_is_refused_where_it_stands(text: str) -> None:
    with pytest.raises(InputError, match="--as: must be ordinary, root or UID:GID"):
        with_overrides(fake_campaign(), user=text)
    with pytest.raises(CampaignError, match="must be ordinary, root or UID:GID"):
        Campaign.from_json(fake_campaign().to_json() | {"user": text}, "campaign.json")


def test_a_result_of_an_earlier_version_goes_on_as_root() -> None:
    kept = fake_campaign().to_json()
    del kept["user"]
    assert Campaign.from_json(kept, "campaign.json").user == "root"
    assert continued_user("root", None) == "root"


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(
    ("kept", "asked", "words"),
    [
        ("7:8", None, "7:8"),
        ("7:8", "ordinary", "7:8"),
        ("7:8", "root", "root"),
        ("root", "9:9", "9:9"),
        ("root", None, "root"),
    ],
)
def test_a_begun_result_keeps_its_user_unless_another_is_named(
    kept: str, asked: str | None, words: str
) -> None:
    assert continued_user(kept, asked) == words


@WANTED_ROOT
def test_the_user_is_kept_with_the_result_and_another_is_refused(tmp_path: Path, fake_image: Image) -> None:  # noqa: ARG001 - the image that fakes are measured with
    request = fake_request(replace(fake_campaign(blocks=1), user="7:8"), tmp_path / "result")
    measure_campaign(request, Listener())
    assert json.loads(request.folder.read_campaign())["user"] == "7:8"
    measure_campaign(replace(request, campaign=replace(request.campaign, user=None)), Listener())
    with pytest.raises(InputError, match="user: 7:8 in the result, root now"):
        measure_campaign(replace(request, campaign=replace(request.campaign, user="root")), Listener())
    journal = "".join(path.read_text() for path in request.folder.journal.glob("*.jsonl"))
    assert '"commands ran as":"user 7, group 8"' in journal


@pytest.mark.usefixtures("as_root")
class TestSaid:
    CAMPAIGN = replace(
        fake_campaign(),
        environments=(
            Environment(name="d", technology="docker"),
            Environment(name="q", technology="qemu"),
            Environment(name="g", technology="gvisor"),
        ),
    )

    def test_root_is_said_with_where_and_the_way_out(self) -> None:
        words = root_said(replace(self.CAMPAIGN, user="root"), PROVIDERS)
        assert words is not None
        assert words.startswith(
            "a command that you weigh is root on this host in native, d: it can do anything here"
        )
        assert "leave out --as root" in words

    @pytest.mark.parametrize("user", [None, "ordinary", "7:8"])
    def test_an_ordinary_user_is_not_worth_a_word(self, user: str | None) -> None:
        assert root_said(replace(self.CAMPAIGN, user=user), PROVIDERS) is None

    def test_a_continued_result_of_root_is_said_too(self) -> None:
        assert root_said(self.CAMPAIGN, PROVIDERS, "root") is not None

    def test_an_environment_that_cannot_drop_is_said(self) -> None:
        words = root_said(replace(self.CAMPAIGN, environments=(fake_environment("f"),)), PROVIDERS)
        assert words is not None
        assert "on this host in f: " in words


class TestStranger:
    NOBODY = User(65530, 65530)

    def test_an_id_that_passwd_names_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(users, "_name_of", lambda _: "somebody")
        assert "who is somebody on this host" in (stranger(self.NOBODY) or "")

    def test_an_id_that_a_process_has_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(users, "_running_users", lambda: {65530: 77})
        assert "as whom process 77 runs" in (stranger(self.NOBODY) or "")

    def test_a_named_user_is_meant(self) -> None:
        assert stranger(User(os.getpid(), 1)) is None
        assert stranger(None) is None

    def test_the_process_of_a_user_is_seen(self) -> None:
        assert os.geteuid() in users._running_users()


class TestParity:
    NODE = Node(spec=node_spec(Path("/nowhere"), user=User(7, 8)), init_pid=None)

    @pytest.mark.parametrize("own", [{"user": "7"}, {}])
    def test_the_wanted_user_is_equal_and_an_unread_one_is_not_compared(self, own: dict[str, str]) -> None:
        require_user(Parity(own=own), self.NODE)

    def test_another_user_makes_the_trial_void(self) -> None:
        with pytest.raises(
            UnequalArms, match=r"the command is user 1000 instead of 7; have its commands enter as root"
        ):
            require_user(Parity(own={"user": "1000"}), self.NODE)

    def test_where_nobody_can_become_another_nothing_is_wanted(self) -> None:
        require_user(Parity(own={"user": "0"}), replace(self.NODE, keeps_user=True))


def test_a_command_of_a_user_is_dropped_by_the_stopwatch() -> None:
    command = Command(argv=("true",), directory="/", variables={}, limit_s=1.0)
    assert "--user" not in command.options("/o")
    options = replace(command, user=User(7, 8)).options("/o")
    assert options[options.index("--user") + 1] == "7:8"


class TestFolders:
    FILES: ClassVar = {"input": "1", "deep/er/input": "2"}

    @pytest.fixture(autouse=True)
    def _strict_umask(self) -> Iterator[None]:
        before = os.umask(0o077)
        yield
        os.umask(before)

    def test_everybody_may_read_whatever_the_umask(self, tmp_path: Path) -> None:
        make_folder(tmp_path / "i0", None, self.FILES)
        modes = {str(path.relative_to(tmp_path)): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
        assert modes == dict.fromkeys(("i0", "i0/deep", "i0/deep/er"), 0o755) | dict.fromkeys(
            ("i0/input", "i0/deep/er/input"), 0o644
        )

    @WANTED_ROOT
    def test_all_of_it_is_the_users(self, tmp_path: Path) -> None:
        make_folder(tmp_path / "i0", User(7, 8), self.FILES)
        owners = {(path.stat().st_uid, path.stat().st_gid) for path in tmp_path.rglob("*")}
        assert owners == {(7, 8)}

    @WANTED_ROOT
    def test_nothing_is_written_into_what_the_user_may_change(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[Path] = []
        monkeypatch.setattr(os, "chown", lambda path, *_, **__: seen.append(Path(path)))
        make_folder(tmp_path / "i0", User(7, 8), self.FILES)
        assert seen[-1] == tmp_path / "i0"
        assert [path for n, path in enumerate(seen) if any(item in path.parents for item in seen[:n])] == []
