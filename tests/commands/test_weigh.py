# SPDX-License-Identifier: Apache-2.0
"""What ``tare weigh`` makes of the command line."""

from dataclasses import replace
from pathlib import Path

import pytest

from tare.commands import weigh, weigh_environments
from tare.commands.line import Shown
from tare.commands.weigh import run_weigh
from tare.commands.weigh_files import WeighOptions
from tare.errors import InputError
from tare.image.config import ImageConfig
from tare.image.store import Image
from tare.measure.campaign import Request
from tare.nodes.provider import Probe
from tare.plan import written
from tare.records import Way, Workload

ASKED = WeighOptions(command=("solver", "input"), environments=("fake",))


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Request]:
    """What would be run, from an empty current directory."""
    seen: list[Request] = []

    def run(request: Request, shown: Shown) -> int:
        assert not shown.as_json
        seen.append(request)
        return 0

    monkeypatch.setattr(weigh, "run_and_show", run)
    monkeypatch.chdir(tmp_path)
    return seen


def asked(options: WeighOptions, requests: list[Request]) -> Request:
    run_weigh(options, Path("result"), "default", Shown())
    return requests[-1]


def workload(options: WeighOptions, requests: list[Request]) -> Workload:
    (only,) = asked(options, requests).campaign.workloads
    return only


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"command": ()}, "no command to weigh"),
        ({"profile": True}, "add --mpi"),
        ({"threads": 2}, "add --mpi"),
        ({"launcher": "image"}, "add --mpi"),
        ({"launcher": "image", "mpi": True, "profile": True}, "leave --profile out"),
        ({"launcher": "srun", "mpi": True}, "neither tare nor image"),
        ({"turns": True, "whole": True}, "--turns"),
        ({"unit": "s"}, "--metric"),
        ({"against": "docker"}, "--against"),
        ({"host_variables": ("A=1",)}, "add --against host"),
        ({"against": "host", "host_variables": ("TARE_NO_SUCH",)}, "is not set here"),
        ({"environments": ("native",)}, "name another"),
        ({"environments": ("fake", "host")}, "write --against host"),
        ({"environments": ("dokcer",)}, "did you mean"),
        ({"blocks": -3}, "blocks must be 1 to 1000"),
        ({"blocks": 0}, "blocks must be 1 to 1000"),
        ({"budget": "soon"}, "--budget"),
        ({"time_limit": "0s"}, "--time-limit"),
        ({"memory": "1 KiB"}, "--memory"),
        ({"memory": "much"}, "--memory"),
        ({"layout": "2x2"}, "--layout"),
        ({"layout": "2c1p1i"}, "add --mpi"),
        ({"network": "vth"}, "veth"),
        ({"variables": ("=x",)}, "--env-var"),
        ({"input_file": Path("absent")}, "--input"),
        ({"prepare": "'open"}, "--prepare"),
        ({"check": " "}, "--check"),
        ({"metrics": ("gflops",)}, "--metric"),
        ({"metrics": ("gflops=x",), "unit": "1"}, "no group"),
        ({"metrics": ("gflops=(x",), "unit": "1"}, "no regular expression"),
        ({"metrics": ("gflops=(x)",)}, "need a unit"),
        ({"metrics": ("wall_s=(x)",), "unit": "s"}, "other names"),
        ({"variable": "n"}, "--variable"),
        ({"variable": "n=1"}, "two or more"),
        ({"variable": "n=1,1"}, "two or more"),
        ({"variable": "n=1,2"}, "does not hold {n}"),
        ({"variable": "n=a#b,a$b", "command": ("true", "{n}")}, "read alike"),
        ({"binds": ("absent",)}, "--bind"),
        ({"devices": ("gpu",)}, "--device: 'gpu' is none of nvidia"),
        ({"devices": ("/dev/null",)}, "--device: '/dev/null' is a device that every node has"),
        ({"devices": ("/dev/tare-none",)}, "--device: /dev/tare-none cannot be looked at"),
        ({"binds": ("/",)}, "--bind"),
        ({"seed": -1}, "seed"),
        ({"user": "nobody here"}, "--as"),
    ],
    ids=str,
)
def test_what_contradicts_itself_is_refused_before_anything_runs(
    changes: dict[str, object], says: str, requests: list[Request]
) -> None:
    with pytest.raises(InputError, match=says):
        asked(replace(ASKED, **changes), requests)  # type: ignore[arg-type]
    assert requests == []


