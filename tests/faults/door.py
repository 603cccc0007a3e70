"""A door between processes and a server: it passes bytes on, hangs, cuts connections, or loses answers, as the test says.

door = Door(("127.0.0.1", 8000))     # or the path of a Unix socket
door.lost = 0.3                      # three of ten answers are lost after the server has given them
with door.hung(): …                  # packets vanish; nothing is refused
door.cut()                           # every open connection is reset
"""

import random
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.sampling import SEED

RESET = struct.pack("ii", 1, 0)  # SO_LINGER: the end of a connection is a reset
PIECE = 1 << 16


class Door:
    def __init__(self, behind: tuple[str, int] | str) -> None:
        self.behind = behind
        self.lost = 0.0
        self.answers = self.answers_lost = 0
        self.is_shut = False
        self._chance = random.Random(SEED)
        self._passes = threading.Event()
        self._passes.set()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    @contextmanager
    def hung(self) -> Iterator[None]:
        """Let nothing through meanwhile, as a network that swallows packets; new connections are taken and hear nothing."""
        self._passes.clear()
        try:
            yield
        finally:
            self._passes.set()

    @contextmanager
    def shut(self) -> Iterator[None]:
        """Reset every connection meanwhile, the open ones and each new one."""
        self.is_shut = True
        self.cut()
        try:
            yield
        finally:
            self.is_shut = False

    def cut(self) -> None:
        with self._lock:
            for end in list(self._open):
                _reset(end)

    def close(self) -> None:
        self._listener.close()
        self._passes.set()
        self.cut()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.is_shut:
                _reset(client)
                continue
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        self._passes.wait()
        try:
            server = self._connect()
        except OSError:
            _reset(client)
            return
        with self._lock:
            self._open |= {client, server}
        threading.Thread(target=self._pass_on, args=(client, server, False), daemon=True).start()
        self._pass_on(server, client, True)

    def _connect(self) -> socket.socket:
        if isinstance(self.behind, tuple):
            return socket.create_connection(self.behind)
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.connect(self.behind)
        return server

    def _pass_on(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(PIECE):
                self._passes.wait()
                if is_answer and self._is_lost():
                    break
                target.sendall(data)
        for end in (source, target):
            _reset(end)
        with self._lock:
            self._open -= {source, target}

    def _is_lost(self) -> bool:
        with self._lock:
            self.answers += 1
            is_lost = self._chance.random() < self.lost
            self.answers_lost += is_lost
            return is_lost


def _reset(end: socket.socket) -> None:
    with suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        end.close()
