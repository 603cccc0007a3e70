"""Whatever happens in whatever order: a host never gets a second run beside one that it still has, and none starts twice."""

import random
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.agents.models import Agent
from apps.agents.tasks import dispatch_host, sweep
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt, Run
from apps.runs.queue import abandon_run
from apps.runs.services import cancel_run
from apps.runs.states import ENDED, State
from tests.agents.conftest import FakeAgent
from tests.sampling import IS_LONG

STEPS, SEEDS = 45, 12 if IS_LONG else 4
SETTLING, CALM = 60, 3  # rounds in which all comes to its end; how many follow on that without a change


@dataclass
class Host:
    """A host as it really is, which the server only hears of: what runs on it, and what was ever begun there."""

    agent: FakeAgent
    attempt: Attempt | None = None
    state: str = ""
    begun: list[int] = field(default_factory=list)
    late: int = 0
    away: bool = False

    def act(self, chance: random.Random) -> None:
        if self.away:
            self.away = chance.random() < 0.6
            return
        chance.choice([self.poll, self.poll, self.accept, self.announce, self.end])()

    def poll(self) -> None:
        held = [(self.attempt.pk, self.attempt.token, self.state)] if self.attempt and self.state else []
        answer = self.agent.poll(*held, is_dispatched=False)
        dispatch_host(self.agent.row.host_id)
        if self.attempt and self.attempt.pk in answer["cancel"]:
            self.end("cancelled")
        elif self.attempt is None and answer["offers"]:
            with all_labs():
                self.attempt = Attempt.objects.get(pk=answer["offers"][0]["attempt"])

    def accept(self) -> None:
        if self.attempt and not self.state:
            answer = self.agent.post(f"attempts/{self.attempt.pk}/accept/", token=self.attempt.token)
            if answer.status_code == 200:
                self.state = "accepted"
            else:
                self.attempt = None

    def announce(self) -> None:
        if self.attempt is None or self.state != "accepted":
            return
        self.state = "running"
        self.begun.append(self.attempt.run_id)
        self.agent.post(f"attempts/{self.attempt.pk}/running/", token=self.attempt.token)

    def end(self, outcome: str = "finished") -> None:
        if self.attempt is None or not self.state:
            return
        answer = self.agent.post(
            f"attempts/{self.attempt.pk}/finish/", token=self.attempt.token, outcome=outcome, streams={}
        )
        if answer.status_code == 200:
            self.late += self.agent.again(self.attempt).abandoned_at is not None
            self.attempt, self.state = None, ""
        else:
            assert answer.status_code == 410
            self.attempt, self.state = None, ""


def go_quiet(host: Host) -> None:
    past = timezone.now() - timedelta(minutes=5)
    host.away = True
    with all_labs():
        Attempt.objects.exclude(lease_until=None).update(lease_until=past)
        Agent.objects.update(last_seen_at=past)
    sweep()


def give_up(host: Host) -> None:
    with lab_scope(host.agent.lab.pk):
        for run in Run.objects.filter(state=State.UNKNOWN):
            abandon_run(run, "any reason", "engineer")


def cancel_one(host: Host) -> None:
    with lab_scope(host.agent.lab.pk):
        run = Run.objects.exclude(state__in=ENDED).order_by("pk").first()
        if run:
            cancel_run(run, "engineer")


def check(host: Host) -> None:
    with all_labs():
        open_attempts = list(Attempt.objects.open())
        assert Attempt.objects.may_be_on_host().count() <= 1
    if host.attempt and host.state:
        others = [attempt for attempt in open_attempts if attempt.pk != host.attempt.pk]
        assert not others, f"{others} beside {host.attempt}, which is {host.state} on the host"
    assert len(host.begun) == len(set(host.begun)), host.begun


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_runs_beside_what_the_host_still_has(agent, start, seed) -> None:
    chance = random.Random(seed)
    host = Host(agent)
    start(6)
    for _ in range(STEPS):
        if chance.random() < 0.75:
            host.act(chance)
        else:
            chance.choice([go_quiet, give_up, give_up, cancel_one, lambda _: dispatch_host(agent.row.host_id)])(host)
        check(host)
    calm = 0
    for _ in range(SETTLING):  # in the end all is done, whatever was given up
        host.away = False
        host.poll()
        host.accept()
        host.announce()
        host.end()
        check(host)
        calm = calm + 1 if is_done() else 0
        if calm == CALM:
            break
    assert is_done()


def is_done() -> bool:
    with all_labs():
        # one whose result was not read in is "running"
        under_way = Run.objects.exclude(state__in=[*ENDED, State.RUNNING])
        return not under_way.exists() and not Attempt.objects.may_be_on_host().exists()
