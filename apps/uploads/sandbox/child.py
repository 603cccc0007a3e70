"""The child process that reads strangers' bytes: it opens no file, writes none, and dies of its limits alone.

    python -m apps.uploads.sandbox.child FD [unpack]

FD is a socket to the worker. `unpack`: it will only unpack, so no format is imported before it begins.
Requests (msgpack, `frames.py`), one after another:

    {"act": "read", "data", "name", "only", "mapping", "beside", "cpu_s"}  →  {"read": FileReading}; a file's descriptor instead
        of `data` where "by_file" says so
    {"act": "read_many", "files": [{"data", "name", "only", "mapping", "beside"}, …], "cpu_s"}  →
        {"many": [{"read"} | {"error"}, …]}
    {"act": "unpack", "name", "limits", "cpu_s"}, with the archive's descriptor  →  {"member": …} | {"refusal": …} …, {"end": n}

Any other failure is answered as {"error": sentence}: a reader that fails on one file reads the next one.
"""

import gc
import os
import resource
import socket
import sys
from typing import Any, BinaryIO

import msgspec
from msgspec import structs

from apps.core.units import size
from apps.parsers.archives import ArchiveLimits, ArchiveMember, iterate_members
from apps.parsers.core.registry import formats
from apps.parsers.core.source_text import SourceText
from apps.uploads.file_reader import read_file
from apps.uploads.sandbox import frames

_COLLECT_EVERY = 50
MEMORY = int(os.environ.get("SPINDLE_PARSER_MEMORY", 1 << 30))  # bytes that are the process's own
TOO_MUCH = (
    f"reading it took more than {MEMORY >> 20} MiB of memory, all that a reader may have (SPINDLE_PARSER_MEMORY); its bytes are "
    "kept. Split it, or bring a shorter one: of a fio log, one made with log_avg_msec"
)


class ReadRequest(msgspec.Struct, tag_field="act", tag="read"):
    data: bytes = b""
    by_file: bool = False
    name: str = ""
    only: str = ""
    mapping: dict[str, Any] | None = None
    beside: tuple[str, str] = ("", "")
    cpu_s: int = 60


class ReadManyRequest(msgspec.Struct, tag_field="act", tag="read_many"):
    files: list[ReadRequest] = []
    cpu_s: int = 60


class UnpackRequest(msgspec.Struct, tag_field="act", tag="unpack"):
    name: str = ""
    limits: dict[str, int] = {}
    cpu_s: int = 600


_REQUEST = msgspec.msgpack.Decoder(ReadRequest | ReadManyRequest | UnpackRequest)


def main() -> None:
    link = socket.socket(fileno=int(sys.argv[1]))
    if "unpack" not in sys.argv[2:]:
        formats()  # every one is imported before the limits hold
    _confine()
    # what a file leaves behind goes without the collector, which would look through everything again and again
    gc.freeze()
    gc.disable()
    frames.send(link, {"ready": os.getpid()})
    served = 0
    while True:
        try:
            request = _REQUEST.decode(frames.receive(link))
        except frames.ClosedError:
            return
        _allow_cpu(request.cpu_s)
        _answer(link, request)
        served += len(request.files) if isinstance(request, ReadManyRequest) else 1
        if served >= _COLLECT_EVERY:
            gc.collect()
            served = 0


def _confine() -> None:
    """Limit this process: no files, no processes, no core dumps, at most `MEMORY` bytes. Open descriptors stay open."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def _allow_cpu(seconds: int) -> None:
    """Allow this many more seconds of CPU time, after which the kernel ends the process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _answer(link: socket.socket, request: ReadRequest | ReadManyRequest | UnpackRequest) -> None:
    try:
        if isinstance(request, UnpackRequest):
            _unpack(link, request)
        elif isinstance(request, ReadManyRequest):
            frames.send(link, {"many": [_read(file) for file in request.files]})
        else:
            data = _received_file(link).read() if request.by_file else request.data
            _send_read(link, structs.replace(request, data=data))
    except (BrokenPipeError, ConnectionResetError):
        raise
    except MemoryError:
        frames.send(link, {"error": TOO_MUCH})
    except Exception as error:
        frames.send(link, {"error": _failed(error)})


def _send_read(link: socket.socket, request: ReadRequest) -> None:
    answer = _read(request)
    try:
        frames.send(link, answer)
    except OverflowError:  # a number of more than 64 bits
        frames.send(link, _read(request, leaves_out_unfit=True))


def _read(request: ReadRequest, *, leaves_out_unfit: bool = False) -> dict[str, object]:
    try:
        text = SourceText(request.data, request.name, request.beside)
        result = read_file(text, request.only, request.mapping, leaves_out_unfit=leaves_out_unfit)
        return {"read": result}
    except MemoryError:
        return {"error": f"it has {size(len(request.data))}; {TOO_MUCH}"}
    except Exception as error:
        return {"error": _failed(error)}


def _failed(error: Exception) -> str:
    return f"the reader failed: {type(error).__name__}: {str(error)[:300]}"


def _unpack(link: socket.socket, request: UnpackRequest) -> None:
    sent = 0
    with _received_file(link) as file:
        for member in iterate_members(file, ArchiveLimits(**request.limits), request.name):
            sent += 1
            frames.send(link, {"member" if isinstance(member, ArchiveMember) else "refusal": member})
            del member  # or two members would be in memory while the next one is made
    frames.send(link, {"end": sent})


def _received_file(link: socket.socket) -> BinaryIO:
    _, descriptors, _, _ = socket.recv_fds(link, 1, 1)
    return os.fdopen(descriptors[0], "rb")


if __name__ == "__main__":
    main()
