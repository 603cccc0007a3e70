"""Through an archive and those inside of it, one member at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from apps.lib.units import size as shown
from apps.parsers.archives import decoders, survey, tar
from apps.parsers.archives.budget import Budget, member_too_large
from apps.parsers.archives.entry import Entry
from apps.parsers.archives.kinds import EMPTY_TAR, HEAD, UNREAD, is_archive, is_empty_tar, unread
from apps.parsers.archives.names import Names, is_of_the_desktop, printable, relative, unpacked
from apps.parsers.archives.shape import Limits, Member, Refusal, RefusedError, SpentError
from apps.parsers.archives.streams import PIECE, Inflated, Stream, Window
from apps.parsers.archives.together import Together
from apps.parsers.archives.zip import Zip

Found = Member | Refusal
_NOTHING = "it holds no files; pack them again"
_NAMED = 5  # of the files that are left out, by name


def members(file: BinaryIO, limits: Limits | None = None, name: str = "") -> Iterator[Found]:
    """Everything in an archive on a seekable file, in the archive's order.

    `name` is the archive's own, which a single compressed file gets without its `.gz`. Whoever drops a member before
    asking for the next one has one in memory. Raises nothing but what reading `file` raises.
    """
    size = file.seek(0, 2)
    limits = limits or Limits()
    walk = _Walk(limits, size)
    try:
        survey.look_through(file, size, limits)
        yield from walk.top(file, size, name or "content")
    except RefusedError as refused:
        yield Refusal("", refused.reason, is_whole=True)


class _Walk:
    def __init__(self, limits: Limits, file_size: int) -> None:
        self._limits = limits
        self._budget = Budget(limits, file_size)
        self._names = Names()

    def top(self, file: BinaryIO, size: int, name: str) -> Iterator[Found]:
        window = Window(file, 0, size)
        kind = _kind(window)
        if kind in ("zip", "sfx"):
            yield from self._entries(Zip(file, size, self._budget, is_inside=False).entries(), "", 0)
        elif kind:
            yield from self._opened(window, kind, name, "", 0)
        else:
            raise RefusedError(
                "it is no archive; zip, tar, gz, bz2, xz and zst are opened, other files are read as they are"
            )

    def _opened(self, stream: Stream, kind: str, name: str, prefix: str, level: int) -> Iterator[Found]:
        """What a stream of this kind holds. `name` is for a single compressed file, `prefix` for the paths of others."""
        if kind in UNREAD:
            raise RefusedError(unread(kind))
        if kind == "zip":
            yield from self._held(stream, prefix, level)
        elif kind == "tar":
            yield from self._entries(tar.entries(stream, self._budget), prefix, level)
        else:
            yield from self._compressed(stream, kind, name, prefix, level)

    def _compressed(self, stream: Stream, kind: str, name: str, prefix: str, level: int) -> Iterator[Found]:
        is_inside = not isinstance(stream, Window)
        inflated = Inflated(stream, self._budget, kind, decoders.BY_KIND[kind], is_inside=is_inside)
        inner = _kind(inflated)
        if inner == "tar":
            yield from self._entries(tar.entries(inflated, self._budget), prefix, level)
        elif inner and inner != "sfx":
            yield from self._member(Entry(name, None, inflated), unpacked(name), level)
        else:
            yield self._taken(inflated, unpacked(name), None)
        if inflated.note:
            yield Refusal(prefix, inflated.note)

    def _entries(self, entries: Iterator[Entry], prefix: str, level: int) -> Iterator[Found]:
        beside = _Beside()
        try:
            for entry in entries:
                if entry.name is None:
                    yield Refusal(prefix, entry.refused)
                elif path := self._path(entry.name, entry, beside):
                    beside.others += 1
                    yield from self._member(entry, _below(prefix, path), level)
        except RefusedError:
            yield from beside.refusals(prefix)
            raise
        yield from beside.told(prefix, is_top=level == 0)

    def _path(self, name: str, entry: Entry, beside: "_Beside") -> str:
        """Of what is to be read; empty for what is told together with others."""
        try:
            path = relative(name, self._limits.path_length)
        except RefusedError as refused:
            path, reason = printable(name), refused.reason
        else:
            reason = entry.refused
        if is_of_the_desktop(name):
            beside.desktop += 1
        elif reason:
            beside.refused.add(path, reason)
        elif _is_empty(entry):
            beside.empty.count(name)
        else:
            return path
        return ""

    def _member(self, entry: Entry, path: str, level: int) -> Iterator[Found]:
        try:
            assert entry.stream
            if (entry.size or 0) > self._limits.total_bytes:
                raise member_too_large(entry.size, self._limits)
            kind = _kind(entry.stream)
            if kind in ("", "sfx"):
                yield self._taken(entry.stream, path, entry.size)
            elif level >= self._limits.depth:
                raise RefusedError(
                    f"it is an archive inside of {level + 1} others, and {self._limits.depth} levels inside are opened; "
                    "unpack the outer one and upload what is in it"
                )
            else:
                yield from self._opened(entry.stream, kind, path, path, level + 1)
        except SpentError:
            raise
        except RefusedError as refused:
            yield Refusal(path, refused.reason)

    def _taken(self, stream: Stream, path: str, declared: int | None) -> Member:
        data = self._read(stream, declared, self._limits.member_bytes)
        if data is None:
            raise member_too_large(declared, self._limits)
        self._budget.give(len(data))
        return Member(self._names.unique(path), len(data), data)

    def _held(self, stream: Stream, prefix: str, level: int) -> Iterator[Found]:
        """A zip inside of another archive: its directory stands at its end, so all of it is kept."""
        most = self._limits.held_bytes - self._budget.held
        data = self._read(stream, None, most)
        if data is None:
            raise RefusedError(f"it is a zip of more than {shown(most)} inside of another archive; upload it by itself")
        self._budget.hold(len(data))
        try:
            yield from self._entries(
                Zip(BytesIO(data), len(data), self._budget, is_inside=True).entries(), prefix, level
            )
        finally:
            self._budget.hold(-len(data))

    def _read(self, stream: Stream, declared: int | None, most: int) -> bytes | None:
        """All of it, None where that is more than `most`."""
        if (declared or 0) > most:
            return None
        buffer = BytesIO()
        while piece := stream.read(PIECE):
            if buffer.tell() + len(piece) > most:
                return None
            buffer.write(piece)
        return buffer.getvalue()


@dataclass
class _Beside:
    """What lies in one archive beside the `others`, which are read; each kind is told in one line."""

    refused: Together = field(default_factory=Together)
    empty: "_Empty" = field(default_factory=lambda: _Empty())
    desktop: int = 0
    others: int = 0

    def refusals(self, prefix: str) -> Iterator[Refusal]:
        for path, reason in self.refused.told():
            yield Refusal(_below(prefix, path), reason)

    def told(self, prefix: str, *, is_top: bool) -> Iterator[Refusal]:
        """What was refused or left out; or why nothing of all was read."""
        wholly = "" if self.others or self.empty.number else self.refused.only_reason()
        if not wholly:
            yield from self.refusals(prefix)
        if self.desktop:
            words = f"{self.desktop:,} files of macOS or Windows themselves (.DS_Store, ._…) were left out"
            yield Refusal(prefix, words, is_note=True)
        if wholly:
            yield Refusal(prefix, wholly, is_whole=is_top)
        elif self.empty.number and (self.others or self.refused.counts):
            yield Refusal(prefix, f"left out because nothing is in them (0 bytes): {self.empty}", is_note=True)
        elif self.empty.number:
            yield Refusal(prefix, f"nothing is in its files (0 bytes): {self.empty}", is_whole=is_top)
        elif not (self.others or self.refused.counts or self.desktop):
            yield Refusal(prefix, _NOTHING, is_whole=is_top)


class _Empty:
    """Files of no bytes, such as fio's logs of what it did not measure: told together, with the first of their names."""

    def __init__(self) -> None:
        self.number = 0
        self._first: list[str] = []

    def count(self, name: str) -> None:
        self.number += 1
        if len(self._first) < _NAMED:
            self._first.append(printable(name))

    def __str__(self) -> str:
        more = self.number - len(self._first)
        return ", ".join(self._first) + (f" and {more:,} more" if more else "")


def _is_empty(entry: Entry) -> bool:
    """Whether there is nothing in it, as it says of itself."""
    try:
        return entry.size == 0 and entry.stream is not None and not entry.stream.peek(1)
    except RefusedError:
        return False


def _kind(stream: Stream) -> str:
    return is_archive(stream.peek(HEAD)) or ("tar" if is_empty_tar(stream.peek(EMPTY_TAR + 1)) else "")


def _below(prefix: str, path: str) -> str:
    return f"{prefix}/{path}" if prefix else path
