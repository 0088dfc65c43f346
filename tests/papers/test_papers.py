# SPDX-License-Identifier: Apache-2.0
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY
from tests.plan.preset_hosts import resolved_preset

from tare.analyze.otherwise import cell_differs, environment_differs, has_option
from tare.analyze.published import places_of, unknown_roles
from tare.analyze.roles import ROLES, in_role
from tare.environments import PROVIDERS
from tare.errors import InputError
from tare.papers import PAPERS, paper, papers, view, views
from tare.papers.schema import ALIKE, PaperFile
from tare.plan.campaign import Campaign
from tare.plan.matrix import preset_matrix
from tare.plan.trials import plan_block
from tare.records import Layout, Workload
from tare.records.published import ClaimKind, ClaimPlace, PublishedClaim, Quantity
from tare.units import GIBIBYTE
from tare.workloads import KINDS

CLAIMS = [(each, claim) for each in views() for claim in each.claims]
COMMON = (
    'short = "T"\ntitle = "t"\nmachines = "m"\nruns = "r"\n[[view]]\nid = "t:fig1"\nwhere = "p. 1"\nshows = "s"\n'
    'workload = "hpl"\nmetric = "hpl_flop_per_s"\nlayout = "1c1p1i"\nof = "{of}"\n'
    'claim = [{{ text = "x", environments = ["lxc"], {says} }}]\n'
)


def claim_of(says: str, of: str = "rate") -> PublishedClaim:
    import tomllib  # noqa: PLC0415 - of this helper alone

    file = PaperFile.model_validate(tomllib.loads(COMMON.format(says=says, of=of)))
    return file.paper("t").views[0].claims[0]


