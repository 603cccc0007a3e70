"""A worker's hold on the child that reads strangers' bytes.

    reader = Sandbox()
    reading = reader.read(data, "host3.log")       # FileReading, or SandboxError
    for one in reader.unpack(file): …              # Member or Refusal

The child lives on from file to file, because starting Python costs more than reading most files. It is ended and
started anew when it used too much memory, processor time or time, and after some thousand files.
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

from apps.parsers.archives import Member, Refusal
from apps.uploads.reading import FileReading
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
    member: Member | None = None
    refusal: Refusal | None = None
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
        self._incoming: frames.Incoming | None = None
        self._served = 0
        self._owes = False  # an answer that nobody waited for

    def read(
        self, data: bytes | IO[bytes], name: str = "", only: str = "", mapping: dict[str, Any] | None = None,
        beside: Beside = NOTHING,
    ) -> FileReading:  # fmt: skip
        """Of bytes, or of an open file from where it stands. Raises `SandboxError`."""
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

    def begin(self, files: Sequence[Asked], *, as_columns: bool = False) -> Callable[[], list[Found]]:
        """Let the child read these; what is given back waits for one answer each, in their order, and is to be called
        before anything else is asked. Where all together take too much, or one ends the child, each is read by itself.
        `as_columns`: samples that fit come as `ReadRun.columns`.
        """
        words = ("data", "name", "only", "mapping", "beside")
        asked = [{"act": "read", **dict(zip(words, one, strict=True))} for one in files]
        try:
            if files:
                ask = {"act": "read_many", "files": asked, "cpu_s": int(self.read_s), "as_columns": as_columns}
                self._ask(ask, self.read_s, len(files))
                self._owes = True
        except SandboxError:
            return lambda: [self._alone(one) for one in files]
        return lambda: self._heard(files) if files else []

    def _heard(self, files: Sequence[Asked]) -> list[Found]:
        self._owes = False
        try:
            answers = self._hear(self.read_s).many or []
        except SandboxError:
            answers = []
        if len(answers) != len(files):
            return [self._alone(one) for one in files]
        # one that failed may have had too little memory beside the others
        return [answer.read or self._alone(one) for answer, one in zip(answers, files, strict=True)]

    def _alone(self, one: Asked) -> Found:
        try:
            return self.read(*one)
        except SandboxError as error:
            return error

    def unpack(
        self, file: IO[bytes], name: str = "", limits: dict[str, int] | None = None
    ) -> Iterator[Member | Refusal]:
        """The archive's members as they come. Raises `SandboxError`, also after some of them."""
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
                if found := answer.member or answer.refusal:
                    yield found
        finally:
            if not is_done:  # who asked has enough; what is left in the socket is nobody's
                self.close()

    @property
    def is_warm(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def warm_up(self) -> None:
        """Start the child, if there is none; it takes about a second."""
        if not self.is_warm:
            self._start()

    def close(self) -> None:
        """End the child. The next request starts another one."""
        child, self._child, self._owes = self._child, None, False
        if self._link:
            self._link.close()
            self._link = self._incoming = None
        if child:
            child.kill()
            child.wait()

    def _ask(self, message: Any, seconds: float, count: int = 1, file: IO[bytes] | None = None) -> None:
        if self._owes or self._served >= FILES_A_CHILD:
            self.close()
        self.warm_up()
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
        self._link, self._incoming, self._served = ours, frames.Incoming(ours), 0
        if not self._hear(START_S).ready:
            raise SandboxError("the reader did not start")


alone = Lock()  # threads of one server share the child, which answers one question at a time
_mine: dict[tuple[int, str], Sandbox] = {}


def reader() -> Sandbox:
    """This process's own child for files; a forked worker does not share its parent's."""
    return _own("reader")


def unpacker() -> Sandbox:
    """Another one for archives, so that members can be read while the archive is still open."""
    return _own("unpacker")


def _own(part: str) -> Sandbox:
    key = os.getpid(), part
    if key not in _mine:
        _mine[key] = Sandbox(only_unpacks=part == "unpacker")
        atexit.register(_mine[key].close)
    return _mine[key]
