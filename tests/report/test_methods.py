# SPDX-License-Identifier: Apache-2.0
"""What a paper may say of a result, from the result alone: what ran, how it was judged, and what went otherwise."""

import re
from dataclasses import replace

from tare.records import Analysis, Damage, Fault, Integrity, Withheld
from tare.report import deviations, methods
from tare.report.exports import to_latex, to_markdown
from tare.report.rules_kept import HowKept, rules_kept, rules_table
from tests.report.report_example import example, with_verdicts


def plain(**changes: object) -> Analysis:
    return replace(example(environments=("docker", "lxc"), losing=False), **changes)  # type: ignore[arg-type]


def said(analysis: Analysis) -> str:
    return " ".join(" ".join(each.sentences) for each in methods.methods(analysis))


def kept(analysis: Analysis, number: int) -> tuple[HowKept, str]:
    rule = rules_kept(analysis)[number - 1]
    return rule.kept, rule.evidence


def test_the_methods_name_what_was_compared_counted_and_corrected() -> None:
    analysis = plain()
    text = said(analysis)
    primary = sum(verdict.overhead.summary.primary for verdict in analysis.verdicts)
    assert "We compared docker and lxc with native execution, with Tare " in text
    assert "Trials were arranged in 10 blocks." in text
    assert f"{len(analysis.outcomes)} ran: {len(analysis.outcomes)} ended well, 0 failed" in text
    assert f"The {primary} comparisons on primary metrics" in text
    assert "(n = 10)" in text


def test_a_result_that_ran_as_planned_says_so_and_no_other_does() -> None:
    analysis = plain()
    analysis = replace(analysis, planned_trials=len(analysis.outcomes), skipped=())
    assert deviations.deviations(analysis) == (deviations.NONE,)
    changed = replace(analysis, planned_trials=len(analysis.outcomes) + 4, cut_by_budget=True)
    assert deviations.NONE not in deviations.deviations(changed)


def test_failed_trials_damage_and_withheld_claims_are_deviations() -> None:
    analysis = example()
    damage = Damage(file="journal/a", fault=Fault.ALTERED, line=1, lines=1, sentence="altered")
    withheld = [replace(verdict, withheld=Withheld.NOISE) for verdict in analysis.verdicts[:2]]
    analysis = with_verdicts(replace(analysis, integrity=Integrity(damage=(damage,))), withheld)
    text = " ".join(deviations.deviations(analysis))
    assert "The journal is damaged in 1 place, and what was damaged is not used." in text
    assert (
        "Nothing is claimed of 2 comparisons, because native execution differed from itself by as much."
        in text
    )
    assert re.search(r"\d+ trials? of \S+ \(hpcc on \S+\) (failed|(was|were) invalid): ", text)


def test_a_budgets_end_is_said_with_its_figures() -> None:
    analysis = plain(cut_by_budget=True, planned_trials=500)
    assert f"The time budget ended the campaign: {len(analysis.outcomes)} of 500 planned trials ran." in said(
        analysis
    )


def test_no_line_of_the_text_is_longer_than_79_and_latex_escapes_what_it_must() -> None:
    paragraphs = methods.methods(plain())
    assert max(map(len, methods.as_text(paragraphs).splitlines())) <= 79
    latex = methods.as_latex(paragraphs)
    assert latex.count("\\paragraph{") == 3
    assert not re.search(r"(?<!\\)[%_&#]", latex)


def test_all_twelve_rules_stand_with_evidence_in_both_languages() -> None:
    analysis = plain()
    rules = rules_kept(analysis)
    assert [rule.number for rule in rules] == list(range(1, 13))
    assert all(rule.evidence for rule in rules)
    assert to_markdown(rules_table(analysis)).count("\n| ") == 13
    assert to_latex(rules_table(analysis)).count(r"\\") == 13


def test_a_rule_is_not_kept_where_the_result_does_not_keep_it() -> None:
    analysis = plain()
    assert kept(analysis, 5)[0] is HowKept.KEPT
    few = example(environments=("docker",), blocks=3, losing=False)
    assert kept(few, 5)[0] is HowKept.NOT_KEPT
    assert kept(few, 7)[0] is HowKept.NOT_KEPT
    assert "six complete blocks" in kept(few, 5)[1]
    assert kept(analysis, 2)[0] is HowKept.NOT_KEPT
    assert kept(replace(analysis, verdicts=()), 1)[0] is HowKept.NOT_APPLICABLE
