"""Decisions of an owner about agents: copies of a host's image, machines that enrol again, and what the trail says."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.agents import trust
from apps.agents.models import Agent, Enrolment
from apps.inventory.models import Filesystem, Host
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Run
from tests.agents.conftest import FakeAgent
from tests.conftest import Cast

SignIn = Callable[[str], Client]
CARDS, OTHERS, YET_OTHERS = ("1" * 16, "2" * 16), ("3" * 16,), ("4" * 16,)


@dataclass
class CardedAgent(FakeAgent):
    """An agent that reports its machine's network cards."""

    cards: tuple[str, ...] = CARDS

    @property
    def headers(self) -> dict[str, str]:
        return {**super().headers, "X-Spindle-Hardware": ",".join(self.cards)}

    def call(self) -> int:
        return int(self.post("inventory/", outputs=[]).status_code)


def enrolled(lab: Lab, machine: str = "", **fields: Any) -> CardedAgent:
    fake = CardedAgent(lab, **({"machine": machine} if machine else {}))
    with lab_scope(lab.pk):
        assert fake.enrol(Enrolment.objects.issue(lab, "owner", **fields)[1]).status_code == 201
        Agent.objects.filter(pk=fake.pk).update(hardware=",".join(CARDS))
    return fake


@pytest.fixture
def carded(cast: Cast) -> CardedAgent:
    return enrolled(cast.lab, trusted=True)


def trail(lab: Lab) -> list[tuple[str, str, str, dict[str, Any]]]:
    with lab_scope(lab.pk):
        events = AuditEvent.objects.exclude(act="agent enrolled").order_by("pk")
        return [(event.act, event.subject, event.who, event.detail) for event in events]


def press(owner: Client, fake: FakeAgent, act: str, **data: Any) -> str:
    """Press the owner's button and return the page that follows."""
    return owner.post(reverse("agent-decide", args=[fake.pk, act]), data, follow=True).content.decode()


def test_a_copy_with_other_cards_is_refused_and_an_owner_is_asked_once(carded: CardedAgent) -> None:
    assert carded.call() == 202
    for cards in (OTHERS, OTHERS, YET_OTHERS):
        carded.cards = cards
        assert carded.call() == 403
    row = carded.row
    assert (row.state, row.hardware, row.other_hardware) == ("approved", ",".join(CARDS), ",".join(OTHERS))
    carded.cards = CARDS[1:]
    assert carded.call() == 202, "a host that lost one of its cards goes on"
    [(act, subject, who, detail)] = trail(carded.lab)
    assert (act, subject, who) == ("agent's secret came from other hardware", "bench1", row.author)
    assert detail["times"] == 1, "an owner is asked about one copy at a time"


def test_a_copy_that_was_refused_stays_refused_and_yet_another_one_is_asked_about(
    cast: Cast, carded: CardedAgent, sign_in: SignIn
) -> None:
    owner = sign_in("owner")
    assert "nothing was changed" in press(owner, carded, "refuse-hardware"), "nobody has called yet"
    carded.cards = OTHERS
    carded.call()
    assert "the copy stays refused" in press(owner, carded, "refuse-hardware")
    assert "nothing was changed" in press(owner, carded, "refuse-hardware")
    assert carded.call() == 403
    assert carded.row.other_hardware_at is None, "nobody is asked again"
    carded.cards = YET_OTHERS
    carded.call()
    assert carded.row.other_hardware == ",".join(YET_OTHERS)
    assert carded.row.other_hardware_at
    press(owner, carded, "refuse-hardware")
    assert carded.row.refused_hardware == [",".join(OTHERS), ",".join(YET_OTHERS)]
    asked, refused = ("agent's secret came from other hardware", 2), ("agent's copy refused", None)
    acts = [(act, detail.get("times")) for act, _, _, detail in trail(cast.lab)]
    assert acts == [asked, refused, refused]
    assert {(subject, who) for act, subject, who, _ in trail(cast.lab) if act == refused[0]} == {
        ("bench1", "owner@example.org")
    }


