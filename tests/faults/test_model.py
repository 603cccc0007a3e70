"""A model of hosts, workers, people and faults, in any order that Hypothesis thinks of, against the real server.

The server is the product with its database; the hosts are models of what an agent keeps on its disk and what runs
there. Celery's tasks are caught when they are sent, so that they can come late, twice, in another order, or never.
After each step the promises are checked, and at the end, when all faults are over, everything must come to its end.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.db import transaction
from django.db.models import F
from django.test import TransactionTestCase
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from apps.agents import poll, tasks
from apps.agents.identity import Caller, identify
from apps.agents.models import Agent, Enrolment
from apps.core import task_queue
from apps.inventory.models import Host, Target
from apps.labs.isolation import all_labs, lab_scope, scoped
from apps.labs.models import Lab
from apps.plans import services
from apps.plans import tasks as plan_tasks
from apps.plans.ledger import find_plan_breaks
from apps.plans.models import Execution
from apps.runs.artefacts.ledger import find_ledger_breaks
from apps.runs.models import Attempt, Run
from apps.runs.queue import abandon_run
from apps.runs.services import cancel_run, start_runs
from apps.runs.states import ENDED, OPEN, Priority, State
from apps.runs.workload import WorkloadError
from apps.studies.models import Plan, PlanConfiguration, PlannedRun
from apps.studies.plans.services import set_cell
from tests.agents.conftest import FakeAgent, sha256
from tests.faults.fio_reports import fio_report
from tests.sampling import IS_LONG

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
JOB = {"rw": "write", "direct": False, "sync": "none", "time_based": True, "runtime": 1}
WORKLOAD = {"tool": "fio", "jobs": [{"rw": "randread", "block_size": 4096, "file_size": 1 << 20}]}
HOSTS, ROUNDS = 2, 2
EXAMPLES, STEPS = (300, 80) if IS_LONG else (3, 40)
SETTLING = 120  # turns after which everything must have come to its end
hosts = st.integers(0, HOSTS - 1)
picks = st.integers(0, 10**6)


class LostError(Exception):
    """A request or its answer was lost on the way."""


@dataclass
class HeldAttempt:
    """An attempt's folder in a host's spool: what survives the death of the agent."""

    pk: int
    token: int
    boot: int
    job: dict[str, Any]
    is_wrong: bool = False
    is_accepted: bool = False
    is_begun: bool = False
    is_announced: bool = False
    outcome: str = ""
    is_cancelled: bool = False
    parts: dict[str, list[bytes]] = field(default_factory=dict)  # of each stream, as they were cut
    sent: set[tuple[str, int]] = field(default_factory=set)

    @property
    def state(self) -> str:
        if self.outcome:
            return "uploading"
        if self.is_begun:
            return "running"
        return "accepted" if self.is_accepted else "offered"

    def begin(self) -> None:
        """Start fio, which writes its report; the report is that of another workload where something is wrong."""
        self.is_begun = True
        block_size = self.job["block_size"] * (2 if self.is_wrong else 1)
        data = fio_report(self.job["rw"], block_size, self.job["file_size"])
        journal = json.dumps({"event": "fio started", "at": 1, "attempt": self.pk}).encode() + b"\n"
        self.parts = {"result": [data[:5000], data[5000:]], "stderr": [b""], "journal": [journal]}

    @property
    def unsent(self) -> list[tuple[str, int]]:
        every = [(name, number) for name, parts in self.parts.items() for number in range(len(parts))]
        return [chunk for chunk in every if chunk not in self.sent]

    def manifest(self) -> dict[str, Any]:
        whole = {name: b"".join(parts) for name, parts in self.parts.items()}
        return {
            name: {"chunks": len(self.parts[name]), "bytes": len(data), "sha256": sha256(data)}
            for name, data in whole.items()
        }


@dataclass
class ModelHost:
    """A host as it really is: its agent's spool, and what was ever begun there. It keeps the protocol as the agent does."""

    agent: FakeAgent
    pk: int
    spool: dict[int, HeldAttempt] = field(default_factory=dict)
    quarantine: list[HeldAttempt] = field(default_factory=list)
    begun: Counter[int] = field(default_factory=Counter)
    delivered: set[int] = field(default_factory=set)
    fence: int = 0
    boot: int = 0
    taken: int = 0
    lose: str = ""  # what of the next request is lost: `request` or `answer`

    def post(self, path: str, **body: Any) -> Any:
        if self.lose == "request":
            raise LostError
        answer = self.agent.post(path, **body)
        if self.lose == "answer":
            raise LostError
        return answer

    def poll(self) -> None:
        if self.lose == "request":
            raise LostError
        rows = [
            {"attempt": held.pk, "token": held.token, "state": held.state}
            for held in self.spool.values()
            if held.state != "offered" or held.is_accepted
        ]
        caller = Caller.from_headers({name.lower(): value for name, value in self.agent.headers.items()})
        agent = identify(caller)
        report = poll.Report.from_json({"attempts": rows, "boot_id": str(self.boot), "agent_version": "1.1"})
        with lab_scope(agent.lab_id):
            poll.note(agent, report)
            poll.ask_for_dispatch(agent, report)
            answer = poll.answer(agent, report) or poll.message([], [], [])
        if self.lose == "answer":
            raise LostError
        for pk in answer["forget"]:
            held = self.spool.get(pk)
            if held and held.outcome:
                self.leave(held)
        for pk in answer["cancel"]:
            if pk in self.spool:
                self.cancel(self.spool[pk])
        for offer in answer["offers"]:
            self.take(offer)

    def take(self, offer: dict[str, Any]) -> None:
        """Write an offer down, or refuse it: another attempt is in hand, or a newer order has worked here."""
        if self.spool:  # one at a time; the offer is repeated
            return
        if offer["token"] <= self.fence:
            self.post(f"attempts/{offer['attempt']}/refuse/", token=offer["token"], reason="a newer order has worked")
            return
        self.taken += 1
        self.spool[offer["attempt"]] = HeldAttempt(
            offer["attempt"], offer["token"], self.boot, offer["workload"]["jobs"][0], is_wrong=self.taken % 5 == 3
        )

    def cancel(self, held: HeldAttempt) -> None:
        held.is_cancelled = True
        if not held.outcome:
            held.outcome = "cancelled"

    def step(self, held: HeldAttempt) -> None:
        """Take an attempt's next step, as the agent would after any crash."""
        if held.boot != self.boot and not held.outcome:
            held.outcome = "interrupted"
        if held.outcome:
            self.deliver(held)
        elif not held.is_begun:
            if self.say(held, "accept"):
                held.is_accepted = True
                self.begin(held)
        elif not held.is_announced:
            held.is_announced = self.say(held, "running", boot_id=str(held.boot), argv=["fio"], started_at=1.0)
        else:
            held.outcome = "finished"

    def begin(self, held: HeldAttempt) -> None:
        others = [other.pk for other in self.spool.values() if other.state == "running"]
        assert not others, f"attempt {held.pk} begins beside {others}"
        self.begun[held.pk] += 1
        held.begin()

    def deliver(self, held: HeldAttempt) -> None:
        if held.is_begun and not held.is_announced:
            held.is_announced = self.say(held, "running", boot_id=str(held.boot), argv=["fio"], started_at=1.0)
        elif not held.is_begun and not held.is_accepted:
            held.is_accepted = self.say(held, "accept")
        elif held.is_begun and held.unsent:
            self.send_chunk(held)
        else:
            answer = self.say(held, "finish", outcome=held.outcome, exit_status=0, streams=held.manifest())
            if answer and answer.json().get("complete"):
                self.delivered.add(held.pk)
                self.leave(held)

    def send_chunk(self, held: HeldAttempt) -> None:
        stream, number = held.unsent[0]
        if self.lose == "request":
            raise LostError
        with all_labs():
            attempt = Attempt.objects.get(pk=held.pk)
        attempt.token = held.token
        answer = self.agent.put_chunk(attempt, stream, number, held.parts[stream][number])
        if self.lose == "answer":
            raise LostError
        if self.hear(held, answer):
            held.sent.add((stream, number))

    def say(self, held: HeldAttempt, word: str, **body: Any) -> Any:
        """Send a request about an attempt; return the answer, or None where the server is against it."""
        answer = self.post(f"attempts/{held.pk}/{word}/", token=held.token, **body)
        return answer if self.hear(held, answer) else None

    def hear(self, held: HeldAttempt, answer: Any) -> bool:
        if answer.status_code == 200:
            return True
        assert answer.status_code in (409, 410), (answer.status_code, answer.content)
        self.spool.pop(held.pk, None)
        self.quarantine.append(held)
        self.fence = max(self.fence, held.token if held.is_begun else 0)
        return False

    def leave(self, held: HeldAttempt) -> None:
        del self.spool[held.pk]
        self.fence = max(self.fence, held.token)