def test_an_mpi_program_gets_its_threads_and_the_profiler(requests: list[Request]) -> None:
    chosen = workload(replace(ASKED, mpi=True, threads=2, profile=True), requests)
    assert chosen.options == {
        "argv": ["solver", "input"],
        "mpi": True,
        "threads": 2,
        "profile": True,
        "turns": False,
    }
    assert chosen.way is Way.WHOLE


def test_a_command_that_names_a_file_here_sees_the_current_directory_read_only(
    requests: list[Request], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "input").touch()
    request = asked(ASKED, requests)
    assert request.campaign.binds == (f"{tmp_path}:ro",)
    assert request.campaign.workloads[0].options["directory"] == str(tmp_path)
    assert f"the command sees {tmp_path}, read-only" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["--file=input", "cat input | wc"])
def test_a_file_is_seen_behind_an_option_and_in_a_shell_line(
    word: str, requests: list[Request], tmp_path: Path
) -> None:
    (tmp_path / "input").touch()
    assert asked(replace(ASKED, command=("sh", word)), requests).campaign.binds


def test_nothing_is_bound_for_a_command_that_names_no_file_or_must_not_see_it(
    requests: list[Request], tmp_path: Path
) -> None:
    assert asked(ASKED, requests).campaign.binds == ()
    (tmp_path / "input").touch()
    assert asked(replace(ASKED, binds_here=False), requests).campaign.binds == ()
    (tmp_path / "python3").touch()
    assert asked(replace(ASKED, command=("python3", "-V")), requests).campaign.binds == ()


