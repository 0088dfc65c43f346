# SPDX-License-Identifier: Apache-2.0
import json

import pytest

from tare.commands.image import run_list, run_verify
from tare.errors import ImageError
from tare.image import Image


def test_list_names_digest_and_origin(fake_image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_list(as_json=False) == 0
    assert f"default  {fake_image.digest}" in capsys.readouterr().out


def test_list_as_json_has_a_schema_and_every_image(
    fake_image: Image, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_list(as_json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert [(image["name"], image["digest"]) for image in document["images"]] == [
        ("default", fake_image.digest)
    ]


@pytest.mark.usefixtures("state")
def test_an_empty_list_says_how_to_make_an_image(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_list(as_json=False) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "tare image build" in printed.err


def test_verify_agrees_until_a_byte_changes(fake_image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verify("default", as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["unchanged"] is True
    with (fake_image.root / "opt/tare/bin/init").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ImageError, match="changed opt/tare/bin/init"):
        run_verify("default", as_json=False)
    assert capsys.readouterr().out == ""
