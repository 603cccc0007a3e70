"""The attempts on this host, from offer to the server's last word: each step is decided by the files in the spool.

offered → accepted (runner started, test files being filled) → running → uploading → gone, or in quarantine

A fault of one attempt ends that attempt, never the agent. Each attempt gets a runner, a process in a session of its own that
outlives the agent. The runner reads its plan from its standard input, prepares everything and waits for "go", which the agent
sends only after the server has confirmed the accept; if the agent dies before, the pipe ends and nothing was started.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import mount, policy, render, upload
from .activity import Idle, read_end
from .attempt import HostAttempt
from .cleanup import kill_all, place_in, remove_run_dir, remove_strays
from .client import Client, Unreachable
from .conf import Conf, Mistake, boot_id, log
from .disk import reserve
from .guards import read_guards
from .inventory import fio_version
from .runner import ENVIRONMENT
from .spool import Spool

PARSE_S = 20
MOST_FAULTS = 3  # of one attempt, one after the other, before it is given up


def safely(attempt: HostAttempt, act: Callable[[], None]) -> None:
    try:
        act()
    except Mistake:
        raise
    except Exception as error:
        _broke(attempt, error)
    else:
        attempt.faults = 0


def _broke(attempt: HostAttempt, error: Exception) -> None:
    attempt.faults += 1
    attempt.backoff.failed()
    log(f"Attempt {attempt.id}: {type(error).__name__}: {error}\n{traceback.format_exc()}")
    if attempt.faults >= MOST_FAULTS and attempt.over is None:
        attempt.over = f"the agent could not go on: {type(error).__name__}: {error}"
        attempt.given_up = True
        attempt.cancel()


def tell_given_up(attempt: HostAttempt, line: Client) -> None:
    try:
        upload.refuse(line, attempt.id, attempt.token, str(attempt.over))
    except upload.UploadRefusal as refusal:
        log(f"The server did not take the end of attempt {attempt.id} ({refusal}).")


class Fio:
    def __init__(self, conf: Conf, folder: str) -> None:
        self.conf, self.folder = conf, folder
        self.path: Optional[str] = None
        self.version: Optional[str] = None
        self.seen: Optional[Tuple[str, int, int, float]] = None
        self.look()

    def look(self) -> None:
        """Return fio's path and version; the version is read again only when the file has changed."""
        path = self.conf.fio_path()
        seen = None
        if path is not None:
            result = os.stat(path)
            seen = path, result.st_ino, result.st_size, result.st_mtime
        if seen == self.seen and (path is None or self.version):
            return
        before = self.version
        self.path, self.seen, self.version = path, seen, fio_version(path, self.folder)
        if self.version and not before:
            log(f"fio: {path}, {self.version}.")
        elif before and not self.version:
            log("fio is not there any more; until it is, every run is refused.")

    def complaint(self, job_file: str) -> str:
        """Return what this fio says against a rendered job file, or ''. It only parses: options and engines differ by version."""
        path = os.path.join(self.folder, "parsed.fio")
        with open(path, "w") as target:
            target.write(job_file)
        argv = [str(self.path), "--parse-only", "--warnings-fatal", path]
        try:
            parsed = subprocess.run(  # noqa: PLW1510
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT,
                cwd=self.folder, timeout=PARSE_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"it had not read it after {PARSE_S} s."
        finally:
            os.unlink(path)
        said = parsed.stdout.decode("utf-8", "replace").strip().splitlines()
        return "" if parsed.returncode == 0 else "; ".join(said[:3])[:500] or f"it ended with {parsed.returncode}."


def refuse_unfit(offer: Dict[str, Any], conf: Conf, fio: Fio, newest: int) -> Any:
    """Return the checked jobs of an offer.

    Args:
        newest: The highest token that has worked in the directory.

    Raises:
        policy.Refused: This host does not run them.
    """
    if fio.path is None:
        raise policy.Refused("fio is not installed on this host.")
    directory = policy.directory_of(offer, conf)
    unsafe = conf.directory_refused(directory)
    if unsafe:
        raise policy.Refused(unsafe)
    if offer["token"] <= newest:
        raise policy.Refused("a newer order than this one has already worked in this directory.")
    elsewhere = mount.mismatch(offer.get("target") or {}, mount.look_at(directory, conf.shared_directory, conf.state))
    if elsewhere:
        raise policy.Refused(elsewhere)
    jobs = policy.check(offer.get("workload"), policy.PolicyLimits(conf, directory))
    complaint = fio.complaint(render.job_file(jobs, conf.cpus)) if any(map(render.is_unusual, jobs)) else ""
    if complaint:
        raise policy.Refused(f"{fio.version} of this host does not take the job: {complaint}")
    try:
        read_guards(offer.get("guards"))
    except ValueError as error:
        raise policy.Refused(str(error)) from error
    if not reserve(conf.state):
        raise policy.Refused("the disk of the agent's spool is full.")
    return jobs


def record_of(offer: Dict[str, Any], jobs: Any, conf: Conf, fio: Fio, spool: Spool) -> Dict[str, Any]:
    """Return what an attempt needs to go on after a crash, whatever agent.conf says then."""
    return {
        "offer": offer,
        "boot_id": boot_id(),
        "fio_version": fio.version,
        "run_dir": os.path.join(policy.directory_of(offer, conf), f"attempt-{offer['attempt']}"),
        "job_file": render.job_file(jobs, conf.cpus),
        "files": render.files_to_fill(jobs),
        "file_bytes": policy.file_bytes(jobs),
        "argv": render.command_line(str(fio.path), spool.folder(offer["attempt"]), jobs, offer["status_interval"]),
    }


PROGRAM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # agent.pyz, or the folder worker/ of a checkout


class NotStarted(Exception):
    """A runner could not be started; nothing has happened in the directory under test."""


ASKED_LIMIT = "the time limit that was asked for"
USUAL_LIMIT = "its own time, three times its estimate and a margin"


def limits_of(offer: Dict[str, Any], conf: Conf) -> Dict[str, Any]:
    """Return the part of a runner's plan that the host's administrator and the server's offer decide."""
    own = offer.get("limit_s")
    limits = [conf.max_runtime_s] + ([own] if type(own) is int and own > 0 else [])
    of_run = ASKED_LIMIT if offer.get("is_limit_asked") is True else USUAL_LIMIT
    return {
        "limit_s": min(limits),
        "limit_of": of_run if min(limits) == own else "this host allows",
        # a limit that a person asked for is fio's: how long its files take is not known when it is asked for
        "fill_limit_s": conf.max_runtime_s if of_run == ASKED_LIMIT else min(limits),
        "probe_folder": conf.probe_folder,
        "target": offer.get("target") or {},
        "shared": conf.shared_directory,
    }


class Launcher:
    def __init__(self) -> None:
        self.runners: List["subprocess.Popen[bytes]"] = []  # started by this agent and not yet seen to have ended

    def start(self, folder: str, plan: Dict[str, Any]) -> "subprocess.Popen[bytes]":
        """Start the runner of the attempt in this folder of the spool; what it hears next is written to its `stdin`.

        It keeps nothing of the agent open: neither its connections nor its log, so that the agent's death is seen by everybody.
        Without Python's site packages, it starts sooner and with the standard library alone.
        """
        argv = [sys.executable, "-I", "-S", PROGRAM, "runner", folder]
        null = subprocess.DEVNULL
        try:
            runner = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=null, stderr=null, bufsize=0, cwd="/", start_new_session=True
            )
            self.runners.append(runner)
            assert runner.stdin is not None
            with suppress(
                BrokenPipeError
            ):  # it has been killed already; whoever says "go" sees that and starts another
                runner.stdin.write(json.dumps(plan).encode() + b"\n")
        except OSError as error:
            raise NotStarted(f"its runner could not be started: {error}") from error
        return runner

    def reap(self) -> None:
        """Let go of runners that have ended; until then the system keeps their exit status."""
        self.runners = [runner for runner in self.runners if runner.poll() is None]


