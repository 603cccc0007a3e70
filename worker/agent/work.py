"""The attempts on this host, from offer to the server's last word: each step is decided by the files in the spool.

offered → accepted (runner hired, test files being filled) → running → uploading → gone, or in quarantine
"""

import json
import os
import shutil
import time
from typing import Any, Dict, Optional

from . import policy, render, upload
from .activity import Idle
from .attempt import Attempt
from .client import Client, Unreachable
from .conf import Conf, Mistake, boot_id, log
from .disk import reserve
from .hire import Foreman
from .leftovers import kill_all, remove_run_dir
from .spool import Spool

PROBE_S, HIRED_S = 30, 1  # how often a silent runner's lock is looked at, and when first
CONFLICT_S, AGAIN_S, QUIET_S = 10, 0.02, 0.02  # the last: nothing of ours runs beside fio's first instructions


class Work:
    def __init__(self, state: str, conf: Conf) -> None:
        self.state, self.conf = state, conf
        self.fio = conf.fio_path()
        self.fio_version: Optional[str] = None
        self.spool = Spool(state)
        self.attempts: Dict[int, Attempt] = {}
        self.foreman = Foreman()
        self.idle = Idle()
        self.warm: Optional[int] = None  # pipe to the runner forked ahead
        self.last_run: Optional[float] = None
        self.good_polls = 0
        self.news = False  # an attempt has left: it is worth asking for the next
        # One disk flush a second would be seen in the figures if the spool shares the filesystem under test.
        self.durable = os.stat(state).st_dev != os.stat(conf.directory).st_dev

    def busy(self) -> bool:
        """One run at a time: two would measure each other."""
        return any(attempt.state != "uploading" for attempt in self.attempts.values())

    def keep_warm(self) -> None:
        if not self.attempts:
            self.idle.look()
        if self.warm is None and not self.busy():
            self.warm = self._fork(self.spool.prepare())

    def recover(self) -> None:
        """At the start: take over what runs, settle what died, remove test files that belong to nothing."""
        for attempt in self.spool.load():
            self.attempts[attempt.id] = attempt
            if attempt.runner_lives():
                log(f"Attempt {attempt.id} is still under way; taking it over.")
            self.settle(attempt)
        kept = {attempt.run_dir for attempt in self.attempts.values()}
        for name in os.listdir(self.conf.directory):
            path = os.path.join(self.conf.directory, name)
            if name.startswith("attempt-") and name[8:].isdigit() and path not in kept:
                kill_all(path)
                remove_run_dir(path)
        reserve(self.state)

    def settle(self, attempt: Attempt) -> None:
        """A runner has ended or never was: what the files say decides. Never a process id, and never a second start."""
        if attempt.has("exit.json"):
            return
        lock = attempt.lock()
        if lock is None:  # a dying one lets go of its pipe a moment before its lock
            attempt.probe_in(AGAIN_S if attempt.pipe_ended else PROBE_S)
            return
        with os.fdopen(lock):
            self._settle_without_runner(attempt)

    def _settle_without_runner(self, attempt: Attempt) -> None:
        """With its lock, so that a runner that comes late finds either that or exit.json."""
        kill_all(attempt.run_dir)
        remove_run_dir(attempt.run_dir)
        if attempt.record["boot_id"] != boot_id():
            attempt.conclude("interrupted", "the host was restarted")
        elif attempt.has("started"):
            attempt.conclude("interrupted", "the runner process was killed")
        elif attempt.cancelled:
            attempt.conclude("cancelled", "cancelled before fio was started")
        else:  # fio was not started, and the server may be asked again whether it should be
            attempt.dismiss_runner()
            attempt.accepted = False
            attempt.probe_in(PROBE_S)
            return
        log(f"Attempt {attempt.id} is over: it was found without its runner.")

    def take(self, offer: Dict[str, Any], line: Client) -> None:
        """`policy.Refused` when this host will not; else everything ready, on disk, and on to the accept."""
        if self.fio is None:
            raise policy.Refused("fio is not installed on this host.")
        if offer["token"] <= max([self.spool.fence(self.conf.directory)] + [a.token for a in self.attempts.values()]):
            raise policy.Refused("a newer order than this one has already worked in this directory.")
        jobs = policy.check(offer.get("workload"), policy.Limits(self.conf))
        if not reserve(self.state):
            raise policy.Refused("the disk of the agent's spool is full.")
        attempt: Optional[Attempt] = None
        try:
            record = self._record(offer, jobs, self.fio)
            self.spool.create(record)
            asked = upload.ask_to_accept(line, offer)
            attempt = self.spool.attempt(record, asked)
            self.spool.commit(attempt)  # meanwhile the server hears the accept
            self._hire(attempt)  # not before: it would take the agent's processor
        except OSError as error:
            line.close()  # what it may have answered to the accept: nothing is started
            if attempt is not None:
                attempt.close()  # which ends its runner
            shutil.rmtree(self.spool.folder(offer["attempt"]), ignore_errors=True)
            raise policy.Refused(f"the agent's spool cannot be written: {error}.") from error
        self.attempts[attempt.id] = attempt
        log(f"Attempt {attempt.id} is taken.")
        self.advance(attempt, line)

    def advance(self, attempt: Attempt, line: Client) -> None:
        """One step, if the server lets us; later if it does not answer."""
        try:
            self._step(attempt, line)
            attempt.backoff.reset()
        except Unreachable as problem:
            pause = attempt.backoff.failed(getattr(problem, "retry_after", None))
            if attempt.backoff.ceiling <= 1:
                log(
                    f"Attempt {attempt.id} waits for the server ({problem}); trying again in {pause:.1f} s, then less often."
                )
        except upload.Refusal as refusal:
            self._refused(attempt, refusal)

    def cancel(self, attempt: Attempt) -> None:
        if attempt.state == "uploading":
            return  # it has ended already; how it ended is told as it was
        if not attempt.cancelled:
            log(f"Attempt {attempt.id} is cancelled.")
        attempt.cancel()
        self.settle(attempt)

    def forget(self, attempt: Attempt) -> None:
        if attempt.state == "uploading":
            self._leave(attempt, None)

    def runner_reports(self, attempt: Attempt) -> None:
        attempt.due = 0.0 if attempt.announced or attempt.has("exit.json") else time.monotonic() + QUIET_S
        if attempt.read_pipe_to_its_end():
            self.settle(attempt)

    def _record(self, offer: Dict[str, Any], jobs: Any, fio: str) -> Dict[str, Any]:
        """All that is needed to go on with an attempt after a crash, whatever agent.conf says by then."""
        return {
            "offer": offer,
            "boot_id": boot_id(),
            "fio_version": self.fio_version,
            "run_dir": os.path.join(self.conf.directory, f"attempt-{offer['attempt']}"),
            "job_file": render.job_file(jobs, self.conf.cpus),
            "files": render.files_to_fill(jobs),
            "argv": render.command_line(fio, self.spool.folder(offer["attempt"]), jobs, offer["status_interval"]),
        }

    def _step(self, attempt: Attempt, line: Client) -> None:
        if attempt.state != "uploading" and time.monotonic() >= attempt.probe_at:
            self.settle(attempt)
        state = attempt.state
        attempt.due = attempt.probe_at
        if attempt.over is not None:
            if state in ("offered", "uploading"):
                self._leave(attempt, attempt.over)
        elif state == "offered":
            self._start(attempt, line)
        elif state == "running":
            if not attempt.announced:
                upload.announce(line, attempt)
            upload.stream_result(line, attempt, self.durable)
        elif state == "uploading":
            self._deliver(attempt, line)

    def _start(self, attempt: Attempt, line: Client) -> None:
        if attempt.orders is None:
            self.spool.commit(attempt)  # an earlier agent may have died before it did
            self._hire(attempt)
        upload.accept(line, attempt)
        attempt.journal("accepted")
        attempt.accepted = True
        try:
            os.write(attempt.orders or -1, b"g")
        except OSError:  # the runner is dead; its pipe tells nothing if it never came to open it
            attempt.due = time.monotonic() + HIRED_S
            self.settle(attempt)

    def _fork(self, folder: str) -> int:
        """A runner, and what it will be told of the run before its own: none can come between."""
        self.last_run = self.spool.last_run()
        return self.foreman.hire(folder)

    def _hire(self, attempt: Attempt) -> None:
        plan = {name: attempt.record[name] for name in ("run_dir", "argv", "files")}
        orders, self.warm = self._fork(attempt.path) if self.warm is None else self.warm, None
        plan.update(spool=attempt.path, limit_s=self.conf.max_runtime_s, idle=self.idle.told(self.last_run))
        try:
            os.write(orders, json.dumps(plan).encode() + b"\n")
        except BrokenPipeError:  # somebody killed the waiting one
            os.close(orders)
            self._hire(attempt)
        else:
            attempt.orders, attempt.pipe_ended = orders, False
            attempt.probe_in(HIRED_S)

    def _deliver(self, attempt: Attempt, line: Client) -> None:
        attempt.due = 0.0
        if attempt.has("started") and not attempt.announced:
            upload.announce(line, attempt)
        elif not attempt.has("started") and not attempt.accepted:
            upload.accept(line, attempt)  # it ended before the server's yes was heard; an end needs a beginning
            attempt.accepted = True
        if upload.finish(line, attempt):
            log(f"Attempt {attempt.id} is complete on the server.")
            self._leave(attempt, None)

    def _leave(self, attempt: Attempt, refused: Optional[str]) -> None:
        if refused is None:
            self.spool.remove(attempt)
        else:
            self.spool.quarantine(attempt, refused)
        del self.attempts[attempt.id]
        self.news = True
        reserve(self.state)

    def _refused(self, attempt: Attempt, refusal: upload.Refusal) -> None:
        if refusal.status == 401:
            raise Mistake(f"The server does not know this agent any more ({refusal}). Enrol again.")
        if refusal.status == 403 or (refusal.status == 409 and not self._conflict_stays(attempt)):
            attempt.backoff.failed(CONFLICT_S)
            return
        attempt.over = str(refusal)
        log(f"The server refuses attempt {attempt.id}: {refusal}. Its files are kept in quarantine.")
        if refusal.status == 410:
            attempt.cancel()
        attempt.due = 0.0

    def _conflict_stays(self, attempt: Attempt) -> bool:
        """409 also means "another copy of this agent is alive": only one that stays after a good poll is about the attempt."""
        if attempt.conflict_at is not None and self.good_polls > attempt.conflict_at:
            return True
        attempt.conflict_at = self.good_polls
        return False