class Fleet(RuleBasedStateMachine):
    """Two hosts of one lab, workers that may be away, people who start, cancel and give up, and time that passes."""

    @initialize()
    def enrol(self) -> None:
        TransactionTestCase._fixture_teardown(None)  # type: ignore[arg-type]  # of the example before
        self.lab = Lab.objects.create(name="Lab", slug="lab")
        self.queue: list[tuple[str, tuple[Any, ...]]] = []
        self.hosts = [self._enrol_host() for _ in range(HOSTS)]
        self.plan = self._write_plan()
        self.ended: dict[int, str] = {}
        for model in self.hosts:
            model.poll()
        self.act_on_the_plan("start")

    def _enrol_host(self) -> ModelHost:
        agent = FakeAgent(self.lab)
        with lab_scope(self.lab.pk):
            token = Enrolment.objects.issue(self.lab, "owner", trusted=True)[1]
            assert agent.enrol(token).status_code == 201
            host = agent.row.host
            Target.objects.create(lab=self.lab, host=host, name="data", path="/srv/spindle", is_agents_own=True)
        return ModelHost(agent, host.pk)

    def _write_plan(self) -> Plan:
        points = [
            {"name": f"by-{size}", "tool": "fio", "file_size": 1 << 20, "block_size": size, "job": JOB}
            for size in (4096, 65536)
        ]
        with lab_scope(self.lab.pk):
            targets = list(Target.objects.order_by("pk"))
            request = services.PlanRequest(
                self.lab, "Model", targets, points, {"kind": "fixed", "rounds": ROUNDS}, guards=[{"kind": "space"}]
            )
            return services.create_plan(request, actor="engineer")

    # People

    @rule(host=hosts, priority=st.sampled_from(list(Priority)))
    def start_a_run(self, host: int, priority: Priority) -> None:
        with lab_scope(self.lab.pk):
            if Run.objects.count() < 12:
                target = Target.objects.get(host=self.hosts[host].pk)
                with suppress(WorkloadError):  # the host is in maintenance: what a page would say
                    start_runs(lab=self.lab, target=target, spec=WORKLOAD, who="engineer", priority=priority)

    @rule(act=st.sampled_from(["start", "start", "pause", "resume", "resume", "cancel", "retry", "add"]))
    def act_on_the_plan(self, act: str) -> None:
        acts: dict[str, Callable[[], object]] = {
            "start": lambda: services.start_plan(self.plan, actor="engineer", retries=1),
            "pause": lambda: services.pause_plan(self.plan, actor="engineer"),
            "resume": lambda: services.resume_plan(self.plan, actor="engineer"),
            "cancel": lambda: services.cancel_plan(self.plan, actor="engineer"),
            "retry": lambda: services.retry_failed(self.plan, actor="engineer"),
            "add": lambda: services.add_repetitions(self.plan, 1, actor="engineer"),
        }
        with lab_scope(self.lab.pk):
            self.plan = Plan.objects.get(pk=self.plan.pk)
            if act == "add" and self.plan.rule.most > ROUNDS:
                return
            with suppress(services.ExecutionError):  # what a page would say; nothing has changed
                acts[act]()

    @rule(pick=picks)
    def skip_a_cell(self, pick: int) -> None:
        with lab_scope(self.lab.pk):
            row = PlanConfiguration.objects.filter(plan=self.plan).order_by("pk")[pick % HOSTS]
            point = self.plan.points.order_by("pk")[pick // HOSTS % 2]
            if pick % 5 == 0:
                set_cell(self.plan, row, point, actor="engineer", reason="not wanted")

    @rule(pick=picks)
    def cancel_a_run(self, pick: int) -> None:
        with lab_scope(self.lab.pk):
            runs = list(Run.objects.exclude(state__in=ENDED).order_by("pk"))
            if runs:
                cancel_run(runs[pick % len(runs)], "engineer")

    @rule(pick=picks)
    def give_a_run_up(self, pick: int) -> None:
        with lab_scope(self.lab.pk):
            runs = list(Run.objects.filter(state=State.UNKNOWN).order_by("pk"))
            if runs:
                abandon_run(runs[pick % len(runs)], "its host is quiet", "engineer")

    @rule(host=hosts, is_on=st.booleans())
    def change_maintenance(self, host: int, is_on: bool) -> None:
        with lab_scope(self.lab.pk):
            Host.objects.filter(pk=self.hosts[host].pk).update(is_in_maintenance=is_on)

    # Hosts

    @rule(host=hosts, lose=st.sampled_from(["", "", "", "request", "answer"]))
    def poll(self, host: int, lose: str) -> None:
        self._try(self.hosts[host], lose, self.hosts[host].poll)

    @rule(host=hosts, lose=st.sampled_from(["", "", "", "", "request", "answer"]), times=st.integers(1, 6))
    def work(self, host: int, lose: str, times: int) -> None:
        model = self.hosts[host]
        for _ in range(times):
            for held in list(model.spool.values()):
                self._try(model, lose, lambda held=held: model.step(held))  # type: ignore[misc]

    def _try(self, model: ModelHost, lose: str, act: Callable[[], None]) -> None:
        model.lose = lose
        with suppress(LostError):
            act()
        model.lose = ""

    @rule(host=hosts)
    def kill_the_agent(self, host: int) -> None:
        """Forget what is in the agent's memory alone: what was told, and what was sent."""
        for held in self.hosts[host].spool.values():
            held.is_announced = False
            held.sent.clear()

    @rule(host=hosts)
    def restart_the_host(self, host: int) -> None:
        self.hosts[host].boot += 1
        self.kill_the_agent(host)

    @rule(host=hosts, pick=picks)
    def lose_the_disk(self, host: int, pick: int) -> None:
        """The spool is gone, with all that was in it; seldom."""
        if pick % 6 == 0:
            self.hosts[host].spool.clear()

    # Workers and time

    @rule(pick=picks, fate=st.sampled_from(["done", "done", "done", "done", "twice", "lost", "killed"]))
    def carry_a_task_out(self, pick: int, fate: str) -> None:
        if not self.queue:
            return
        name, args = self.queue.pop(pick % len(self.queue))
        if fate == "lost":
            return
        if fate == "killed":
            self._kill_inside(name, args)
            return
        for _ in range(2 if fate == "twice" else 1):
            current_app.tasks[name](*args)

    def _kill_inside(self, name: str, args: tuple[Any, ...]) -> None:
        """Carry a task out and undo it, as if its worker was killed before it committed."""
        before = list(self.queue)
        with transaction.atomic():
            current_app.tasks[name](*args)
            transaction.set_rollback(True)
        self.queue[:] = before

    @rule(times=st.integers(1, 8))
    def carry_tasks_out(self, times: int) -> None:
        for _ in range(min(times, len(self.queue))):
            name, args = self.queue.pop(0)
            current_app.tasks[name](*args)

    @rule(seconds=st.sampled_from([15, 30, 90, 300]))
    def let_time_pass(self, seconds: int) -> None:
        span = timedelta(seconds=seconds)
        with all_labs():
            Attempt.objects.filter(run__lab=self.lab).update(
                lease_until=F("lease_until") - span,
                next_try_at=F("next_try_at") - span,
                overdue_at=F("overdue_at") - span,
            )
            Agent.objects.filter(lab=self.lab).update(last_seen_at=F("last_seen_at") - span)

    @rule()
    def beat(self) -> None:
        tasks.dispatch_waiting()
        tasks.sweep()
        plan_tasks.sweep()

    # Promises

    @invariant()
    def nothing_starts_twice(self) -> None:
        for model in getattr(self, "hosts", ()):
            assert all(count == 1 for count in model.begun.values()), model.begun
            with all_labs():
                runs = Counter(Attempt.objects.filter(pk__in=model.begun).values_list("run_id", flat=True))
            assert all(count == 1 for count in runs.values()), runs

    @invariant()
    def the_ledger_is_whole(self) -> None:
        assert [*find_ledger_breaks(), *find_plan_breaks()] == []

    @invariant()
    def what_ended_stays_ended(self) -> None:
        """But for a run that was given up, whose host came back with it."""
        with all_labs():
            runs = Run.objects.filter(lab=getattr(self, "lab", None))
            states = dict(runs.filter(abandoned_at=None).values_list("pk", "state"))
        for pk, state in getattr(self, "ended", {}).items():
            assert states.get(pk, state) == state, f"run {pk} was {state}, and is {states[pk]}"
        self.ended = {pk: state for pk, state in states.items() if state in ENDED}

    @invariant()
    def what_was_delivered_is_here(self) -> None:
        for model in getattr(self, "hosts", ()):
            with all_labs():
                attempts = Attempt.objects.filter(pk__in=model.delivered)
                assert attempts.filter(manifest=None).count() == 0
                assert attempts.filter(state__in=OPEN).count() == 0

    def teardown(self) -> None:
        if not hasattr(self, "plan"):
            return
        self._heal()
        with all_labs():
            left = Run.objects.filter(lab=self.lab).exclude(state__in=ENDED)
            assert not left, [(run.pk, run.state, run.problem) for run in left]
            assert not Attempt.objects.may_be_on_host().filter(host__lab=self.lab).exists()
            unread = Attempt.objects.filter(
                run__lab=self.lab, manifest__isnull=False, ingested_at=None, read_problem=""
            )
            assert not unread, list(unread)
        self._check_the_plan()
        self.nothing_starts_twice()
        self.the_ledger_is_whole()
        self.what_was_delivered_is_here()

    def _heal(self) -> None:
        """Let everybody be there and nothing be lost, until nothing is left to do."""
        with all_labs():
            Host.objects.filter(lab=self.lab).update(is_in_maintenance=False)
        for _ in range(SETTLING):
            if self._is_at_rest():
                return
            self.let_time_pass(15)
            for number in range(HOSTS):
                self.poll(number, "")
                self.work(number, "", 8)
            self.beat()
            while self.queue:
                self.carry_tasks_out(8)

    def _is_at_rest(self) -> bool:
        if self.queue or any(model.spool for model in self.hosts):
            return False
        with all_labs():
            if Run.objects.filter(lab=self.lab).exclude(state__in=ENDED).exists():
                return False
            return not Execution.objects.running().filter(plan=self.plan).exists()

    def _check_the_plan(self) -> None:
        with lab_scope(self.lab.pk):
            execution = Execution.objects.filter(plan=self.plan).first()
            if execution is None:
                return
            assert not execution.is_running, f"the plan still runs, and waits for {list(execution.waits.all())}"
            if execution.state == "paused":
                assert execution.reason
            for planned in PlannedRun.objects.filter(row__plan=self.plan, run__state=State.FINISHED):
                assert planned.evidence, f"run {planned.pk} is done without evidence"


@pytest.fixture
def caught_tasks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> Iterator[None]:
    """Put the tasks that are sent into the queue of the machine that runs."""
    settings.ARTEFACT_DIR = tmp_path
    current: list[Fleet] = []
    made = Fleet.__init__

    def note(machine: Fleet) -> None:
        made(machine)
        machine.queue = []
        current[:] = [machine]

    def send_task(name: str, args: Any = (), **options: Any) -> None:
        current[0].queue.append((name, tuple(args)))

    def apply_async(task: Any, args: Any = (), kwargs: Any = None, **options: Any) -> None:
        if task.name.startswith(("agents.", "plans.")):
            current[0].queue.append((task.name, tuple(args or ())))

    monkeypatch.setattr(Fleet, "__init__", note)
    monkeypatch.setattr(current_app, "send_task", send_task)
    monkeypatch.setattr(task_queue.PatientTask, "apply_async", apply_async)
    with scoped(None):
        yield


def test_no_order_of_faults_breaks_a_promise(caught_tasks: None) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    form = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, suppress_health_check=checks)
    run_state_machine_as_test(Fleet, settings=form)
