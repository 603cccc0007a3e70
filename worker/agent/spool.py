"""What is kept on disk, one folder for each attempt, so that no crash of anything loses a result or starts a run twice.

    offer.json     what is accepted, with boot id and command line; written before the server is told, on disk before anything starts
    lock           held by the runner for as long as it lives; nobody ever trusts a process id
    alive, control named pipes: the runner tells that it moves on or has died; the agent tells it to cancel
    started        made with O_EXCL by the process that becomes fio, as its last act before that
    job.fio        as rendered      result.json, stderr  as fio wrote them      journal.jsonl  what was done and when
    chunks.jsonl   where the streams were cut for sending: a chunk's bytes never change once it may have been sent
    exit.json      how it ended, written last

A folder goes only when the server has confirmed every byte of it. What the server refuses for good moves to quarantine/.
"""

import json
import os
import shutil
import time
from typing import Any, Dict, List, Optional

from .attempt import Attempt, state_of
from .disk import sync, write_durably


class Spool:
    def __init__(self, state: str) -> None:
        self.state = state
        self.path = os.path.join(state, "spool")
        self.quarantine_path = os.path.join(state, "quarantine")
        for path in (self.path, self.quarantine_path):
            os.makedirs(path, 0o700, exist_ok=True)

    def load(self) -> List[Attempt]:
        """What an earlier agent left. A folder without a whole offer is one that it died over before anything was accepted."""
        found = []
        for name in sorted(os.listdir(self.path)):
            path = os.path.join(self.path, name)
            record = None if name.startswith("gone-") else read_offer(path)
            if record is None:
                shutil.rmtree(path)
            else:
                found.append(Attempt(path, record))
        return found

    def glance(self) -> Dict[str, str]:
        """Attempt → state, for a person who looks while the agent works: nothing is opened that it uses."""
        names = [name for name in sorted(os.listdir(self.path)) if name.isdigit()]
        return {name: state_of(os.path.join(self.path, name)) or "accepted or offered" for name in names}

    def folder(self, attempt: int) -> str:
        return os.path.join(self.path, str(attempt))

    def create(self, record: Dict[str, Any]) -> None:
        """The folder, with offer.json last: from then on every later agent knows of the attempt. No rename: half an offer.json is an
        offer that was not accepted."""
        path = self.folder(record["offer"]["attempt"])
        os.mkdir(path, 0o700)
        for pipe in ("alive", "control"):
            os.mkfifo(os.path.join(path, pipe), 0o600)
        for name, text in (("job.fio", record["job_file"]), ("offer.json", json.dumps(record))):
            with open(os.path.join(path, name), "w") as target:
                target.write(text)

    def attempt(self, record: Dict[str, Any]) -> Attempt:
        return Attempt(self.folder(record["offer"]["attempt"]), record)

    def commit(self, attempt: Attempt) -> None:
        """One wait for the disk, before anything starts. The folders are not waited for: journalling file systems write a new file's
        name with it, and an attempt that a power cut takes away is interrupted anyway."""
        sync(attempt.file("offer.json"))

    def remove(self, attempt: Attempt) -> None:
        self.raise_fence(attempt)
        attempt.close()
        gone = os.path.join(self.path, f"gone-{attempt.id}")
        os.rename(attempt.path, gone)  # at once: half a folder must not be taken for an attempt by the next agent
        shutil.rmtree(gone)

    def quarantine(self, attempt: Attempt, reason: str) -> None:
        if attempt.state != "offered":  # nothing has worked in the directory
            self.raise_fence(attempt)
        attempt.close()
        write_durably(attempt.file("refused.json"), json.dumps({"reason": reason, "at": time.time()}))
        os.rename(attempt.path, os.path.join(self.quarantine_path, f"{attempt.id}-{attempt.token}-{time.time():.0f}"))
        sync(self.quarantine_path)

    def fence(self, directory: str) -> int:
        """The highest token that ever worked in a directory and is no longer in the spool. Lower ones are stale orders."""
        return int(self._fences().get(directory, 0))

    def raise_fence(self, attempt: Attempt) -> None:
        fences = self._fences()
        directory = os.path.dirname(attempt.run_dir)
        if attempt.token > fences.get(directory, 0):
            fences[directory] = attempt.token
            write_durably(os.path.join(self.state, "fence.json"), json.dumps(fences))

    def _fences(self) -> Dict[str, int]:
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