def test_an_input_is_bound_but_the_command_keeps_its_own_empty_folder(
    requests: list[Request], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in").touch()
    request = asked(replace(ASKED, input_file=Path("data/in")), requests)
    assert request.campaign.binds == (f"{tmp_path}/data:ro",)
    assert request.campaign.workloads[0].options["input"] == f"{tmp_path}/data/in"
    assert "directory" not in request.campaign.workloads[0].options


def test_a_figure_of_merit_is_judged_first_and_timed_from_start_to_end(requests: list[Request]) -> None:
    options = replace(ASKED, metrics=(r"gflops=(\S+) GF",), unit="Gflop/s", higher_is_better=True)
    chosen = workload(options, requests)
    assert (chosen.primary, chosen.way) == (("gflops",), Way.WHOLE)
    assert chosen.options["higher_is_better"] is True


def test_a_variable_is_a_factor_with_its_values_in_the_command(requests: list[Request]) -> None:
    options = replace(ASKED, command=("solver", "-n{n}"), variable="n=10,2e3")
    (small, first), (large, second) = asked(options, requests).campaign.cells
    assert (small.options["argv"], large.options["argv"]) == (["solver", "-n10"], ["solver", "-n2e3"])
    assert (str(first.levels[0]), second.levels[0].number) == ("n=10", 2000.0)


@pytest.mark.parametrize("variable", ["mode=fast,exact", "mode=-1,1", "mode=inf,1", "mode=1,1.0"])
def test_a_variable_of_words_or_values_without_a_logarithm_has_no_curve(
    variable: str, requests: list[Request]
) -> None:
    options = replace(ASKED, command=("solver", "{mode}"), variable=variable)
    (factor,) = asked(options, requests).campaign.factors
    assert [level.number for level in factor.levels] == [None, None]


def test_without_a_name_only_environments_that_can_take_turns_are_weighed(
    requests: list[Request], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody asked for the others: one line names them, and they have no row in the result."""

    def probes(providers: object, limit_s: float) -> dict[str, Probe]:  # noqa: ARG001 - as the original
        return {
            "docker": Probe(usable=False, reason="no daemon"),
            "lxc": Probe(usable=True),
            "gvisor": Probe(usable=True),
            "qemu": Probe(usable=True, emulated=True),
        }

    monkeypatch.setattr(weigh_environments, "probe_all", probes)
    request = asked(replace(ASKED, environments=()), requests)
    assert [environment.name for environment in request.campaign.environments] == ["lxc"]
    assert capsys.readouterr().err.splitlines() == [
        "left out: docker (not usable here: tare doctor); gvisor and qemu (own kernel: --env)"
    ]


def test_native_beside_another_environment_is_the_same_as_without_it(requests: list[Request]) -> None:
    request = asked(replace(ASKED, environments=("native", "fake", "fake")), requests)
    assert [environment.name for environment in request.campaign.environments] == ["fake"]


def test_the_hosts_own_files_get_what_finds_software_in_this_shell_and_nothing_else(
    requests: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"LD_LIBRARY_PATH": "/opt/blas", "OMPI_MCA_btl": "self", "SECRET": "x"}.items():
        monkeypatch.setenv(name, value)
    options = replace(ASKED, against="host", host_variables=("OMPI_MCA_btl", "A=b"))
    host, fake = asked(options, requests).campaign.environments
    variables = host.options["variables"]
    assert isinstance(variables, list)
    assert variables[1:] == ["LD_LIBRARY_PATH=/opt/blas", "OMPI_MCA_btl=self", "A=b"]
    assert variables[0].startswith("PATH=")
    assert fake.options == {}


@pytest.fixture
def any_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a host that has every device."""
    monkeypatch.setattr(written, "find_devices", lambda _: ())


@pytest.mark.usefixtures("any_device")
def test_every_arm_is_to_have_the_devices(requests: list[Request]) -> None:
    request = asked(replace(ASKED, devices=("nvidia", "/dev/fuse", "nvidia")), requests)
    assert request.campaign.devices == ("nvidia", "/dev/fuse")
    assert {workload.way for workload in request.campaign.workloads} == {Way.WHOLE}


@pytest.mark.usefixtures("any_device", "requests")
@pytest.mark.parametrize(
    ("technology", "why"),
    [("qemu", "VFIO"), ("gvisor", "own kernel"), ("custom", "pass the device in them"), ("openvz", "how to")],
)
def test_a_named_environment_that_cannot_have_devices_is_refused_with_the_reason(
    technology: str, why: str
) -> None:
    options = replace(ASKED, environments=(technology,), devices=("nvidia",))
    with pytest.raises(InputError, match=rf"^--device: {technology} cannot have any: .*{why}"):
        run_weigh(options, Path("result"), "default", Shown())


@pytest.mark.usefixtures("any_device", "requests")
def test_environments_that_nobody_named_are_left_out_in_a_line_if_they_cannot_have_devices(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    probes = {name: Probe(usable=True) for name in ("bubblewrap", "openvz", "qemu")}
    monkeypatch.setattr(weigh_environments, "probe_all", lambda *_: probes)
    options = replace(ASKED, environments=(), devices=("nvidia",))
    run_weigh(options, Path("result"), "default", Shown())
    said = capsys.readouterr().err.splitlines()
    assert "left out: qemu (own kernel: --env); openvz (no devices of the host)" in said


def test_only_the_words_that_the_user_typed_are_files_of_this_directory(
    requests: list[Request], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stated = {"config": {"Entrypoint": ["./tool", "--data", "input"], "Cmd": ["usual"]}}
    image = Image("own", tmp_path, "sha256:0", ImageConfig.read(stated).facts())
    monkeypatch.setattr(weigh, "find_image", lambda _: image)
    for name in ("tool", "input", "usual", "mine"):
        (tmp_path / name).touch()
    assert asked(replace(ASKED, command=()), requests).campaign.binds == ()
    assert asked(replace(ASKED, command=("other",)), requests).campaign.binds == ()
    typed = asked(replace(ASKED, command=("mine",)), requests).campaign
    assert typed.binds == (f"{tmp_path}:ro",)
    assert typed.workloads[0].options["argv"] == ["./tool", "--data", "input", "mine"]
    assert asked(replace(ASKED, command=("mine",), entrypoint=False), requests).campaign.binds == ()


@pytest.mark.parametrize(("user", "is_said"), [("app:data", True), ("root", False), ("", False)])
def test_an_ordinary_user_is_told_that_the_images_user_takes_root(
    user: str,
    is_said: bool,
    requests: list[Request],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    image = Image("own", tmp_path, "sha256:0", ImageConfig.read({"config": {"User": user}}).facts())
    monkeypatch.setattr(weigh, "find_image", lambda _: image)
    monkeypatch.setattr(weigh, "ordinary_user", lambda: True)
    asked(ASKED, requests)
    assert ("not as the image's user app:data, which takes root" in capsys.readouterr().err) is is_said


def test_a_dry_run_says_that_the_image_has_no_mpirun_too(
    requests: list[Request], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(weigh, "find_image", lambda _: Image("own", tmp_path, "sha256:0"))
    with pytest.raises(InputError, match="has no mpirun"):
        run_weigh(replace(ASKED, mpi=True), None, "default", Shown(), dry_run=True)
    assert requests == []
