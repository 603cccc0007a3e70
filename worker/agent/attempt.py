"""One attempt: its folder in the spool, what state its files say it is in, and how its streams are cut for sending."""

import fcntl
import hashlib
import json
import os
import subprocess
import time
from typing import Any, Dict, List, Optional

from .client import Backoff, Client
from .conf import MIB, printable
from .disk import STREAMS, append, conclude, journal, open_or_empty, read_lines, read_or_nothing

CHUNK = MIB


class HostAttempt:
    """One attempt's folder, and what this process remembers about it."""

    def __init__(self, path: str, record: Dict[str, Any], query: Optional[Client] = None) -> None:
        self.path = path
        self.record = record
        self.id: int = record["offer"]["attempt"]
        self.token: int = record["offer"]["token"]
        self.run_dir: str = record["run_dir"]
        self.chunks = [json.loads(line) for line in read_lines(self.file("chunks.jsonl"))]
        self.unsent = self.chunks[-1:]  # all before it were answered; the server names what it lacks at the end anyway
        self.one_by_one = False  # chunks do not go with the end: the server lacked some that did
        self.backoff = Backoff()
        self.due = 0.0  # when to look at fio's output next
        self.accepted = b'"event": "accepted"' in read_or_nothing(self.file("journal.jsonl"))
        self.accept_client = query  # the accept is under way there, its answer not yet heard
        self.announced = False
        self.guards_sent = b""  # what the server has heard of the guards' evidence
        self.over: Optional[str] = None  # the server's last word, when that was no
        self.conflict_at: Optional[int] = None  # how many good polls there had been when the server said 409
        self.faults = 0  # of ours, one after the other
        self.given_up = False  # after too many of them; the server is to hear why
        self.cancelled = False
        self.pipe_ended = False
        self.probe_at = 0.0  # when to look at the runner's lock next; the pipe is quicker, but not without gaps
        self.runner: Optional["subprocess.Popen[bytes]"] = None  # that this process has started
        self.alive = os.open(self.file("alive"), os.O_RDONLY | os.O_NONBLOCK)

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    def has(self, name: str) -> bool:
        return os.path.exists(self.file(name))

    @property
    def state(self) -> str:
        """Return the state in the protocol's words; `offered` until the server's yes arrived or was acted on."""
        return state_of(self.path) or ("accepted" if self.accepted else "offered")

    def lock(self) -> Optional[int]:
        """Return the runner's lock, which keeps a late runner out until it is closed, or None where a runner holds it."""
        lock = os.open(self.file("lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except OSError:
            os.close(lock)
            return None

    def runner_lives(self) -> bool:
        lock = self.lock()
        if lock is not None:
            os.close(lock)
        return lock is None

    def runner_may_come(self) -> bool:
        """Tell a runner of our own that has not ended: it may not have come to take its lock yet."""
        return self.runner is not None and self.runner.poll() is None

    def cancel(self) -> None:
        """Let the runner cancel; if it is gone, the agent settles the attempt by its files."""
        self.cancelled = True
        try:
            pipe = os.open(self.file("control"), os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return
        os.write(pipe, b"c")
        os.close(pipe)

    def read_pipe_to_its_end(self) -> bool:
        """Read the runner's pipe; a byte is news, the end means that no runner holds the pipe."""
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

    def say_go(self) -> None:
        """Let the runner start fio. Raise OSError if it is dead."""
        assert self.runner is not None
        assert self.runner.stdin is not None
        self.runner.stdin.write(b"g")

    def dismiss_runner(self) -> None:
        """End a runner that still waits for "go"; one that has it does not mind."""
        if self.runner is not None and self.runner.stdin is not None:
            self.runner.stdin.close()
        self.runner = None

    def close(self) -> None:
        self.dismiss_runner()
        os.close(self.alive)

    def cut(self, stream: str, everything: bool, durable: bool) -> bool:
        """Remember new chunks of a stream, on disk before any of them is sent.

        While fio runs, a chunk ends where a document ends; a document is never parsed here, its last line is a lone
        `}`. True: bytes are left for which no chunk ends yet.
        """
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


def state_of(path: str) -> str:
    if os.path.exists(os.path.join(path, "exit.json")):
        return "uploading"
    return "running" if os.path.exists(os.path.join(path, "started")) else ""


def describe(path: str) -> str:
    """Return for a person which run an attempt's folder belongs to, what it does and since when, in one sentence."""
    record = _read_object(os.path.join(path, "offer.json"))
    offer = record.get("offer") or {}
    about = printable(offer.get("about"))
    run = f"run {printable(str(offer.get('run')))}" + (f" ({about})" if about else "")
    if not offer:
        return "a run of which nothing can be read"
    directory = f"in {printable(os.path.dirname(str(record.get('run_dir'))))}"
    started, ended = _changed_at(path, "started"), _changed_at(path, "exit.json")
    if ended is not None:
        outcome = printable(_read_object(os.path.join(path, "exit.json")).get("outcome"))
        return f"{run}, {directory}: {outcome or 'ended'} since {_since(ended)}; its result is on the way to the server"
    if started is not None:
        return f"{run}, {directory}: fio runs since {_since(started)}"
    taken = _changed_at(path, "offer.json")
    since = f" since {_since(taken)}" if taken is not None else ""
    guards = _read_object(os.path.join(path, "guards.json"), list)
    waiting = next((guard for guard in guards if isinstance(guard, dict) and guard.get("is_waiting")), None)
    if waiting is not None:
        kind = printable(waiting.get("guard")).replace("_", " ")
        return f"{run}, {directory}: waits{since} for the guard {kind}: {printable(waiting.get('text'))}"
    return f"{run}, {directory}: taken{since}; fio is not started yet"


def _read_object(path: str, kind: Any = dict) -> Any:
    try:
        with open(path) as source:
            found = json.load(source)
    except (OSError, ValueError):
        return kind()
    return found if isinstance(found, kind) else kind()


def _changed_at(path: str, name: str) -> Optional[float]:
    try:
        return os.stat(os.path.join(path, name)).st_mtime
    except OSError:
        return None


def _since(moment: float) -> str:
    minutes, seconds = divmod(max(0, int(time.time() - moment)), 60)
    length = (
        f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min" if minutes else f"{seconds} s"
    )
    return f"{time.strftime('%Y-%m-%d %H:%M', time.localtime(moment))} ({length})"
