"""The requests about one attempt: accept, start, chunks, manifest. Every one can be repeated without harm."""

import base64
import json
import os
import time
from typing import Any, Dict, Optional

from .attempt import HostAttempt
from .client import Client, Unreachable, numbers_in
from .conf import log
from .disk import STREAMS, read_or_nothing, started_at

INLINE = 256 * 1024  # so many bytes of last chunks go with the end, in one request


class Later(Unreachable):
    """The server asks to come again."""

    def __init__(self, reason: str, retry_after: Optional[float] = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class UploadRefusal(Exception):
    """The server said no."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def ask_to_accept(client: Client, offer: Dict[str, Any]) -> Optional[Client]:
    """Send the accept without waiting for its answer, which `accept` reads, or else sends it again."""
    try:
        client.send("POST", f"attempts/{offer['attempt']}/accept/", {"token": offer["token"]})
    except Unreachable:
        return None
    return client


def accept(client: Client, attempt: HostAttempt) -> None:
    query, attempt.accept_client = attempt.accept_client, None
    try:
        answer = query.receive() if query is not None else None
    except Unreachable:
        answer = None
    if answer is None:
        _say(client, attempt, "accept", {})
    else:
        _checked(answer)


def announce(client: Client, attempt: HostAttempt) -> None:
    record = attempt.record
    _say(
        client,
        attempt,
        "running",
        {
            "boot_id": record["boot_id"],
            "argv": record["argv"],
            "job_file": record["job_file"],
            "started_at": started_at(attempt.path),
            "clock": time.time(),
            "fio_version": record["fio_version"],
            "place": json.loads(read_or_nothing(attempt.file("place.json")).decode() or "{}"),
        },
    )
    attempt.announced = True


def send_guards(client: Client, attempt: HostAttempt) -> None:
    """Send what the guards have found on this host, each time that it has changed."""
    evidence = read_or_nothing(attempt.file("guards.json"))
    if not evidence or evidence == attempt.guards_sent:
        return
    try:
        _say(client, attempt, "guards", {"evidence": json.loads(evidence.decode())})
    except UploadRefusal as refusal:
        if refusal.status not in (400, 404):
            raise
        log(f"The server did not take the evidence of the guards ({refusal}). It is in the run's journal.")
    attempt.guards_sent = evidence


def refuse(client: Client, attempt_id: int, token: int, reason: str) -> None:
    _checked(client.call("POST", f"attempts/{attempt_id}/refuse/", {"token": token, "reason": reason}))


def stream_result(client: Client, attempt: HostAttempt, durable: bool) -> None:
    """Send the new part of fio's report while it runs, and return when to look again."""
    rest = attempt.cut("result", everything=False, durable=durable)
    _send_unsent(client, attempt)
    attempt.due = min(attempt.probe_at, time.monotonic() + _seconds_to_next_document(attempt, rest))


def finish(client: Client, attempt: HostAttempt) -> bool:
    """Send everything, then the manifest. Return False where the server lacks chunks, which are queued again."""
    for stream in STREAMS:
        attempt.cut(
            stream, everything=True, durable=False
        )  # all is on disk already, and would be cut in the same way again
    with open(attempt.file("exit.json")) as source:
        ending = json.load(source)
    if attempt.one_by_one or sum(chunk["length"] for chunk in attempt.unsent) > INLINE:
        _send_unsent(client, attempt)
    chunks = [_inline(attempt, chunk) for chunk in attempt.unsent]
    answer = _say(client, attempt, "finish", dict(ending, clock=time.time(), streams=attempt.manifest(), chunks=chunks))
    if answer.get("complete"):
        return True
    attempt.one_by_one = True  # a server that does not know `chunks` lacks them all
    missing = answer.get("missing")
    lacking = {stream: numbers_in(numbers) for stream, numbers in missing.items()} if type(missing) is dict else {}
    attempt.unsent = [chunk for chunk in attempt.chunks if chunk["seq"] in lacking.get(chunk["stream"], ())]
    if not attempt.unsent:
        raise Later("the server does not confirm the manifest, and names nothing that is missing")
    return False


def _inline(attempt: HostAttempt, chunk: Dict[str, Any]) -> Dict[str, Any]:
    data = base64.b64encode(attempt.bytes_of(chunk)).decode()
    return {"stream": chunk["stream"], "seq": chunk["seq"], "sha256": chunk["sha256"], "data": data}


def _send_unsent(client: Client, attempt: HostAttempt) -> None:
    while attempt.unsent:
        chunk = attempt.unsent[0]
        headers = {"X-Spindle-Token": str(attempt.token), "X-Spindle-SHA256": chunk["sha256"]}
        path = f"attempts/{attempt.id}/streams/{chunk['stream']}/chunks/{chunk['seq']}/"
        _checked(client.call("PUT", path, attempt.bytes_of(chunk), headers))
        attempt.unsent = attempt.unsent[1:]


def _seconds_to_next_document(attempt: HostAttempt, rest: bool) -> float:
    """Return the time until just after fio's next status document."""
    interval: int = attempt.record["offer"]["status_interval"]
    try:
        last = os.stat(attempt.file("result.json")).st_mtime
    except FileNotFoundError:
        last = started_at(attempt.path) or time.time()
    late = time.time() - last - (0 if rest else interval)
    if late < 0:
        return min(-late, interval) + 0.002
    return 0.004 if late < 0.1 else min(interval, 1) / 4


def _say(client: Client, attempt: HostAttempt, what: str, body: Dict[str, Any]) -> Dict[str, Any]:
    return _checked(client.call("POST", f"attempts/{attempt.id}/{what}/", dict(body, token=attempt.token)))


def _checked(answer: Any) -> Dict[str, Any]:
    if answer.good:
        body: Dict[str, Any] = answer.body
        return body
    if answer.temporary:
        raise Later(answer.reason, answer.retry_after)
    raise UploadRefusal(answer.status, answer.reason)
