"""The agent itself: one thread that sleeps until the server answers the long poll, a runner reports, or a time has come.

The long poll waits on a connection of its own, so a cancel arrives at once while results go out on the other. A poll tells
what this host is and allows now, and the attempts that it has in hand.
"""

import random
import select
import signal
import time
import traceback
from typing import Any, Dict, List, Optional

from . import VERSION, client, mount, policy, upload
from .admin import upgrade
from .client import Answer, Backoff, Client, Unreachable, numbers_in, seconds_in
from .conf import Conf, Mistake, boot_id, log
from .inventory_scan import InventoryScan, Refusals
from .work import CONFLICT_S, QUIET_S, Work, safely

MOST_WANTED = 64  # directories below the roots


class Poll:
    def __init__(self, conf: Conf, work: Work, scan: InventoryScan) -> None:
        self.conf, self.work, self.scan = conf, work, scan
        self.wanted: List[str] = []  # directories below the roots that the server has as targets
        self.places: Dict[str, mount.Place] = {}  # where each lay when the server was last told

    def ask(self, wait: int) -> Dict[str, Any]:
        if not self.work.attempts:  # nothing is measured
            self.work.fio.look()
        named = [
            {"attempt": a.id, "token": a.token, "state": a.state}
            for a in self.work.attempts.values()
            if a.state != "offered" and a.over is None
        ]
        places = self._look_at_directories()
        return {
            "boot_id": boot_id(),
            "agent_version": VERSION,
            "directory": places[self.conf.directory],  # all that servers of before know of
            "directories": [self._described(place) for place in places.values()],
            "inventory_refused": self.scan.refused,
            "fio_version": self.work.fio.version,
            "policy": self.conf.as_policy(),
            "attempts": named,
            "wait": wait,
        }

    def hear_wanted(self, paths: Any) -> None:
        """Take the directories that the server wants to know of; of those outside of the roots it is told just that."""
        if type(paths) is list:
            self.wanted = [path for path in paths if type(path) is str][:MOST_WANTED]

    def _look_at_directories(self) -> Dict[str, mount.Place]:
        """Return where the roots and the wanted directories lie, the first root first."""
        conf, places = self.conf, {}  # type: Conf, Dict[str, mount.Place]
        for path in [root.path for root in conf.roots] + self.wanted:
            forbidden = policy.outside(path, conf)
            place = mount.look_at(path, conf.shared_directory, conf.state) if not forbidden else {}
            places[path] = dict(place, path=path, problem=forbidden) if forbidden else place
            before = self.places.get(path)
            if before is None or before == place:
                continue
            self.scan.due = 0.0  # mounted, unmounted or replaced: the server wants to know what it lies on now
            log(f"{path}: {place.get('problem') or mount.words(place)}.")
            if not place.get("problem") and not self.work.attempts:
                self.work.tidy(path)  # of runs that were under way when it was there last
        self.places = places
        return places

    def _described(self, place: mount.Place) -> Dict[str, Any]:
        root = self.conf.root_of(place["path"])
        if root is None:
            return place
        described = dict(place, root=root.path, quota_bytes=root.quota_bytes)
        return dict(described, holds_spool=True) if self.conf.spool_on(place["path"]) else described


WAIT_IDLE_S, WAIT_BUSY_S = 25, 20  # the protocol's: an open attempt is named at least every 20 s
PATIENCE_S = 15  # for the answer, beyond what the server was asked to wait
LONGEST_ASKED_S = 60.0  # pause that a server may ask for
PENDING_S = 20  # unless the server says how soon to ask again
PENDING = "The server knows this host, but a person has not approved it yet."
IN_QUARANTINE = "This host is in quarantine at the server; an owner of the lab decides."
LONGEST_PAUSE_S = 10.0  # between polls, so that a server that is back is noticed in seconds


class Stopped(BaseException):
    """SIGTERM or SIGINT."""