PROBE_S, STARTED_S = 30, 1  # how often a silent runner's lock is looked at, and when first
CONFLICT_S, AGAIN_S, QUIET_S = 10, 0.02, 0.02  # the last: nothing of ours runs beside fio's first instructions


class Work:
    def __init__(self, state: str, conf: Conf) -> None:
        self.state, self.conf = state, conf
        self.fio = Fio(conf, state)
        self.spool = Spool(state)
        self.attempts: Dict[int, HostAttempt] = {}
        self.launcher = Launcher()
        self.idle = Idle()
        self.good_polls = 0
        self.news = False  # an attempt has left: it is worth asking for the next

    def is_durable(self, attempt: HostAttempt) -> bool:
        """Return whether to flush at once.

        One flush a second would be measured if the spool shares the filesystem under test.
        """
        return not self.conf.spool_on(os.path.dirname(attempt.run_dir))

    def busy(self) -> bool:
        """Return whether a run is under way: two at a time would measure each other."""
        return any(attempt.state != "uploading" for attempt in self.attempts.values())

    def prepare(self) -> None:
        """Prepare what the next run needs while nothing is measured."""
        self.launcher.reap()
        if not self.attempts:
            self.idle.look()
        if not self.busy():
            self.spool.prepare()

    def recover(self) -> None:
        """Take over running attempts at the start, settle dead ones, remove test files that belong to nothing."""
        for attempt in self.spool.load():
            self.attempts[attempt.id] = attempt
            if attempt.runner_lives():
                log(f"Attempt {attempt.id} is still under way; taking it over.")
            safely(attempt, lambda: self.settle(attempt))  # noqa: B023
        for path in self.spool.directories(self.conf):
            self.tidy(path)
        reserve(self.state)

    def tidy(self, path: str) -> None:
        """Remove what runs that nobody knows any more have left in a directory."""
        remove_strays(path, {attempt.run_dir for attempt in self.attempts.values()})

    def settle(self, attempt: HostAttempt) -> None:
        """Settle an attempt without a runner by its files, never by a process id, and never start it again."""
        if attempt.has("exit.json"):
            return
        lock = attempt.lock() if attempt.cancelled or not attempt.runner_may_come() else None
        if lock is None:  # a dying one lets go of its pipe a moment before its lock
            attempt.probe_in(AGAIN_S if attempt.pipe_ended else PROBE_S)
            return
        with os.fdopen(lock):
            self._settle_without_runner(attempt)

    def _settle_without_runner(self, attempt: HostAttempt) -> None:
        """Settle the attempt under its runner's lock, so that a late runner finds the lock or exit.json."""
        kill_all(attempt.run_dir, place_in(attempt.file("started")))
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
        """Prepare an offer: everything on disk, then the accept.

        Raises:
            policy.Refused: This host does not run it.
        """
        newest = max([self.spool.highest_fence(self.conf)] + [a.token for a in self.attempts.values()])
        jobs = refuse_unfit(offer, self.conf, self.fio, newest)
        attempt: Optional[HostAttempt] = None
        try:
            record = record_of(offer, jobs, self.conf, self.fio, self.spool)
            self.spool.create(record)
            query = upload.ask_to_accept(line, offer)
            attempt = self.spool.attempt(record, query)
            self.spool.commit(attempt)  # meanwhile the server hears the accept
            self._start_runner(attempt)  # not before: it would take the agent's processor
        except Exception as error:
            line.close()  # what it may have answered to the accept: nothing is started
            if attempt is not None:
                attempt.close()  # which ends its runner
            shutil.rmtree(self.spool.folder(offer["attempt"]), ignore_errors=True)
            what = "the agent's spool cannot be written" if isinstance(error, OSError) else "the agent could not begin"
            raise policy.Refused(f"{what}: {error}.") from error
        self.attempts[attempt.id] = attempt
        log(f"Attempt {attempt.id} is taken.")
        self.advance(attempt, line)

    def advance(self, attempt: HostAttempt, line: Client) -> None:
        """Take the attempt's next step, or later if the server does not answer."""
        safely(attempt, lambda: self._advance(attempt, line))

    def _advance(self, attempt: HostAttempt, line: Client) -> None:
        try:
            self._step(attempt, line)
            attempt.backoff.reset()
        except Unreachable as problem:
            pause = attempt.backoff.failed(getattr(problem, "retry_after", None))
            if attempt.backoff.ceiling <= 1:
                log(
                    f"Attempt {attempt.id} waits for the server ({problem}); trying again in {pause:.1f} s, then less often."
                )
        except upload.UploadRefusal as refusal:
            self._refused(attempt, refusal)

    def cancel(self, attempt: HostAttempt) -> None:
        if attempt.state == "uploading":
            return  # it has ended already; how it ended is told as it was
        if not attempt.cancelled:
            log(f"Attempt {attempt.id} is cancelled.")
        attempt.cancel()
        self.settle(attempt)

    def forget(self, attempt: HostAttempt) -> None:
        if attempt.state == "uploading":
            self._leave(attempt, None)

    def runner_reports(self, attempt: HostAttempt) -> None:
        attempt.due = 0.0 if attempt.announced or attempt.has("exit.json") else time.monotonic() + QUIET_S
        if attempt.read_pipe_to_its_end():
            self.settle(attempt)

    def _step(self, attempt: HostAttempt, line: Client) -> None:
        if attempt.state != "uploading" and time.monotonic() >= attempt.probe_at:
            self.settle(attempt)
        state = attempt.state
        attempt.due = attempt.probe_at
        if attempt.over is not None:
            if attempt.given_up and attempt.runner_lives():
                attempt.probe_in(STARTED_S)
                return
            if attempt.given_up:
                tell_given_up(attempt, line)
            if state in ("offered", "uploading") or attempt.given_up:
                self._leave(attempt, attempt.over)
        elif state == "offered":
            self._start(attempt, line)
        elif state == "accepted":
            upload.send_guards(line, attempt)
        elif state == "running":
            upload.send_guards(line, attempt)
            if not attempt.announced:
                upload.announce(line, attempt)
            upload.stream_result(line, attempt, self.is_durable(attempt))
        elif state == "uploading":
            self._deliver(attempt, line)

    def _start(self, attempt: HostAttempt, line: Client) -> None:
        if attempt.runner is None:
            self.spool.commit(attempt)  # an earlier agent may have died before it did
            self._start_runner(attempt)
        upload.accept(line, attempt)
        attempt.journal("accepted")
        attempt.accepted = True
        try:
            attempt.say_go()
        except OSError:  # the runner is dead; its pipe tells nothing if it never came to open it
            attempt.due = time.monotonic() + STARTED_S
            self.settle(attempt)

    def _start_runner(self, attempt: HostAttempt) -> None:
        plan = {name: attempt.record[name] for name in ("run_dir", "argv", "files")}
        plan.update(limits_of(attempt.record["offer"], self.conf))
        plan.update(
            guards=read_guards(attempt.record["offer"].get("guards")), file_bytes=attempt.record.get("file_bytes", 0)
        )
        plan.update(idle=self.idle.figures_for_runner(self.spool.last_run(), read_end(self.state)))
        attempt.runner, attempt.pipe_ended = self.launcher.start(attempt.path, plan), False
        attempt.probe_in(STARTED_S)

    def _deliver(self, attempt: HostAttempt, line: Client) -> None:
        attempt.due = 0.0
        if attempt.has("started") and not attempt.announced:
            upload.announce(line, attempt)
        elif not attempt.has("started") and not attempt.accepted:
            upload.accept(line, attempt)  # it ended before the server's yes was heard; an end needs a beginning
            attempt.accepted = True
        upload.send_guards(line, attempt)
        if upload.finish(line, attempt):
            log(f"Attempt {attempt.id} is complete on the server.")
            self._leave(attempt, None)

    def _leave(self, attempt: HostAttempt, refused: Optional[str]) -> None:
        if refused is None:
            self.spool.remove(attempt)
        else:
            self.spool.quarantine(attempt, refused)
        del self.attempts[attempt.id]
        self.news = True
        reserve(self.state)

    def _refused(self, attempt: HostAttempt, refusal: upload.UploadRefusal) -> None:
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

    def _conflict_stays(self, attempt: HostAttempt) -> bool:
        """Return whether a 409 persists: it may also mean that another copy of this agent is alive."""
        if attempt.conflict_at is not None and self.good_polls > attempt.conflict_at:
            return True
        attempt.conflict_at = self.good_polls
        return False