@cache
def large(name: str) -> Campaign:
    """On 64 hosts of 16 processors, which have the folder that nodes share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "is_dir", lambda _: True)
        return resolved_preset(name, processors=16, memory_byte=128 * GIBIBYTE, hosts=64)


def is_there(place: ClaimPlace, cells: Iterable[tuple[Workload, Layout]]) -> bool:
    return any(
        workload.kind in place.kinds
        and str(layout) == place.layout
        and all(has_option(workload.options, key, value) for key, value in place.options.items())
        for workload, layout in cells
    )


def test_every_paper_has_views_and_every_view_has_its_own_name() -> None:
    assert [each.identity for each in papers()] == list(PAPERS)
    names = [each.identity for each in views()]
    assert len(set(names)) == len(names) > 70
    assert all(re.fullmatch(r"(b16|b17|y15|r15|l12):(fig|table)\d+[a-c]?", name) for name in names)


@pytest.mark.parametrize("name", PAPERS)
def test_no_paper_has_a_claim_twice(name: str) -> None:
    own = [replace(claim, text="", where="") for each in paper(name).views for claim in each.claims]
    assert [claim for place, claim in enumerate(own) if claim in own[:place]] == []


def test_a_paper_that_was_published_again_has_its_own_pages_names_and_claims() -> None:
    thesis, again = paper("b16-stage3"), paper("b17")
    assert (thesis.short, again.short) == ("B16, stage 3", "B17")
    assert {each.identity.partition(":")[0] for each in thesis.views} == {"b16"}
    assert {each.preset for each in thesis.views} == {"b16-stage3"}
    assert [len(each.claims) for each in thesis.views] != [len(each.claims) for each in again.views]
    assert view("b16:fig43").note == ""
    assert view("b17:fig12").note != ""


def test_every_claim_says_where_it_stands_and_has_a_bound() -> None:
    assert all(claim.text and claim.where for _, claim in CLAIMS)
    assert [each.identity for each, claim in CLAIMS if claim.low is None and claim.high is None] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b16:fig10b", "VirtualBox loses from single to star mode"),
        ("b16:fig11a", "VirtualBox loses from single to star mode"),
        ("b16:fig12a", "KVM is 20 to 40 % above VirtualBox, by ping-pong"),
        ("b16:fig12b", "KVM is 20 to 40 % better than VirtualBox, in the random ring"),
        ("b16:fig26", "KVM is below LXC in every layout"),
        ("y15:fig8", "Xen is worse than KVM (large messages)"),
        ("y15:fig13", "Xen is worse than KVM (small messages)"),
        ("y15:fig14", "Xen is worse than KVM (large messages)"),
        ("r15:table1", "MG: messages take 206.01 ms in containers of one host, 1024.00 ms over 8 hosts"),
        ("r15:fig2", "LU: 16 processes take less time on 8 hosts than by shared memory on one"),
    ],
)
def test_what_a_text_says_of_each_environment_and_way_is_a_claim(name: str, text: str) -> None:
    assert text in {claim.text for claim in view(name).claims}


def test_every_printed_number_lies_within_its_claim() -> None:
    outside = [
        (each.identity, claim.text)
        for each, claim in CLAIMS
        if claim.printed and claim.kind is not ClaimKind.VARIATION
        for end in claim.printed
        for size in [abs(end) if claim.either_sign else end]
        if (claim.low is not None and size < claim.low) or (claim.high is not None and size > claim.high)
    ]
    assert outside == []


def test_every_environment_of_a_claim_is_a_technology_of_the_tree() -> None:
    assert unknown_roles(claim for _, claim in CLAIMS) == frozenset()
    assert {technology for role in ROLES.values() for technology in role.technologies} <= set(PROVIDERS)


def test_no_claim_joins_others_with_vmware_player_which_none_can_measure_as_the_paper_did() -> None:
    joined = [claim for _, claim in CLAIMS if {"vmware-player"} < set(claim.environments)]
    assert joined == []


def test_every_workload_of_a_claim_is_in_the_tree_and_has_the_metric() -> None:
    places = {place for _, claim in CLAIMS for place in map(_key, places_of(claim))}
    kinds = {kind for kinds, _ in places for kind in kinds}
    assert kinds <= set(KINDS)
    source = "".join(
        path.read_text() for path in sorted((REPOSITORY / "src" / "tare" / "workloads").rglob("*.py"))
    )
    assert {metric for _, metric in places if not _is_metric(metric, source)} == set()


def _key(place: ClaimPlace) -> tuple[tuple[str, ...], str]:
    return place.kinds, place.metric


def _is_metric(metric: str, source: str) -> bool:
    from tare.records import Activity  # noqa: PLC0415 - of this helper alone
    from tare.workloads.files.result import RATE  # noqa: PLC0415 - as above
    from tare.workloads.hpcc.metrics import METRICS  # noqa: PLC0415 - as above
    from tare.workloads.hpcc.times import SECTIONS  # noqa: PLC0415 - as above

    made = {each.name for each in METRICS} | {each.metric for each in Activity} | set(RATE.values())
    made |= {f"{start}_{clock}" for start in SECTIONS.values() for clock in ("wall_s", "cpu_s")}
    return metric in made or f'"{metric}"' in source


@pytest.mark.parametrize("name", PAPERS)
def test_the_preset_of_a_paper_measures_all_that_its_claims_speak_of(name: str) -> None:
    campaign = large(name)
    claims = [claim for each in paper(name).views for claim in each.claims]
    assert claims
    lacking = {
        (place.kinds, place.layout, str(dict(place.options)))
        for claim in claims
        if claim.kind is not ClaimKind.ORDER
        for place in places_of(claim)
        if not is_there(place, [(workload, setting.layout) for workload, setting in campaign.cells])
    }
    assert lacking == set()
    roles = {role for claim in claims for role in (*claim.environments, *claim.among)} - {"native"}
    assert {role for role in roles if not any(in_role(role, own) for own in campaign.environments)} == set()


@pytest.mark.parametrize("name", PAPERS)
def test_a_preset_on_hosts_that_hold_all_of_it_measures_the_papers_own_points(name: str) -> None:
    asked = preset_matrix(name)
    places = {
        repr(place): place
        for each in paper(name).views
        for claim in each.claims
        for place in places_of(claim)
    }
    trials = plan_block(large(name), 0, 0)
    differing = {
        words
        for trial in trials
        for role in ROLES
        if in_role(role, trial.environment) and any(in_role(role, own) for own in asked.environments)
        for words in environment_differs(role, trial.environment, trial, asked)
    }
    differing |= {
        words
        for place in places.values()
        for trial in trials
        if is_there(place, [(trial.workload, trial.layout)])
        for words in cell_differs(place, trial, asked, is_scaled=False)
    }
    assert differing == set()


@pytest.mark.parametrize("name", PAPERS)
def test_the_preset_of_a_paper_has_its_losses_and_orders(name: str) -> None:
    campaign = large(name)
    claims = [claim for each in paper(name).views for claim in each.claims]
    pairs = {(str(own.alone), str(layout)) for own in campaign.sharings for layout in own.together}
    losses = {(claim.alone, place.layout) for claim in claims if claim.alone for place in claim.places}
    assert losses <= pairs
    values = {float(value) for order in campaign.orders for value in order.values}
    assert {claim.value for claim in claims if claim.value is not None} <= values


def test_a_number_stands_for_half_to_twice_of_it() -> None:
    assert (claim_of("worse = 10.0").low, claim_of("worse = 10.0").high) == (-0.2, -0.05)
    assert (claim_of("worse = 10.0", "time").low, claim_of("worse = 10.0", "time").high) == (0.05, 0.2)
    assert claim_of("worse = 10.0").printed == (-0.1, -0.1)


def test_a_rate_cannot_fall_below_nothing() -> None:
    assert claim_of("worse = 75.0").low == -1.0


def test_a_range_is_taken_as_it_is() -> None:
    claim = claim_of("better = [20.0, 40.0]")
    assert (claim.low, claim.high, claim.printed) == (0.2, 0.4, (0.2, 0.4))


def test_words_without_a_number_have_one_bound() -> None:
    worse, better = claim_of("worse = true"), claim_of("better = true", "time")
    assert (worse.low, worse.high, worse.printed) == (None, 0.0, None)
    assert (better.low, better.high) == (None, 0.0)


def test_alike_is_less_than_the_usual_difference() -> None:
    claim = claim_of("alike = true")
    assert (claim.low, claim.high) == (-ALIKE / 100, ALIKE / 100)
    assert claim_of("alike = 1.0").high == 0.01


def test_bounds_that_are_stated_are_kept() -> None:
    assert (claim_of("at_most = 13.04", "time").low, claim_of("at_most = 13.04", "time").high) == (
        None,
        0.1304,
    )
    assert (claim_of("at_least = 30.0", "time").low, claim_of("at_least = 30.0", "time").high) == (0.3, None)
    assert (claim_of("at_most = 5.0").low, claim_of("at_most = 5.0").high) == (-0.05, None)


def test_a_difference_in_either_direction_has_no_sign() -> None:
    claim = claim_of("differs = [50.0, inf]")
    assert (claim.low, claim.high, claim.either_sign) == (0.5, None, True)
    assert claim.printed == (0.5, 0.5)


def test_a_spread_is_no_change() -> None:
    claim = claim_of("variation_at_most = 3.62")
    assert (claim.quantity, claim.high) == (Quantity.VARIATION, 0.0362)


def test_a_key_that_no_claim_has_is_refused() -> None:
    with pytest.raises(ValueError, match="slower"):
        claim_of("slower = 3.0")


def test_a_view_is_named_in_any_case_and_an_unknown_one_with_its_neighbours() -> None:
    assert view("B16:Fig20").identity == "b16:fig20"
    with pytest.raises(InputError, match=r"choose one of .*b17:fig2"):
        view("b17:fig99")
    with pytest.raises(InputError, match="--as list"):
        view("fig20")
