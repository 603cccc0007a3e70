"""The spool, one folder per attempt on disk, so that no crash loses a result or starts a run twice.

    offer.json     what is accepted, with boot id and command line; written before the server is told, on disk before anything starts.
                   Its blanks have been on disk before: so it takes one write to put it there, and no change of the file system
    lock           held by the runner for as long as it lives; nobody ever trusts a process id
    alive, control named pipes: the runner tells that it moves on or has died; the agent tells it to cancel
    started        made with O_EXCL by the runner, as its last act before it starts fio
    job.fio        as rendered      result.json, stderr  as fio wrote them      journal.jsonl  what was done and when
    chunks.jsonl   where the streams were cut for sending: a chunk's bytes never change once it may have been sent
    exit.json      how it ended, written last

next/ is an empty one, made ready while there is nothing to do. A folder goes only when the server has confirmed every
byte of it. What the server refuses for good moves to quarantine/.
"""

import json
import os
import shutil
import time
from typing import Any, Dict, List, Optional, Union

from .attempt import HostAttempt, describe
from .client import Client
from .conf import Conf, Mistake
from .disk import sync, write_durably, write_whole

NEXT = "next"
BLANKS = 16 * 1024  # an offer of several jobs; a longer one makes the file grow


class Spool:
    def __init__(self, state: str) -> None:
        self.state = state
        self.path = os.path.join(state, "spool")
        self.quarantine_path = os.path.join(state, "quarantine")
        for path in (self.path, self.quarantine_path):
            os.makedirs(path, 0o700, exist_ok=True)
            if os.path.islink(path):
                raise Mistake(f"{path} is a link, which is not followed. Remove it.")
        self.fences = self._read_fences()

    def load(self) -> List[HostAttempt]:
        """Return the attempts that an earlier agent left.

        A folder without a complete offer is one over which the agent died before anything was accepted; a complete
        offer in next/
        is one whose new name was lost in a power cut.
        """
        result = []
        for name in sorted(os.listdir(self.path)):
            path = os.path.join(self.path, name)
            record = None if name.startswith("gone-") else read_offer(path)
            if record is None:
                shutil.rmtree(path)
                continue
            if name == NEXT:
                path = self._named(record)
            result.append(HostAttempt(path, record))
        return result

    def glance(self) -> Dict[str, str]:
        """Return a sentence about each attempt for a person, without opening what a running agent uses."""
        names = [name for name in sorted(os.listdir(self.path)) if name.isdigit()]
        return {name: describe(os.path.join(self.path, name)) for name in names}

    def folder(self, attempt: Union[int, str]) -> str:
        return os.path.join(self.path, str(attempt))

    def prepare(self) -> str:
        """Create the folder of the next attempt; where the disk is full, `create` reports it."""
        path = self.folder(NEXT)
        try:
            if not os.path.isdir(path):
                self._make(path)
                for made in (os.path.join(path, "offer.json"), path, self.path):
                    sync(made)
        except OSError:
            shutil.rmtree(path, ignore_errors=True)
        return path

    def _make(self, path: str) -> None:
        os.mkdir(path, 0o700)
        for pipe in ("alive", "control"):
            os.mkfifo(os.path.join(path, pipe), 0o600)
        for name in ("lock", "job.fio"):
            os.close(os.open(os.path.join(path, name), os.O_WRONLY | os.O_CREAT, 0o600))
        with open(os.path.join(path, "offer.json"), "wb") as target:
            target.write(b" " * BLANKS)

    def create(self, record: Dict[str, Any]) -> None:
        """Create the folder with offer.json, by which every later agent knows the attempt.

        Half an offer.json was not accepted.
        """
        spare = self.folder(NEXT)
        try:
            if not os.path.isdir(spare):
                self._make(spare)
            offer = os.open(os.path.join(spare, "offer.json"), os.O_WRONLY)
            try:
                write_whole(offer, json.dumps(record).encode())
            finally:
                os.close(offer)
            self._named(record)
        except OSError:
            shutil.rmtree(spare, ignore_errors=True)
            raise

    def _named(self, record: Dict[str, Any]) -> str:
        path = self.folder(record["offer"]["attempt"])
        os.rename(self.folder(NEXT), path)
        return path

    def attempt(self, record: Dict[str, Any], query: Optional[Client] = None) -> HostAttempt:
        return HostAttempt(self.folder(record["offer"]["attempt"]), record, query)

    def commit(self, attempt: HostAttempt) -> None:
        """Write the job file and flush once before anything starts; `load` knows of a folder whose new name was lost."""
        with open(attempt.file("job.fio"), "w") as target:
            target.write(attempt.record["job_file"])
        sync(attempt.file("offer.json"), only_data=True)

    def remove(self, attempt: HostAttempt) -> None:
        self.raise_fence(attempt)
        attempt.close()
        gone = os.path.join(self.path, f"gone-{attempt.id}")
        os.rename(attempt.path, gone)  # at once: half a folder must not be taken for an attempt by the next agent
        shutil.rmtree(gone)

    def quarantine(self, attempt: HostAttempt, reason: str) -> None:
        if attempt.state != "offered":  # nothing has worked in the directory
            self.raise_fence(attempt)
        attempt.close()
        write_durably(attempt.file("refused.json"), json.dumps({"reason": reason, "at": time.time()}))
        os.rename(attempt.path, os.path.join(self.quarantine_path, f"{attempt.id}-{attempt.token}-{time.time():.0f}"))
        sync(self.quarantine_path)

    def last_run(self) -> Optional[float]:
        """Return when the last run ended here, in seconds since 1970 and rather too late, or None."""
        ends = [os.path.join(self.state, "fence.json")]
        ends += [os.path.join(self.path, name, "exit.json") for name in os.listdir(self.path)]
        return max([os.stat(end).st_mtime for end in ends if os.path.exists(end)], default=None)

    def fence(self, directory: str) -> int:
        """Record the highest token that worked in a directory and left the spool; lower ones are stale orders."""
        return self.fences.get(directory, 0)

    def highest_fence(self, conf: Conf) -> int:
        """Return the highest token that worked in any of the directories that agent.conf allows.

        A host has one queue, so an order that is older than it is stale, whatever directory it names.
        """
        return max((token for path, token in self.fences.items() if conf.root_of(path)), default=0)

    def directories(self, conf: Conf) -> List[str]:
        """Return the directories in which a run may have left something: the roots, and where runs were below them."""
        below = [path for path in self.fences if conf.root_of(path) and os.path.isdir(path)]
        return list(dict.fromkeys([root.path for root in conf.roots] + sorted(below)))

    def raise_fence(self, attempt: HostAttempt) -> None:
        directory = os.path.dirname(attempt.run_dir)
        if attempt.token > self.fence(directory):
            self.fences[directory] = attempt.token
            write_durably(os.path.join(self.state, "fence.json"), json.dumps(self.fences))

    def _read_fences(self) -> Dict[str, int]:
        try:
            with open(os.path.join(self.state, "fence.json")) as source:
                return dict(json.load(source))
        except OSError:
            return {}


def read_offer(path: str) -> Optional[Dict[str, Any]]:
    try:
        with open(os.path.join(path, "offer.json")) as source:
            return dict(json.load(source))
    except (FileNotFoundError, ValueError):
        return None
