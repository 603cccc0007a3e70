"""Holds many long polls open, each on a connection of its own: what so many idle agents are to a server.

python held_polls.py PORT REQUESTS SPREAD    REQUESTS: a file of one request after the other, divided by a line of "--8<--"; SPREAD: seconds

Each line that it reads is answered by how many polls are held, how many have been answered in all, by how many connections at least once,
and how many answers were not 200 (JSON).
"""

import asyncio
import json
import resource
import sys
from pathlib import Path
from typing import cast

import uvloop

DIVIDER = b"\n--8<--\n"


class Poll(asyncio.Protocol):
    """One agent: an answer is followed by the next poll."""

    held = answered = wrong = 0
    served: set[int] = set()

    def __init__(self, number: int, request: bytes) -> None:
        self.number, self.request, self.heard = number, request, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's own
        Poll.held += 1
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.heard += data
        head, end, body = self.heard.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            return
        Poll.answered += 1
        Poll.wrong += not head.startswith(b"HTTP/1.1 200")
        Poll.served.add(self.number)
        self.heard = b""
        self.transport.write(self.request)

    def connection_lost(self, error: Exception | None) -> None:
        Poll.held -= 1


def _length(head: bytes) -> int:
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    return int(fields[b"content-length"])


async def _hold(port: int, requests: list[bytes], spread: float) -> None:
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), _say)
    for number, request in enumerate(requests):
        await loop.create_connection(lambda n=number, r=request: Poll(n, r), "127.0.0.1", port)  # type: ignore[misc]
        await asyncio.sleep(spread / len(requests))
    await asyncio.Event().wait()


def _say() -> None:
    if not sys.stdin.readline():
        sys.exit()
    counts = {"held": Poll.held, "answered": Poll.answered, "served": len(Poll.served), "wrong": Poll.wrong}
    print(json.dumps(counts), flush=True)


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    uvloop.run(_hold(int(sys.argv[1]), Path(sys.argv[2]).read_bytes().split(DIVIDER), float(sys.argv[3])))
