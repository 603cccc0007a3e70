"""What is kept on disk, one folder for each attempt, so that no crash of anything loses a result or starts a run twice.

    offer.json     what was accepted, with boot id and command line; on disk before the server is told "accepted"
    lock           held by the runner for as long as it lives; nobody ever trusts a process id
    alive, control named pipes: the runner tells that it moves on or has died; the agent tells it to cancel
    started        made with O_EXCL by the process that becomes fio, as its last act before that
    job.fio        as rendered      result.json, stderr  as fio wrote them      journal.jsonl  what was done and when
    chunks.jsonl   where the streams were cut for sending: a chunk's bytes never change once it may have been sent
    exit.json      how it ended, written last

A folder goes only when the server has confirmed every byte of it. What the server refuses for good moves to quarantine/.
"""

import fcntl
import hashlib
import json
import os
import shutil
import time
from typing import Any, Dict, List, Optional

from .client import Backoff
from .conf import MIB
from .disk import STREAMS, append, conclude, journal, open_or_empty, read_lines, sync, write_durably

CHUNK = MIB


class Attempt:
    """One attempt's folder, and what this process remembers about it."""

    def __init__(self, path: str, record: Dict[str, Any]) -> None:
        self.path = path
        self.record = record
        self.id: int = record["offer"]["attempt"]
        self.token: int = record["offer"]["token"]
        self.run_dir: str = record["run_dir"]
        self.chunks = [json.loads(line) for line in read_lines(self.file("chunks.jsonl"))]
        self.unsent = self.chunks[-1:]  # all before it were answered; the server names what it lacks at the end anyway
        self.backoff = Backoff()
        self.due = 0.0  # when to look at fio's output next
        with open_or_empty(self.file("journal.jsonl")) as journal_so_far:
            self.accepted = b'"event": "accepted"' in journal_so_far.read()
        self.announced = False
        self.over: Optional[str] = None  # the server's last word, when that was no
        self.conflict_at: Optional[int] = None  # how many good polls there had been when the server said 409
        self.cancelled = False
        self.pipe_ended = False
        self.probe_at = 0.0  # when to look at the runner's lock next; the pipe is quicker, but not without gaps
        self.orders: Optional[int] = None  # the pipe to a runner that was started by this process
        self.alive = os.open(self.file("alive"), os.O_RDONLY | os.O_NONBLOCK)

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    def has(self, name: str) -> bool:
        return os.path.exists(self.file(name))

    @property
    def state(self) -> str:
        """In the protocol's words; `offered` until the server's yes has been heard or acted on."""
        if self.has("exit.json"):
            return "uploading"
        if self.has("started"):
            return "running"
        return "accepted" if self.accepted else "offered"

    def runner_lives(self) -> bool:
        lock = os.open(self.file("lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except OSError:
            return True
        finally:
            os.close(lock)

    def cancel(self) -> None:
        """The runner does it; one that is gone needs no word: the agent then settles the attempt by its files."""
        self.cancelled = True
        try:
            pipe = os.open(self.file("control"), os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return
        os.write(pipe, b"c")
        os.close(pipe)

    def read_pipe_to_its_end(self) -> bool:
        """A byte is news; the end means that no runner holds the pipe any more."""
        try:
            if os.read(self.alive, 64):
                return False
        except BlockingIOError:
            return False
        os.close(self.alive)
        self.alive = os.open(self.file("alive"), os.O_RDONLY | os.O_NONBLOCK)
        self.pipe_ended = True
        return True

    def probe_in(self, seconds: float) -> None:
        self.probe_at = time.monotonic() + seconds
        self.due = min(self.due, self.probe_at)

    def dismiss_runner(self) -> None:
        """One that still waits for "go" ends without a trace; one that has it does not mind."""
        if self.orders is not None:
            os.close(self.orders)
            self.orders = None

    def close(self) -> None:
        self.dismiss_runner()
        os.close(self.alive)

    def cut(self, stream: str, everything: bool, durable: bool) -> bool:
        """Remember new chunks of a stream, on disk before any of them is sent. While fio runs, a chunk ends where a document
        ends; a document is never parsed here, its last line is a lone `}`. True: bytes are left for which no chunk ends yet."""
        earlier = [chunk for chunk in self.chunks if chunk["stream"] == stream]
        offset = earlier[-1]["offset"] + earlier[-1]["length"] if earlier else 0
        fresh: List[Dict[str, Any]] = []
        with open_or_empty(self.file(STREAMS[stream])) as source:
            source.seek(offset)
            for data in iter(lambda: source.read(CHUNK), b""):
                document_end = data.rfind(b"\n}\n") + 3
                end = len(data) if everything or (len(data) == CHUNK and document_end < 3) else document_end
                if end < 3 and not everything:
                    break
                fresh.append(
                    {
                        "stream": stream,
                        "seq": len(earlier) + len(fresh),
                        "offset": offset,
                        "length": end,
                        "sha256": hashlib.sha256(data[:end]).hexdigest(),
                    }
                )
                offset += end
                source.seek(offset)
            if fresh and durable:
                os.fsync(source.fileno())
            rest = os.fstat(source.fileno()).st_size > offset
        append(self.file("chunks.jsonl"), fresh, durable)
        self.chunks += fresh
        self.unsent = self.unsent + fresh
        return rest

    def bytes_of(self, chunk: Dict[str, Any]) -> bytes:
        with open(self.file(STREAMS[chunk["stream"]]), "rb") as source:
            source.seek(chunk["offset"])
            return source.read(chunk["length"])

    def manifest(self) -> Dict[str, Dict[str, Any]]:
        streams = {}
        for stream, name in STREAMS.items():
            digest, size = hashlib.sha256(), 0
            with open_or_empty(self.file(name)) as source:
                for block in iter(lambda: source.read(MIB), b""):  # noqa: B023
                    digest.update(block)
                    size += len(block)
            count = sum(1 for chunk in self.chunks if chunk["stream"] == stream)
            streams[stream] = {"chunks": count, "bytes": size, "sha256": digest.hexdigest()}
        return streams

    def journal(self, event: str, **facts: Any) -> None:
        journal(self.path, event, **facts)

    def conclude(self, outcome: str, reason: str) -> None:
        conclude(self.path, outcome, reason)


class Spool:
    def __init__(self, state: str) -> None:
        self.state = state
        self.path = os.path.join(state, "spool")
        self.quarantine_path = os.path.join(state, "quarantine")
        for path in (self.path, self.quarantine_path):
            os.makedirs(path, 0o700, exist_ok=True)

    def load(self) -> List[Attempt]:
        found = []
        for name in sorted(os.listdir(self.path)):
            path = os.path.join(self.path, name)
            if name.startswith("gone-"):
                shutil.rmtree(path)
                continue
            try:
                with open(os.path.join(path, "offer.json")) as source:
                    found.append(Attempt(path, json.load(source)))
            except (OSError, ValueError, KeyError):
                shutil.rmtree(path)  # died while making it: the server was never told "accepted"
        return found

    def folder(self, attempt: int) -> str:
        return os.path.join(self.path, str(attempt))

    def create(self, record: Dict[str, Any]) -> Attempt:
        """The folder with everything but offer.json; `commit` adds that."""
        path = self.folder(record["offer"]["attempt"])
        os.mkdir(path, 0o700)
        for pipe in ("alive", "control"):
            os.mkfifo(os.path.join(path, pipe), 0o600)
        with open(os.path.join(path, "job.fio"), "w") as target:
            target.write(record["job_file"])
        return Attempt(path, record)

    def commit(self, attempt: Attempt) -> None:
        """Without a rename, which would be one more wait for the disk: half an offer.json is an offer that was not accepted."""
        with open(attempt.file("offer.json"), "w") as target:
            target.write(json.dumps(attempt.record))
            target.flush()
            os.fsync(target.fileno())
        sync(attempt.path)
        sync(self.path)

    def remove(self, attempt: Attempt) -> None:
        self.raise_fence(attempt)
        attempt.close()
        gone = os.path.join(self.path, f"gone-{attempt.id}")
        os.rename(attempt.path, gone)  # at once: half a folder must not be taken for an attempt by the next agent
        shutil.rmtree(gone)

    def quarantine(self, attempt: Attempt, reason: str) -> None:
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