def test_exchanged_cards_are_the_hosts_own_once_an_owner_says_so(
    cast: Cast, carded: CardedAgent, sign_in: SignIn
) -> None:
    owner = sign_in("owner")
    carded.cards = OTHERS
    carded.call()
    press(owner, carded, "refuse-hardware")
    assert "its new network cards are accepted" in press(owner, carded, "accept-hardware"), "the owner was mistaken"
    row = carded.row
    assert (row.hardware, row.other_hardware, row.other_hardware_at, row.refused_hardware) == (
        ",".join(OTHERS), "", None, [],
    )  # fmt: skip
    assert carded.call() == 202
    carded.cards = CARDS
    assert carded.call() == 403, "the former ones are another machine now"
    assert ("agent's hardware accepted", "bench1", "owner@example.org", {}) in trail(cast.lab)
    carded.cards = OTHERS
    stale = carded.row
    with lab_scope(cast.lab.pk):
        stale.other_hardware = ""
        assert not trust.accept_hardware(stale, "owner@example.org"), "there is nothing to accept"


@pytest.mark.parametrize(
    ("act", "before", "after"),
    [
        ("approve", "pending", "approved"), ("approve", "quarantined", "approved"),
        ("quarantine", "approved", "quarantined"), ("quarantine", "pending", "quarantined"),
        ("revoke", "pending", "revoked"), ("revoke", "approved", "revoked"), ("revoke", "quarantined", "revoked"),
    ],
)  # fmt: skip
def test_a_decision_changes_the_state_once_and_is_written_down(
    cast: Cast, carded: CardedAgent, sign_in: SignIn, act: str, before: str, after: str
) -> None:
    with lab_scope(cast.lab.pk):
        Agent.objects.update(state=before, approved_at=None)
    words = {"approve": "agent approved", "quarantine": "agent quarantined", "revoke": "agent revoked"}[act]
    assert f"bench1: {words}." in press(sign_in("owner"), carded, act)
    assert (carded.row.state, carded.row.approved_at is not None) == (after, act == "approve")
    assert "nothing was changed" in press(sign_in("owner"), carded, act)
    assert trail(cast.lab) == [(words, "bench1", "owner@example.org", {})]


def test_a_revoked_agent_is_never_approved_again(cast: Cast, carded: CardedAgent, sign_in: SignIn) -> None:
    press(sign_in("owner"), carded, "revoke")
    for act in ("approve", "quarantine"):
        assert "nothing was changed" in press(sign_in("owner"), carded, act)
    assert carded.row.state == "revoked"
    assert carded.call() == 401


def test_the_runs_that_were_given_up_are_settled_when_their_agent_is_revoked(agent: FakeAgent, start: Any) -> None:
    start(2)
    attempt = agent.take()
    with lab_scope(agent.lab.pk):
        Run.objects.filter(pk=attempt.run_id).update(state="interrupted")
        type(attempt).objects.filter(pk=attempt.pk).update(state="interrupted", abandoned_at=attempt.offered_at)
        assert type(attempt).objects.abandoned().count() == 1
        assert trust.decide(agent.row, "quarantine", "owner@example.org")
        assert type(attempt).objects.abandoned().count() == 1, "its host may still say something"
        assert trust.decide(agent.row, "revoke", "owner@example.org")
        assert type(attempt).objects.abandoned().filter(answered_at=None).count() == 0


