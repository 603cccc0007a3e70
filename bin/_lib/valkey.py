"""The embedded Valkey: on a Unix socket only, and in memory only.

The database is the truth, this is the bell: what is lost here is published again, and a machine whose disks are being
measured is spared the writes.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from bin._lib.account import Account
from bin._lib.binaries import Binaries
from bin._lib.console import Trouble, shown, tail
from bin._lib.layout import DataFolder
from bin._lib.postgres import plain_environment, wait_until
from bin._lib.process import Command, Process

SETTINGS = ("--save", "", "--appendonly", "no")


def url(sockets: Path) -> str:
    return f"unix://{quote(str(sockets / 'valkey.sock'))}?db=0"


def command(data: DataFolder, sockets: Path, account: Account, programs: Binaries) -> Command:
    address = ["--port", "0", "--unixsocket", str(sockets / "valkey.sock"), "--unixsocketperm", "700"]
    argv = [str(programs.valkey), *address, *SETTINGS, "--dir", str(sockets), "--daemonize", "no"]
    return Command("valkey", argv, data.logs / "valkey.log", plain_environment(), sockets, account)


@contextmanager
def running(order: Command) -> Iterator[Process]:
    process = Process(order)
    try:
        if not wait_until(lambda: answers(order.cwd) or not process.alive(), 20) or not process.alive():
            last = tail(order.log).strip().rpartition("\n")[2]
            raise Trouble(f"The broker did not start ({last}); the whole output is in {shown(order.log)}.")
        yield process
    finally:
        process.ask_to_stop()
        process.end(2)


def answers(sockets: Path) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        client.connect(str(sockets / "valkey.sock"))
        client.sendall(b"PING\r\n")
        return client.recv(16).startswith(b"+PONG")
    return False
