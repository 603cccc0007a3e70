"""The parent's side of the sandboxed child process that parses untrusted bytes.

    reader = Sandbox()
    reading = reader.read(data, "host3.log")       # FileReading, or SandboxError
    for member in reader.unpack(file): …            # ArchiveMember or ArchiveRefusal

The child is reused from file to file, because starting Python costs more than parsing most files. It is ended and started
again when it exceeds its memory, CPU time or wall time, and after some thousand files.
"""

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import IO, Any

import msgspec

from apps.parsers.archives import ArchiveMember, ArchiveRefusal
from apps.uploads.file_reader import FileReading
from apps.uploads.sandbox import frames

ROOT = Path(__file__).resolve().parents[3]
START_S = 60.0
READ_S = 60.0  # for one file, by the clock and by the processor
UNPACK_S = 600.0
FILES_A_CHILD = 5000
_KEPT_WORDS = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SPINDLE_PARSER_MEMORY")


class SandboxError(RuntimeError):
    """A file could not be read within the limits; the sentence says why. The next file can."""


Found = FileReading | SandboxError
Beside = tuple[str, str]  # as of a `SourceText`
Asked = tuple[bytes, str, str, dict[str, Any] | None, Beside]  # bytes, name, only, mapping, beside
NOTHING: Beside = ("", "")


class _Answer(msgspec.Struct):
    read: FileReading | None = None
    member: ArchiveMember | None = None
    refusal: ArchiveRefusal | None = None
    end: int | None = None
    error: str = ""
    ready: int = 0
    many: list["_Answer"] | None = None


_ANSWER = msgspec.msgpack.Decoder(_Answer)


class Sandbox:
    """One child, one request at a time."""

    def __init__(self, *, read_s: float = READ_S, unpack_s: float = UNPACK_S, only_unpacks: bool = False) -> None:
        self.read_s, self.unpack_s, self._words = read_s, unpack_s, ["unpack"] if only_unpacks else []
        self._child: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._incoming: frames.FrameReader | None = None
        self._served = 0
        self._owes = False  # an answer that nobody waited for

    def read(
        self, data: bytes | IO[bytes], name: str = "", only: str = "", mapping: dict[str, object] | None = None,
        beside: Beside = NOTHING,
    ) -> FileReading:  # fmt: skip
        """Parse bytes, or an open file from its position, in the child.

        Raises:
            SandboxError: The file could not be parsed within the limits.
        """
        ask = {
            "act": "read", "name": name, "only": only, "mapping": mapping, "beside": beside, "cpu_s": int(self.read_s)
        }  # fmt: skip
        if isinstance(data, bytes):
            self._ask({**ask, "data": data}, self.read_s)
        else:
            self._ask({**ask, "by_file": True}, self.read_s, file=data)
        answer = self._hear(self.read_s)
        if answer.read is None:
            raise SandboxError(answer.error or "the reader gave no answer")
        return answer.read

    def begin(self, files: Sequence[Asked]) -> Callable[[], list[Found]]:
        """Send files to the child and return a function that waits for one result per file, in their order.

        Call the function before anything else is sent. Where all files together take too much, or one ends the child,
        each is
        parsed by itself.
        """
        words = ("data", "name", "only", "mapping", "beside")
        query = [{"act": "read", **dict(zip(words, file, strict=True))} for file in files]
        try:
            if files:
                ask = {"act": "read_many", "files": query, "cpu_s": int(self.read_s)}
                self._ask(ask, self.read_s, len(files))
                self._owes = True
        except SandboxError:
            return lambda: [self._alone(file) for file in files]
        return lambda: self._heard(files) if files else []

    def _heard(self, files: Sequence[Asked]) -> list[Found]:
        self._owes = False
        try:
            answers = self._hear(self.read_s).many or []
        except SandboxError:
            answers = []
        if len(answers) != len(files):
            return [self._alone(file) for file in files]
        # one that failed may have had too little memory beside the others
        return [answer.read or self._alone(file) for answer, file in zip(answers, files, strict=True)]

    def _alone(self, item: Asked) -> Found:
        try:
            return self.read(*item)
        except SandboxError as error:
            return error

    def unpack(
        self, file: IO[bytes], name: str = "", limits: dict[str, int] | None = None
    ) -> Iterator[ArchiveMember | ArchiveRefusal]:
        """Yield the archive's members as the child unpacks them.

        Raises:
            SandboxError: The limits were exceeded, perhaps after some members.
        """
        ask = {"act": "unpack", "name": name, "limits": limits or {}, "cpu_s": int(self.unpack_s)}
        self._ask(ask, self.unpack_s, file=file)
        is_done = False
        try:
            while not is_done:
                answer = self._hear(self.unpack_s)
                if answer.error:
                    is_done = True
                    raise SandboxError(answer.error)
                is_done = answer.end is not None
                if result := answer.member or answer.refusal:
                    yield result
        finally:
            if not is_done:  # who asked has enough; what is left in the socket is nobody's
                self.close()

    def close(self) -> None:
        """End the child. The next request starts another one."""
        child, self._child, self._owes = self._child, None, False
        if self._link:
            self._link.close()
            self._link = self._incoming = None
        if child:
            child.kill()
            child.wait()

    def _ask(self, message: object, seconds: float, count: int = 1, file: IO[bytes] | None = None) -> None:
        if self._owes or self._served >= FILES_A_CHILD:
            self.close()
        if self._child is None or self._child.poll() is not None:
            self._start()
        self._served += count
        assert self._link is not None
        self._link.settimeout(seconds)
        try:
            frames.send(self._link, message)
            if file:
                socket.send_fds(self._link, [b"\0"], [file.fileno()])
        except OSError as error:
            raise self._failed(error) from error

    def _hear(self, seconds: float) -> _Answer:
        assert self._link is not None
        assert self._incoming is not None
        self._link.settimeout(seconds)
        try:
            return _ANSWER.decode(self._incoming.receive())
        except (OSError, EOFError, msgspec.MsgspecError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> SandboxError:
        child = self._child
        if child and not isinstance(error, TimeoutError):
            try:
                child.wait(timeout=2)
            except subprocess.TimeoutExpired:
                pass
        status = child.poll() if child else None
        self.close()
        if isinstance(error, TimeoutError):
            return SandboxError(f"reading it took longer than {self.read_s:.0f} s")
        if status is not None and status < 0:
            return SandboxError(f"reading it used more than its limits and was ended (signal {-status})")
        return SandboxError(f"the reader ended ({error})")

    def _start(self) -> None:
        self.close()
        ours, theirs = socket.socketpair()
        environment = {word: os.environ[word] for word in _KEPT_WORDS if word in os.environ}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        with theirs:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "apps.uploads.sandbox.child", str(theirs.fileno()), *self._words],
                cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                start_new_session=True,
            )  # fmt: skip
        self._link, self._incoming, self._served = ours, frames.FrameReader(ours), 0
        if not self._hear(START_S).ready:
            raise SandboxError("the reader did not start")


alone = Lock()  # threads of one server share the child, which answers one question at a time
_mine: dict[tuple[int, str], Sandbox] = {}


def reader() -> Sandbox:
    """Return this process's own child for parsing; a forked worker does not share its parent's child."""
    return _own("reader")


def unpacker() -> Sandbox:
    """Return this process's own child for archives, so that members can be parsed while the archive is open."""
    return _own("unpacker")


def _own(part: str) -> Sandbox:
    key = os.getpid(), part
    if key not in _mine:
        _mine[key] = Sandbox(only_unpacks=part == "unpacker")
        atexit.register(_mine[key].close)
    return _mine[key]
