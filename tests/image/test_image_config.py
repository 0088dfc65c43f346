# SPDX-License-Identifier: Apache-2.0
"""What an image states about its commands is kept, checked, and applied to a campaign."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tare.errors import InputError
from tare.image.config import ImageConfig, home_of, resolved_user
from tare.image.store import Image
from tare.measure.image_config import as_the_image_says
from tare.records import User, Workload
from tare.workloads.command import AnyCommand, CommandOptions
from tare.workloads.kind import Shape
from tests.fake_campaign import command_workload, fake_campaign, fake_workload

STATED = {
    "architecture": "amd64",
    "config": {
        "Env": ["PATH=/opt/vendor/bin:/bin", "EMPTY=", "A=b=c", "own.name=1"],
        "WorkingDir": "/work",
        "Entrypoint": ["tool", "--fast"],
        "Cmd": ["usual"],
        "User": "app:data",
        "Labels": {"maker": "somebody"},
    },
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nbroken\napp:x:1000:1001::/:/bin/sh\n")
    (tmp_path / "etc/group").write_text("root:x:0:\ndata:x:2000:app\n")
    return tmp_path


def test_everything_stated_is_read_and_survives_the_manifest() -> None:
    config = ImageConfig.read(STATED)
    assert config.variables == {"PATH": "/opt/vendor/bin:/bin", "EMPTY": "", "A": "b=c", "own.name": "1"}
    assert (config.directory, config.user) == ("/work", "app:data")
    assert (config.entrypoint, config.command) == (("tool", "--fast"), ("usual",))
    assert ImageConfig.kept(json.loads(json.dumps(config.facts()))) == config


def test_an_image_that_states_nothing_adds_nothing_to_its_manifest() -> None:
    assert ImageConfig.read({"config": {"Env": None, "Cmd": None}}).facts() == {}
    assert ImageConfig.kept({}) == ImageConfig()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("Env", ["=x"]),
        ("Env", ["NAME"]),
        ("Env", "A=b"),
        ("Env", ["A=\0"]),
        ("Env", ["A=b"] * 1001),
        ("WorkingDir", "work"),
        ("WorkingDir", 5),
        ("Entrypoint", "sh -c"),
        ("Cmd", [None]),
        ("User", 5),
        ("Labels", ["x"]),
        ("Labels", {"x": 1}),
    ],
)
def test_what_no_command_can_be_given_is_refused(key: str, value: object) -> None:
    with pytest.raises(InputError, match="configuration is refused"):
        ImageConfig.read({"config": {key: value}})


@given(
    some.recursive(some.none() | some.integers() | some.text(), lambda inner: some.lists(inner, max_size=3))
)
def test_hostile_values_are_refused_in_words_or_read(value: Any) -> None:
    for key in STATED["config"]:
        try:
            ImageConfig.read({"config": {key: value}})
        except InputError:
            continue


@pytest.mark.parametrize(
    ("user", "ids"),
    [
        ("", None),
        ("root", None),
        ("0:0", None),
        ("app", User(1000, 1001)),
        ("app:data", User(1000, 2000)),
        ("1000", User(1000, 1001)),
        ("77", User(77, 0)),
        ("77:88", User(77, 88)),
    ],
)
def test_a_user_is_whom_the_image_calls_so(user: str, ids: User | None, root: Path) -> None:
    assert resolved_user(user, root) == ids


@pytest.mark.parametrize(
    ("user", "home"),
    [("app", "/srv"), ("1000:5", "/srv"), ("", None), ("77", None), ("short", None), ("odd", None)],
)
def test_a_users_home_is_what_the_image_says(user: str, home: str | None, root: Path) -> None:
    (root / "etc/passwd").write_text("app:x:1000:1001::/srv:/bin/sh\nshort:x:5:5\nodd:x:6:6::srv:/bin/sh\n")
    assert home_of(user, root) == home


@pytest.mark.parametrize("user", ["nobody-here", "app:nogroup", f"{2**32}", "1:99999999999"])
def test_a_user_unknown_to_the_image_is_refused_with_the_way_out(user: str, root: Path) -> None:
    with pytest.raises(InputError, match="--as UID:GID"):
        resolved_user(user, root)


def test_a_link_in_the_place_of_the_passwd_file_is_not_followed(root: Path) -> None:
    (root / "etc/passwd").unlink()
    (root / "etc/passwd").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="not in its /etc/passwd"):
        resolved_user("daemon", root)


def configured(
    root: Path, workload: Workload, monkeypatch: pytest.MonkeyPatch, *, ordinary: bool = False
) -> Any:
    monkeypatch.setattr("tare.measure.image_config.ordinary_user", lambda: ordinary)
    image = Image("own", root, "sha256:0", ImageConfig.read(STATED).facts())
    return as_the_image_says(fake_campaign(workload=workload), image)


def test_a_command_gets_the_images_variables_directory_and_user(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = configured(root, command_workload("tool"), monkeypatch)
    (workload,) = campaign.workloads
    stated = STATED["config"]["Env"]  # type: ignore[index]
    assert workload.options["image_variables"] == [*stated, "HOME=/"]
    assert workload.options["image_directory"] == "/work"
    assert campaign.user == "1000:2000"
    again = as_the_image_says(campaign, Image("own", root, "x", ImageConfig.read(STATED).facts()))
    assert again == campaign, "a continued result is the same campaign"


def test_what_the_campaign_states_comes_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stated = command_workload("tool")
    stated = replace(stated, options={**stated.options, "variables": ["A=own"], "directory": "/own"})
    (workload,) = configured(root, stated, monkeypatch).workloads
    shape = Shape(processors=1, memory_byte=1 << 30, instance=0, tools_directory="/tools")
    job = AnyCommand().job(CommandOptions.model_validate(workload.options), shape)
    assert {**job.image_variables, **job.variables}["A"] == "own"
    assert job.directory == "/own"


def test_an_ordinary_user_runs_commands_as_nobody_else(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert configured(root, command_workload("tool"), monkeypatch, ordinary=True).user is None


def test_a_benchmark_of_tares_own_is_not_touched(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = configured(root, fake_workload(), monkeypatch)
    assert campaign.workloads == (fake_workload(),)
    assert campaign.user is None