class AgentLoop:
    def __init__(self, state: str, conf: Conf, server: str, headers: Dict[str, str]) -> None:
        self.state = state
        self.conf = conf
        self.work = Work(state, conf)
        self.asking, self.working = Client(server, headers), Client(server, headers)
        self.backoff = Backoff(LONGEST_PAUSE_S)
        self.was_connected = False  # the poll went out on a connection that the server may have closed meanwhile
        self.answer_by: Optional[float] = None  # a poll is under way until then
        self.poll_at = 0.0
        self.refusals = Refusals(state)
        self.scan = InventoryScan(state, server, headers, conf, self.refusals)
        self.question = Poll(conf, self.work, self.scan)
        self.upgrades = upgrade.Upgrades(state, server, conf.upgrade)
        self.untaken: List[int] = []  # attempts of which the server does not hear that they are refused
        self.last_complaint = ""

    def run(self, once: bool = False) -> None:
        self.guard = client.be_the_only_one(self.state)
        self.scan.tidy()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _stop)
        self.conf.log_what_is_amiss()
        try:
            self.work.recover()
            while True:
                self._advance_attempts()
                if self.work.good_polls and not self.work.attempts:  # nothing is measured
                    self.scan.start_if_due()
                if once and self._done():
                    break
                if self.work.good_polls and not self.work.attempts:
                    self.upgrades.act()
                self._ask()
                self._sleep()
        except Stopped:
            self.scan.put_off()
            going = [str(a.id) for a in self.work.attempts.values() if a.state == "running"]
            log(
                "Stopped."
                + (f" fio goes on for attempt {', '.join(going)}; the next agent takes it over." if going else "")
            )

    def _advance_attempts(self) -> None:
        """Advance the attempts, not before the first good poll: another copy of this agent may be alive until then."""
        for attempt in list(self.work.attempts.values()):
            if self.work.good_polls and time.monotonic() >= max(attempt.due, attempt.backoff.at):
                self.work.advance(attempt, self._line())

    # The poll

    def _ask(self) -> None:
        now = time.monotonic()
        if self.answer_by is not None or now < max(self.poll_at, self.backoff.at):
            return
        # A new connection begins with a short question: TLS sends its tickets then, which would look like an answer.
        wait = WAIT_BUSY_S if self.work.attempts else WAIT_IDLE_S
        if not self.asking.connected or not self.work.good_polls:
            wait = 0
        self.was_connected = self.asking.connected
        try:
            self.asking.send("POST", "poll/", self.question.ask(wait), timeout=wait + PATIENCE_S)
            self.answer_by = now + wait + PATIENCE_S
        except Unreachable as problem:
            self._unheard(problem)

    def _hear(self) -> None:
        self.answer_by = None
        try:
            answer = self.asking.receive()
        except Unreachable as problem:
            return self._unheard(problem)
        if answer.temporary:
            return self._poll_failed(upload.Later(answer.reason), answer.retry_after)
        return self._obey(answer)

    def _obey(self, answer: Answer) -> None:
        self._answered()
        if answer.good:
            self._act_on(answer)
        elif answer.status == 401:
            raise Mistake(f"The server does not know this agent ({answer.reason}). Enrol again, with --again.")
        elif answer.status == 403:
            self._pause(max(seconds_in(answer.body.get("poll_s"), LONGEST_ASKED_S, PENDING_S), 1.0))
            self._say_once(IN_QUARANTINE if answer.body.get("state") == "quarantined" else PENDING)
        elif answer.status == 409:
            self._pause(CONFLICT_S)
            self._say_once(f"The server says that another copy of this agent is alive ({answer.reason}). Waiting.")
        else:
            self._pause(LONGEST_PAUSE_S)
            self.refusals.note("poll", answer.reason)

    def _unheard(self, problem: Exception) -> None:
        """Handle a request without an answer; only a new connection tells that the server is down."""
        if self.was_connected:
            self.asking.close()
            self._pause(random.uniform(0, 1))
        else:
            self._poll_failed(problem, None)

    def _answered(self) -> None:  # the server is back: nothing waits any longer than it has to
        if self.backoff.ceiling:
            for attempt in self.work.attempts.values():
                attempt.backoff.reset()
            self.scan.server_is_back()
        self.backoff.reset()

    def _act_on(self, answer: Answer) -> None:
        self.refusals.clear("poll")
        self.work.good_polls += 1
        self._say_once("Connected.")
        self.upgrades.hear(answer.body)
        body, attempts = answer.body, self.work.attempts
        self.question.hear_wanted(body.get("look_at") or [])
        self._pause(seconds_in(body.get("poll_s"), LONGEST_ASKED_S))
        for number in numbers_in(body.get("cancel")):
            if number in attempts:
                safely(attempts[number], lambda: self.work.cancel(attempts[number]))  # noqa: B023
                self._pause(0.5)  # the wish is repeated until the end; no need to hurry
        for number in numbers_in(body.get("forget")):
            if number in attempts:
                safely(attempts[number], lambda: self.work.forget(attempts[number]))  # noqa: B023
        offers = body.get("offers")
        for offer in offers if type(offers) is list else []:
            self._consider(offer)

    def _consider(self, offer: Any) -> None:
        numbers = policy.numbers_of(offer)
        if numbers is None:
            self._pause(1)
            return log("An offer of the server lacks a proper attempt, token or status_interval; ignored.")
        number, token = numbers
        if number in self.work.attempts or self.work.busy():
            return self._pause(1)  # repeated until the server has heard the accept, or there is room for it
        self.scan.put_off()
        try:
            self.work.take(offer, self.asking)
            self._pause(QUIET_S)
        except policy.Refused as refusal:
            self._refuse(number, token, str(refusal))
        except Mistake:
            raise
        except Exception as error:  # whatever an offer is: it ends in a refusal, and the agent goes on
            log(traceback.format_exc())
            self._refuse(number, token, f"the agent could not begin: {type(error).__name__}: {error}")

    def _refuse(self, number: int, token: int, reason: str) -> None:
        log(f"Attempt {number} is refused: {reason}")
        try:
            upload.refuse(self.asking, number, token, reason)
        except (Unreachable, upload.UploadRefusal) as problem:
            self._pause(1)
            if number not in self.untaken:
                log(f"The server did not take the refusal ({problem}).")
            self.untaken = self.untaken[-9:] + [number]

    def _poll_failed(self, problem: Exception, retry_after: Optional[float]) -> None:
        self.asking.close()
        pause = self.backoff.failed(retry_after)
        self._say_once(f"No answer from the server ({problem}); trying again in {pause:.1f} s, then less often.")

    # Time

    def _sleep(self) -> None:
        """Sleep until something needs the agent."""
        self.work.prepare()
        attempts = self.work.attempts.values()
        times = [max(a.due, a.backoff.at) for a in attempts if self.work.good_polls]
        times.append(self.answer_by if self.answer_by is not None else max(self.poll_at, self.backoff.at))
        pipes = {a.alive: a for a in attempts}
        watched: List[int] = list(pipes)
        if self.answer_by is not None:
            watched.append(self.asking.fileno())
        if self.scan.pipe is not None:
            watched.append(self.scan.pipe)
        ready = select.select(watched, [], [], max(0.0, min(times) - time.monotonic()))[0]
        if self.scan.pipe in ready:
            self.scan.take_up()
        for pipe in ready:
            if pipe in pipes:
                safely(pipes[pipe], lambda: self.work.runner_reports(pipes[pipe]))  # noqa: B023
        if self.answer_by is not None and self.asking.fileno() in ready:
            self._hear()
        elif self.answer_by is not None and time.monotonic() > self.answer_by:
            self.answer_by = None
            self._poll_failed(Unreachable("it took too long"), None)

    def _pause(self, seconds: float) -> None:
        self.poll_at = max(self.poll_at, time.monotonic() + seconds)

    def _done(self) -> bool:
        """Return whether nothing is left for --once and the server has been asked since."""
        if self.work.attempts or not self.work.good_polls or self.scan.pipe is not None:
            return False
        if not self.work.news:
            return True
        self.work.news = False
        self.work.good_polls = 0
        self.asking.close()  # ask anew at once instead of waiting for the long poll
        self.answer_by = None
        return False

    def _line(self) -> Client:
        """Return the connection that has just answered, or the other one while it waits in a poll."""
        return self.working if self.answer_by is not None else self.asking

    def _say_once(self, sentence: str) -> None:
        if self.last_complaint != sentence.split("(")[0]:
            log(sentence)
        self.last_complaint = sentence.split("(")[0]


def _stop(*_: Any) -> None:
    raise Stopped
