"""The agent itself: one thread that sleeps until the server answers the long poll, a runner reports, or a time has come.

The long poll waits on a connection of its own, so a cancel arrives at once while results go out on the other.
"""

import fcntl
import os
import select
import signal
import time
from typing import Any, Dict, List, Optional

from . import VERSION, inventory, policy, upload
from .client import Answer, Backoff, Client, Unreachable
from .conf import Conf, Mistake, boot_id, log
from .look import Look
from .work import CONFLICT_S, QUIET_S, Work

WAIT_IDLE_S, WAIT_BUSY_S = 25, 20  # the protocol's: an open attempt is named at least every 20 s
PATIENCE_S = 15  # for the answer, beyond what the server was asked to wait
PENDING_S = 20
INVENTORY_S = 3600
AGAIN_S = 60  # where the server did not take it


class Stopped(BaseException):
    """SIGTERM or SIGINT."""


class Agent:
    def __init__(self, state: str, conf: Conf, server: str, headers: Dict[str, str]) -> None:
        self.state = state
        self.conf = conf
        self.work = Work(state, conf)
        self.work.fio_version = inventory.fio_version(self.work.fio, state)
        self.asking, self.working = Client(server, headers), Client(server, headers)
        self.backoff = Backoff()
        self.answer_by: Optional[float] = None  # a poll is under way until then
        self.poll_at = 0.0
        self.inventory_at = 0.0
        self.look = Look(state, server, headers, conf)
        self.said = ""

    def run(self, once: bool = False) -> None:
        self._be_the_only_one()
        self.look.tidy()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _stop)
        if not self.work.durable:
            log(f"The spool in {self.state} is on the filesystem under test. Better give --state on another disk.")
        try:
            self.work.recover()
            while True:
                self._advance_attempts()
                self._look()
                if once and self._done():
                    break
                self._ask()
                self._sleep()
        except Stopped:
            self._stop_looking()
            going = [str(a.id) for a in self.work.attempts.values() if a.state == "running"]
            log(
                "Stopped."
                + (f" fio goes on for attempt {', '.join(going)}; the next agent takes it over." if going else "")
            )

    def _be_the_only_one(self) -> None:
        self.guard = os.open(os.path.join(self.state, "agent.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self.guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Mistake(f"Another agent is running with {self.state}.") from None

    def _advance_attempts(self) -> None:
        """Not before the first good poll: until then another copy of this agent may be alive."""
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
        try:
            self.asking.send("POST", "poll/", self._question(wait), timeout=wait + PATIENCE_S)
            self.answer_by = now + wait + PATIENCE_S
        except Unreachable as problem:
            self._poll_failed(problem, None)

    def _question(self, wait: int) -> Dict[str, Any]:
        named = [
            {"attempt": a.id, "token": a.token, "state": a.state}
            for a in self.work.attempts.values()
            if a.state != "offered" and a.over is None
        ]
        return {
            "boot_id": boot_id(),
            "agent_version": VERSION,
            "fio_version": self.work.fio_version,
            "policy": self.conf.as_policy(),
            "attempts": named,
            "wait": wait,
        }

    def _hear(self) -> None:
        self.answer_by = None
        try:
            answer = self.asking.receive()
        except Unreachable as problem:
            return self._poll_failed(problem, None)
        if answer.good:
            return self._act_on(answer)
        if answer.status == 401:
            raise Mistake(f"The server does not know this agent ({answer.reason}). Enrol again.")
        if answer.status == 403:
            self.poll_at = time.monotonic() + PENDING_S
            return self._say_once("The server knows this host, but a person has not approved it yet.")
        if answer.status == 409:
            self.poll_at = time.monotonic() + CONFLICT_S
            return self._say_once(
                f"The server says that another copy of this agent is alive ({answer.reason}). Waiting for it to go."
            )
        return self._poll_failed(upload.Later(answer.reason), answer.retry_after)

    def _act_on(self, answer: Answer) -> None:
        self.backoff.reset()
        self.work.good_polls += 1
        self._say_once("Connected.")
        body, attempts = answer.body, self.work.attempts
        self._pause(float(body.get("poll_s") or 0))
        for number in body.get("cancel", ()):
            if number in attempts:
                self.work.cancel(attempts[number])
                self._pause(0.5)  # the wish is repeated until the end; no need to hurry
        for number in body.get("forget", ()):
            if number in attempts:
                self.work.forget(attempts[number])
        for offer in body.get("offers", ()):
            self._consider(offer)

    def _consider(self, offer: Any) -> None:
        try:
            number, token, interval = (offer[key] for key in ("attempt", "token", "status_interval"))
        except (TypeError, KeyError):
            number = token = interval = None
        if any(type(value) is not int or not 0 < value < 2**63 for value in (number, token, interval)):
            self._pause(1)
            return log("An offer of the server lacks a proper attempt, token or status_interval; ignored.")
        known = self.work.attempts.get(number)
        if known is not None:
            return self._pause(1)  # repeated until the server has heard the accept, or the one in the spool has left
        if self.work.busy():
            return self._pause(1)  # the offer will be repeated
        self._stop_looking()
        try:
            self.work.take(offer, self.asking)
            self._pause(QUIET_S)
        except policy.Refused as refusal:
            self._refuse(number, token, str(refusal))

    def _refuse(self, number: int, token: int, reason: str) -> None:
        log(f"Attempt {number} is refused: {reason}")
        try:
            upload.refuse(self.asking, number, token, reason)
        except (Unreachable, upload.Refusal) as problem:
            self._pause(1)
            log(f"The server did not take the refusal ({problem}).")

    def _poll_failed(self, problem: Exception, retry_after: Optional[float]) -> None:
        self.asking.close()
        pause = self.backoff.failed(retry_after)
        self._say_once(f"No answer from the server ({problem}); trying again in {pause:.1f} s, then less often.")

    def _look(self) -> None:
        """Only while nothing is measured."""
        if self.work.attempts or not self.work.good_polls or time.monotonic() < self.inventory_at:
            return
        self.inventory_at = time.monotonic() + INVENTORY_S
        self.work.fio = self.conf.fio_path()
        self.work.fio_version = inventory.fio_version(self.work.fio, self.state)
        self.look.start()

    def _stop_looking(self) -> None:
        if self.look.pipe is not None:
            self.look.stop()
            self.inventory_at = 0.0

    # Time

    def _sleep(self) -> None:
        """Until the first thing that needs the agent."""
        self.work.keep_warm()
        attempts = self.work.attempts.values()
        times = [max(a.due, a.backoff.at) for a in attempts if self.work.good_polls]
        times.append(self.answer_by if self.answer_by is not None else max(self.poll_at, self.backoff.at))
        pipes = {a.alive: a for a in attempts}
        watched: List[int] = list(pipes)
        if self.answer_by is not None:
            watched.append(self.asking.fileno())
        if self.look.pipe is not None:
            watched.append(self.look.pipe)
        ready = select.select(watched, [], [], max(0.0, min(times) - time.monotonic()))[0]
        if self.look.pipe in ready and not self.look.ended():
            self.inventory_at = time.monotonic() + AGAIN_S
        for pipe in ready:
            if pipe in pipes:
                self.work.runner_reports(pipes[pipe])
        if self.answer_by is not None and (self.asking.fileno() in ready or time.monotonic() > self.answer_by):
            self._hear()

    def _pause(self, seconds: float) -> None:
        self.poll_at = max(self.poll_at, time.monotonic() + seconds)

    def _done(self) -> bool:
        """For --once: nothing is left here, and the server has been asked since."""
        if self.work.attempts or not self.work.good_polls or self.look.pipe is not None:
            return False
        if not self.work.news:
            return True
        self.work.news = False
        self.work.good_polls = 0
        self.asking.close()  # ask anew at once instead of waiting for the long poll
        self.answer_by = None
        return False

    def _line(self) -> Client:
        """The connection that has just answered is certainly open; while it waits in a poll, the other."""
        return self.working if self.answer_by is not None else self.asking

    def _say_once(self, sentence: str) -> None:
        if self.said != sentence.split("(")[0]:
            log(sentence)
        self.said = sentence.split("(")[0]


def _stop(*_: Any) -> None:
    raise Stopped
