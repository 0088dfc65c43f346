# SPDX-License-Identifier: Apache-2.0
"""Who logs in, and that nobody else learns how; the server's certificate is looked at."""

from pathlib import Path

import pytest
from tests.environments.environment_example import described
from tests.environments.vmware.simulated_vcenter import PASSWORD, Vcenter, watched_govc

from tare.environments import PROVIDERS
from tare.environments.vmware.govc import Govc
from tare.environments.vmware.machine import VmwareMachine
from tare.errors import NodeError
from tare.records import OptionValue

PROVIDER = PROVIDERS["vmware"]


def without(options: dict[str, OptionValue], *names: str) -> dict[str, OptionValue]:
    return {name: value for name, value in options.items() if name not in names}


class TestSecrets:
    def test_no_argument_holds_the_password(self, vcenter: Vcenter, tmp_path: Path) -> None:
        (tmp_path / "tare-test-argv").mkdir()
        govc = watched_govc(tmp_path)
        options = vcenter.options(govc=str(govc.program))
        machine = VmwareMachine(
            described(tmp_path / "tare-test-argv", name="tare-test-argv", options=options)
        )
        machine.make()
        machine.unmake()
        assert len(govc.calls()) > 5
        assert PASSWORD not in str(govc.calls())

    @pytest.mark.parametrize(
        "given",
        [
            {"GOVC_PASSWORD": "se/cret", "GOVC_URL": "https://nobody.invalid"},
            {"GOVC_URL": "https://user:se%2Fcret@nobody.invalid"},
        ],
        ids=["variable", "address"],
    )
    def test_no_message_holds_it_wherever_it_was_given(
        self, given: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        (tmp_path / "govc").write_text('#!/bin/sh\necho "cannot log in: se/cret se%2Fcret" >&2; exit 1\n')
        (tmp_path / "govc").chmod(0o755)
        with pytest.raises(NodeError) as caught:
            Govc.of({"govc": str(tmp_path / "govc")}).ask("about")
        assert str(caught.value).startswith("govc about failed: cannot log in: (hidden)")
        assert "cret" not in str(caught.value)

    def test_no_message_holds_what_stands_in_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "password").touch(mode=0o600)
        (tmp_path / "password").write_text("se/cret\n")
        (tmp_path / "govc").write_text('#!/bin/sh\necho "cannot log in: se/cret" >&2; exit 1\n')
        (tmp_path / "govc").chmod(0o755)
        options: dict[str, OptionValue] = {
            "url": "https://nobody.invalid",
            "password_file": str(tmp_path / "password"),
            "govc": str(tmp_path / "govc"),
        }
        with pytest.raises(NodeError, match=r"cannot log in: \(hidden\)$"):
            Govc.of(options).ask("about")

    def test_it_is_not_shown_with_the_call(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOVC_PASSWORD", "se/cret")
        assert "cret" not in repr(Govc.of({"url": "https://nobody.invalid"}))

    def test_a_file_that_others_may_read_is_refused(self, vcenter: Vcenter, tmp_path: Path) -> None:
        (tmp_path / "password").write_text(PASSWORD)
        (tmp_path / "password").chmod(0o640)
        probe = PROVIDER.configured(vcenter.options(password_file=str(tmp_path / "password"))).probe()
        assert not probe.usable
        assert "chmod 600" in probe.reason

    @pytest.mark.parametrize("name", ["nowhere", "."])
    def test_a_file_that_is_none_is_not_taken_for_the_password(
        self, name: str, vcenter: Vcenter, tmp_path: Path
    ) -> None:
        probe = PROVIDER.configured(vcenter.options(password_file=str(tmp_path / name))).probe()
        assert not probe.usable
        assert "the password cannot be read from" in probe.reason


class TestProbe:
    def test_it_names_the_server(self, vcenter: Vcenter) -> None:
        probe = PROVIDER.configured(vcenter.options()).probe()
        assert probe.usable, probe.reason
        assert probe.version.startswith("govc 0.")
        assert "VMware vCenter Server" in probe.version

    def test_a_wrong_password_is_told(self, vcenter: Vcenter, tmp_path: Path) -> None:
        wrong = tmp_path / "wrong"
        wrong.touch(mode=0o600)
        wrong.write_text("another word")
        probe = PROVIDER.configured(vcenter.options(password_file=str(wrong))).probe()
        assert not probe.usable
        assert "Login failure" in probe.reason
        assert "another word" not in probe.reason

    def test_a_certificate_that_nobody_vouches_for_is_refused(self, vcenter: Vcenter) -> None:
        probe = PROVIDER.configured(without(vcenter.options(), "ca_certificates")).probe()
        assert not probe.usable
        assert "certificate" in probe.reason

    def test_any_certificate_will_do_when_it_is_told_so(self, vcenter: Vcenter) -> None:
        options = without(vcenter.options(insecure=True), "ca_certificates")
        assert PROVIDER.configured(options).probe().usable

    def test_what_is_not_said_comes_from_the_environment(
        self, vcenter: Vcenter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GOVC_URL", vcenter.url)
        monkeypatch.setenv("GOVC_USERNAME", "user")
        monkeypatch.setenv("GOVC_PASSWORD", PASSWORD)
        monkeypatch.setenv("GOVC_TLS_CA_CERTS", vcenter.certificate)
        login = ("url", "username", "password_file", "ca_certificates")
        assert PROVIDER.configured(without(vcenter.options(), *login)).probe().usable

    def test_a_machine_that_is_not_there_is_named(self, vcenter: Vcenter) -> None:
        probe = PROVIDER.configured(vcenter.options(vm=["DC0_H0_VM1", "nobody"])).probe()
        assert (probe.usable, probe.remedy) == (False, "see which there are: govc find / -type m")
        assert probe.reason.endswith("has no machine nobody")

    def test_several_machines_of_one_name_are_told(self, vcenter: Vcenter) -> None:
        probe = PROVIDER.configured(vcenter.options(vm="DC0_H0_VM*")).probe()
        assert not probe.usable
        assert "several machines have that name: DC0_H0_VM" in probe.reason

    def test_without_an_address_it_says_what_to_write(self) -> None:
        probe = PROVIDER.configured({"vm": "any"}).probe()
        assert (probe.usable, probe.reason) == (
            False,
            "no vCenter or ESXi is named; write the option url, or set GOVC_URL",
        )

    def test_without_govc_it_says_so(self) -> None:
        options: dict[str, OptionValue] = {
            "vm": "any",
            "url": "https://nobody.invalid",
            "govc": "/nowhere/govc",
        }
        probe = PROVIDER.configured(options).probe()
        assert (probe.usable, probe.remedy) == (False, "install govc, of VMware's govmomi")

    def test_without_a_campaign_it_points_to_its_page(self) -> None:
        probe = PROVIDER.probe()
        assert not probe.usable
        assert "docs/vmware.md" in probe.remedy
