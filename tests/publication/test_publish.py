# SPDX-License-Identifier: Apache-2.0
"""What a paper and its reviewers need comes from a result, gives the same answer, and names nobody."""

import csv
import io
import json
import tarfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.fake_campaign import fake_campaign, fake_environment, fake_request

from tare.commands import publish
from tare.commands.line import Shown
from tare.commands.publish import PublishOptions, run_publish
from tare.commands.run import run_and_show
from tare.commands.show import measured_result
from tare.drawing import svg
from tare.errors import InputError, OutputError
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder, journal_name
from tare.journal.writer import JournalWriter
from tare.publication import anonymous
from tare.publication.names import Names
from tare.report.exports import verdict_rows

pytestmark = pytest.mark.usefixtures("fake_image")
PLAIN = PublishOptions(title=None, authors=(), licence=None, named=False)
TOLD = "node17.cluster.example"


@pytest.fixture
def result(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A result whose journal names a host, a folder of a user's and an address."""
    monkeypatch.setattr(anonymous, "own_hosts", lambda: {TOLD})
    monkeypatch.setattr(svg, "find_spec", lambda _: None)  # figures take seconds
    plain, named = (
        ResultFolder(tmp_path_factory.getbasetemp() / "to-publish"),
        ResultFolder(tmp_path / "result"),
    )
    if not plain.exists():
        run_and_show(
            fake_request(fake_campaign(fake_environment(slowdown=0.2)), plain.path), Shown(quiet=True)
        )
    named.write_campaign(plain.read_campaign())
    journal = read_journal(plain.journal)
    with JournalWriter(named.journal / journal_name(journal.sessions[0])) as writer:
        writer.append(journal.sessions[0])
        for outcome in journal.outcomes:
            facts = {**outcome.facts, "note": f"on {TOLD} in /scratch/alice/run by 10.1.2.3"}
            writer.append(replace(outcome, facts=facts))
    return named.path


def published(result: Path, options: PublishOptions = PLAIN) -> Path:
    folder = result.parent / f"published{len(list(result.parent.iterdir()))}"
    assert run_publish(result, folder, options) == 0
    return folder


def unpacked(folder: Path) -> Path:
    with tarfile.open(folder / "artifact.tar.gz") as archive:
        assert {member.mtime for member in archive} == {0}
        assert {member.uname for member in archive} == {""}
        for member in archive:
            path, content = folder / member.name, archive.extractfile(member)
            assert content is not None
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
    return folder / "artifact"


def test_the_artifact_names_nobody_and_gives_the_same_answer(result: Path) -> None:
    folder = published(result)
    artifact = unpacked(folder)
    for path in (path for path in artifact.rglob("*") if path.is_file()):
        text = path.read_text()
        assert not [word for word in ("node17", "alice", "10.1.2.3", str(result.parent)) if word in text], (
            path
        )
    shown = measured_result(artifact / "result")
    assert verdict_rows(shown) == verdict_rows(measured_result(result))
    assert not shown.integrity.damage
    assert any("on host-1 in /folder-1/run by 192.0.2.1" in each.facts.values() for each in shown.outcomes)
    key = json.loads((folder / "names.json").read_text())
    assert key["host-1"] == TOLD
    assert not (artifact / "names.json").exists()


def test_with_its_names_the_journal_is_the_same_byte_for_byte(result: Path) -> None:
    folder = published(result, replace(PLAIN, named=True))
    artifact = unpacked(folder)
    (journal,) = (result / "journal").iterdir()
    assert (artifact / "result" / "journal" / journal.name).read_bytes() == journal.read_bytes()
    assert not (folder / "names.json").exists()


def test_two_artifacts_of_one_result_are_the_same(result: Path) -> None:
    first, second = (published(result) / "artifact.tar.gz" for _ in range(2))
    assert first.read_bytes() == second.read_bytes()


def test_the_readme_states_each_claim_how_it_is_checked_and_how_long_it_takes(result: Path) -> None:
    artifact = unpacked(published(result, replace(PLAIN, licence="CC-BY-4.0", title="Slow & *quick*")))
    text = (artifact / "README.md").read_text()
    (claim,) = [verdict for verdict in measured_result(result).verdicts if verdict.overhead.summary.primary]
    assert claim.claim in text.replace("\\", "")
    assert "diff verdicts.csv expected/verdicts.csv" in text
    assert "## 2. Measure again: about " in text
    assert "These data: CC-BY-4.0." in text
    assert "# Artifact: Slow & \\*quick\\*\n" in text
    rows = list(csv.DictReader(io.StringIO((artifact / "expected" / "verdicts.csv").read_text())))
    assert [row["verdict"] for row in rows][:1] == ["slower"]


def test_a_citation_names_the_authors_or_nobody(result: Path) -> None:
    authors = ("Hopper, Grace 0000-0002-1825-0097", "The Example Group")
    text = (published(result, replace(PLAIN, authors=authors)) / "CITATION.cff").read_text()
    assert (
        '  - family-names: "Hopper"\n    given-names: "Grace"\n    orcid: "https://orcid.org/0000-0002-1825-0097"'
        in text
    )
    assert '  - name: "The Example Group"\n' in text
    assert '  - name: "Anonymous"\n' in (published(result) / "CITATION.cff").read_text()


def test_reviewers_see_no_author_unless_names_are_kept(result: Path) -> None:
    by = replace(PLAIN, authors=("Hopper, Grace",))
    named = unpacked(published(result, replace(by, named=True)))
    assert "Hopper" in (named / "CITATION.cff").read_text()
    artifact = unpacked(published(result, by))
    assert all(
        "Hopper" not in path.read_text(errors="replace") for path in artifact.rglob("*.*") if path.is_file()
    )


def test_a_link_to_another_file_is_not_published(result: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"auths": "hunter2"}')
    (result / "calibration.json").unlink(missing_ok=True)
    (result / "calibration.json").symlink_to(secret)
    artifact = unpacked(published(result, replace(PLAIN, named=True)))
    assert not (artifact / "result" / "calibration.json").exists()


def test_every_figure_comes_in_three_formats(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg, "find_spec", find_spec)
    folder = published(result) / "figures"
    endings = {
        ending: sorted(path.stem for path in folder.glob(f"*.{ending}")) for ending in ("svg", "pdf", "tex")
    }
    assert endings["svg"] == endings["pdf"] == endings["tex"] != []


def test_an_artifact_with_another_answer_is_not_written(
    result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = anonymous.copied

    def shorter(folder: ResultFolder, names: Names | None) -> anonymous.Files:
        files = whole(folder, names)
        (journal,) = (name for name in files if name.startswith("journal/"))
        return {**files, journal: b"".join(files[journal].splitlines(keepends=True)[:-4])}

    monkeypatch.setattr(anonymous, "copied", shorter)
    with pytest.raises(OutputError, match="the same answer"):
        run_publish(result, result.parent / "wrong", PLAIN)
    assert not (result.parent / "wrong").exists()


def test_without_the_renderer_only_figures_are_missing(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = published(result)
    assert not (folder / "figures").exists()
    assert (folder / "artifact.tar.gz").exists()
    assert 'no figures: they take the extra "pictures"' in capsys.readouterr().out


def test_a_result_without_a_trial_is_not_published(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = replace(measured_result(result), outcomes=(), verdicts=())
    monkeypatch.setattr(publish, "measured_result", lambda _: empty)
    with pytest.raises(InputError, match="nothing to publish"):
        run_publish(result, result.parent / "new", PLAIN)


def test_what_is_there_is_kept_and_a_wrong_licence_refused(result: Path) -> None:
    folder = published(result)
    with pytest.raises(InputError, match="is there already"):
        run_publish(result, folder, PLAIN)
    with pytest.raises(InputError, match="no SPDX identifier"):
        run_publish(result, result.parent / "new", replace(PLAIN, licence="do what you like"))
    assert not (result.parent / "new").exists()