def test_a_machine_that_enrols_again_waits_and_replaces_the_agent_that_it_had(cast: Cast, sign_in: SignIn) -> None:
    former = enrolled(cast.lab, trusted=True)
    stranger = enrolled(cast.lab)
    waiting = enrolled(cast.lab, machine=former.machine)
    host, waited_on = former.row.host, waiting.row.host
    assert (host.name, waited_on.name) == ("bench1", "bench1 (3)")
    owner = sign_in("owner")
    assert "nothing was changed" in press(owner, waiting, "replace", former=stranger.pk), "another machine"
    assert "nothing was changed" in press(owner, former, "replace", former=waiting.pk), "it does not wait"
    assert press(owner, waiting, "replace", former=former.pk).count("its agent was replaced") == 1
    assert (waiting.row.host, waiting.row.state) == (host, "approved")
    assert waiting.row.approved_at
    with all_labs():
        assert not Agent.objects.filter(pk=former.pk).exists()
        assert not Host.objects.filter(pk=waited_on.pk).exists()
    assert former.call() == 401
    assert waiting.call() == 202
    assert trail(cast.lab) == [("agent replaced", "bench1", "owner@example.org", {"waited_as": "bench1 (3)"})]


def test_a_host_under_which_an_agent_waited_stays_if_somebody_gave_it_something(cast: Cast) -> None:
    former = enrolled(cast.lab, trusted=True)
    waiting = enrolled(cast.lab, machine=former.machine)
    waited_on = waiting.row.host
    with lab_scope(cast.lab.pk):
        Filesystem.objects.create(lab=cast.lab, host=waited_on, type="ext4", mount_point="/data")
        assert trust.replace(waiting.row, former.row, "owner@example.org")
        assert Host.objects.filter(pk=waited_on.pk).exists()
        assert not trust.replace(waiting.row, waiting.row, "owner@example.org")


def test_an_owner_reads_whether_two_agents_are_the_same_machine(cast: Cast) -> None:
    former = enrolled(cast.lab, trusted=True)
    revoked = enrolled(cast.lab, machine=former.machine)
    waiting = enrolled(cast.lab, machine=former.machine)
    enrolled(cast.other_lab, machine=former.machine)
    with lab_scope(cast.lab.pk):
        Agent.objects.filter(pk=revoked.pk).update(state="revoked")

    def hints(cards: str) -> list[tuple[int, str]]:
        with lab_scope(cast.lab.pk):
            Agent.objects.filter(pk=waiting.pk).update(hardware=cards)
            twins = trust.twins_of([waiting.row, former.row])
        assert list(twins) == [waiting.pk], "only one that waits is asked about"
        return [(twin.agent.pk, twin.hint) for twin in twins[waiting.pk]]

    for cards, words in [
        (f"{CARDS[1]},{OTHERS[0]}", "very likely the same machine, enrolled again"),
        (OTHERS[0], "very likely another machine"),
        ("", "is not known"),
    ]:
        [(pk, hint)] = hints(cards)
        assert pk == former.pk
        assert words in hint


def test_the_enrolment_of_a_machine_that_is_known_names_its_twins_in_the_trail(cast: Cast) -> None:
    former = enrolled(cast.lab, trusted=True)
    enrolled(cast.lab, machine=former.machine)
    with lab_scope(cast.lab.pk):
        first, second = AuditEvent.objects.filter(act="agent enrolled").order_by("pk")
    assert (first.subject, first.who, first.detail) == ("bench1", "owner", {})
    assert (second.subject, second.who, second.detail) == ("bench1 (2)", "owner", {"same_machine_as": ["bench1"]})


@pytest.mark.parametrize(
    ("reported", "cards"),
    [
        (["b" * 16, "a" * 16, "a" * 16], "a" * 16 + "," + "b" * 16),
        ("b" * 16 + "," + "a" * 16, "a" * 16 + "," + "b" * 16),
        (["A" * 16, "a" * 15, "a" * 17, 7, None], ""),
        ({"a": 1}, ""),
        (None, ""),
        ([f"{n:016x}" for n in range(40)], ",".join(f"{n:016x}" for n in range(trust.MOST_CARDS))),
    ],
)
def test_network_cards_are_read_as_hashes_and_nothing_else(reported: Any, cards: str) -> None:
    assert trust.read_hardware(reported) == cards
