"""Reading of an archive and those inside it, one member at a time.

Before any member is returned, a tar is surveyed: a bomb, or more entries than are read, is refused before its first
members are stored anywhere. A zip says all this in its directory. The headers of a tar are counted to its end: in an
uncompressed one by seeking over the data, and to decompress another one twice takes hardly any time beside parsing what
is in it. What unpacks to too much is refused by the survey only where that shows at its beginning; of any other
archive, the members that fit are read first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from apps.core.units import size as format_size
from apps.parsers.archives import decoders, tar
from apps.parsers.archives.budget import Budget, make_member_refusal
from apps.parsers.archives.decoders import BY_KIND
from apps.parsers.archives.entry import LOCKED, ArchiveEntry
from apps.parsers.archives.kinds import (
    EMPTY_TAR,
    HEAD,
    UNREAD,
    describe_unread,
    detect_archive,
    is_empty_tar,
)
from apps.parsers.archives.models import (
    MIB,
    ArchiveLimits,
    ArchiveMember,
    ArchiveRefusal,
    ArchiveRefusedError,
    LimitsSpentError,
    TooDenseError,
)
from apps.parsers.archives.names import (
    UniqueNames,
    is_desktop_file,
    make_printable,
    make_relative,
    strip_suffix,
)
from apps.parsers.archives.streams import PIECE, ArchiveStream, FileWindow, InflatedStream
from apps.parsers.archives.tar import skip_zeros
from apps.parsers.archives.tar_header import BLOCK, ZEROS
from apps.parsers.archives.zip import ZipReader

_NAMED = 5  # names that are listed of files that are left out, or refused for one reason
_REASONS = 100  # reasons that are listed; some name a size or the like, and there may be as many as members
_OTHERS = "it is refused as others are, each for a reason of its own"
_PLURALS = {LOCKED: "members are encrypted, and no passwords are asked for; pack them again without one"}


@dataclass
class RefusalGroups:
    """Refused members, grouped by reason: a hundred lines of the same words would hide what else is wrong."""

    names: dict[str, list[str]] = field(default_factory=dict)  # the first few names for each reason
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, path: str, reason: str) -> None:
        """Add a member that is refused for this reason."""
        if reason not in self.counts and len(self.counts) >= _REASONS:
            reason = _OTHERS
        self.counts[reason] = self.counts.get(reason, 0) + 1
        names = self.names.setdefault(reason, [])
        if len(names) < _NAMED:
            names.append(path)

    def find_only_reason(self) -> str:
        """Return why nothing at all was read, where that is one reason for several members; "" otherwise."""
        reasons = [self._describe_all(reason) for reason, count in self.counts.items() if count > 1]
        return reasons[0] if len(self.counts) == len(reasons) == 1 else ""

    def iterate_lines(self) -> Iterator[tuple[str, str]]:
        """Yield (path, sentence) for each reason; for several members the path is the first one's, with their number."""
        for reason, count in self.counts.items():
            first = self.names[reason][0]
            if count == 1:
                yield first, reason
            else:
                yield f"{first} and {count - 1:,} more", self._describe_all(reason)

    def _describe_all(self, reason: str) -> str:
        count, names = self.counts[reason], self.names[reason]
        words = _PLURALS.get(reason) or f"members are not read, each because {reason}"
        more = f" and {count - len(names):,} more" if count > len(names) else ""
        return f"{count:,} {words}: {', '.join(map(make_printable, names))}{more}"


_BEGINNING = 32 * MIB  # unpacked bytes
_SMALL = 4096  # average bytes of an entry
_SKIP = MIB


def survey_tar(file: BinaryIO, size: int, limits: ArchiveLimits) -> None:
    """Read through a tar, and raise for what is refused as a whole; other faults are left to the reading of members.

    Raises:
        LimitsSpentError: for too many entries, or too many bytes from the beginning on.
        TooDenseError: for a bomb.
    """
    window: ArchiveStream = FileWindow(file, 0, size)
    budget = Budget(limits, size)
    stream = window
    try:
        kind = detect_archive(window.peek(HEAD))
        if kind in BY_KIND:
            stream = InflatedStream(window, budget, kind, BY_KIND[kind], is_inside=False)
        if detect_archive(stream.peek(HEAD)) == "tar":
            _count_entries(stream, budget)
    except (LimitsSpentError, TooDenseError):
        if budget.entries > limits.members or _is_hostile(stream, budget):
            raise
    except ArchiveRefusedError:
        return


def _count_entries(tar: ArchiveStream, budget: Budget) -> None:
    while len(block := tar.read_exactly(BLOCK)) == BLOCK:
        if block == ZEROS:
            skip_zeros(tar)
            continue
        budget.count_entry()
        size = _read_size(block)
        left = size + -size % BLOCK
        while left > 0:
            tar.skip(min(left, _SKIP))
            left -= _SKIP


def _is_hostile(tar: ArchiveStream, budget: Budget) -> bool:
    """Return whether entries are small and many, or bytes unpack to very many; also where it is too early to say."""
    is_dense = isinstance(tar, InflatedStream) and tar.is_dense
    return is_dense or tar.position <= max(_BEGINNING, _SMALL * budget.entries)


def _read_size(block: bytes) -> int:
    """Return the size of the data behind a header, 0 where the header is odd: nothing is read by it here."""
    digits = block[124:136].strip(b" \0")
    is_plain = digits.isdigit() and block[156:157] not in b"123456"
    try:
        return int(digits, 8) if is_plain else 0
    except ValueError:
        return 0


ArchiveResult = ArchiveMember | ArchiveRefusal
_NOTHING = "it holds no files; pack them again"


def iterate_members(file: BinaryIO, limits: ArchiveLimits | None = None, name: str = "") -> Iterator[ArchiveResult]:
    """Yield everything in an archive on a seekable file, in the archive's order.

    `name` is the archive's own, which a single compressed file gets without its `.gz`. Whoever drops a member before
    requesting the next one has one in memory. Nothing is raised but what reading `file` raises.
    """
    size = file.seek(0, 2)
    limits = limits or ArchiveLimits()
    walk = _Walk(limits, size)
    try:
        survey_tar(file, size, limits)
        yield from walk.read_top(file, size, name or "content")
    except ArchiveRefusedError as refused:
        yield ArchiveRefusal("", refused.reason, is_whole=True)


class _Walk:
    def __init__(self, limits: ArchiveLimits, file_size: int) -> None:
        self._limits = limits
        self._budget = Budget(limits, file_size)
        self._names = UniqueNames()

    def read_top(self, file: BinaryIO, size: int, name: str) -> Iterator[ArchiveResult]:
        """Yield what the uploaded file itself holds."""
        window = FileWindow(file, 0, size)
        kind = _detect_kind(window)
        if kind in ("zip", "sfx"):
            yield from self._read_entries(ZipReader(file, size, self._budget, is_inside=False).iterate_entries(), "", 0)
        elif kind:
            yield from self._read_stream(window, kind, name, "", 0)
        else:
            raise ArchiveRefusedError(
                "it is no archive; zip, tar, gz, bz2, xz and zst are opened, other files are read as they are"
            )

    def _read_stream(
        self, stream: ArchiveStream, kind: str, name: str, prefix: str, level: int
    ) -> Iterator[ArchiveResult]:
        """Yield what a stream of this kind holds.

        `name` is for a single compressed file, `prefix` for the paths of others.
        """
        if kind in UNREAD:
            raise ArchiveRefusedError(describe_unread(kind))
        if kind == "zip":
            yield from self._read_nested_zip(stream, prefix, level)
        elif kind == "tar":
            yield from self._read_entries(tar.iterate_entries(stream, self._budget), prefix, level)
        else:
            yield from self._read_compressed(stream, kind, name, prefix, level)

    def _read_compressed(
        self, stream: ArchiveStream, kind: str, name: str, prefix: str, level: int
    ) -> Iterator[ArchiveResult]:
        is_inside = not isinstance(stream, FileWindow)
        inflated = InflatedStream(stream, self._budget, kind, decoders.BY_KIND[kind], is_inside=is_inside)
        inner = _detect_kind(inflated)
        if inner == "tar":
            yield from self._read_entries(tar.iterate_entries(inflated, self._budget), prefix, level)
        elif inner and inner != "sfx":
            yield from self._read_member(ArchiveEntry(name, None, inflated), strip_suffix(name), level)
        else:
            yield self._take_member(inflated, strip_suffix(name), None)
        if inflated.note:
            yield ArchiveRefusal(prefix, inflated.note)

    def _read_entries(self, entries: Iterator[ArchiveEntry], prefix: str, level: int) -> Iterator[ArchiveResult]:
        leftovers = _Leftovers()
        try:
            for entry in entries:
                if entry.name is None:
                    yield ArchiveRefusal(prefix, entry.refused)
                elif path := self._accept_path(entry.name, entry, leftovers):
                    leftovers.others += 1
                    yield from self._read_member(entry, _join(prefix, path), level)
        except ArchiveRefusedError:
            yield from leftovers.iterate_refusals(prefix)
            raise
        yield from leftovers.iterate_lines(prefix, is_top=level == 0)

    def _accept_path(self, name: str, entry: ArchiveEntry, leftovers: "_Leftovers") -> str:
        """Return the path of an entry that is to be read, "" for one that is only counted in `leftovers`."""
        try:
            path = make_relative(name, self._limits.path_length)
        except ArchiveRefusedError as refused:
            path, reason = make_printable(name), refused.reason
        else:
            reason = entry.refused
        if is_desktop_file(name):
            leftovers.desktop += 1
        elif reason:
            leftovers.refused.add(path, reason)
        elif _is_empty(entry):
            leftovers.empty.count(name)
        else:
            return path
        return ""

    def _read_member(self, entry: ArchiveEntry, path: str, level: int) -> Iterator[ArchiveResult]:
        try:
            assert entry.stream
            if (entry.size or 0) > self._limits.total_bytes:
                raise make_member_refusal(entry.size, self._limits)
            kind = _detect_kind(entry.stream)
            if kind in ("", "sfx"):
                yield self._take_member(entry.stream, path, entry.size)
            elif level >= self._limits.depth:
                raise ArchiveRefusedError(
                    f"it is an archive inside of {level + 1} others, and {self._limits.depth} levels inside are opened; "
                    "unpack the outer one and upload what is in it"
                )
            else:
                yield from self._read_stream(entry.stream, kind, path, path, level + 1)
        except LimitsSpentError:
            raise
        except ArchiveRefusedError as refused:
            yield ArchiveRefusal(path, refused.reason)

    def _take_member(self, stream: ArchiveStream, path: str, declared: int | None) -> ArchiveMember:
        data = self._read_all(stream, declared, self._limits.member_bytes)
        if data is None:
            raise make_member_refusal(declared, self._limits)
        self._budget.count_given(len(data))
        return ArchiveMember(self._names.unique(path), len(data), data)

    def _read_nested_zip(self, stream: ArchiveStream, prefix: str, level: int) -> Iterator[ArchiveResult]:
        """Yield what a zip inside another archive holds; its directory is at its end, so all of it is held in memory."""
        most = self._limits.held_bytes - self._budget.held
        data = self._read_all(stream, None, most)
        if data is None:
            raise ArchiveRefusedError(
                f"it is a zip of more than {format_size(most)} inside of another archive; upload it by itself"
            )
        self._budget.hold(len(data))
        try:
            yield from self._read_entries(
                ZipReader(BytesIO(data), len(data), self._budget, is_inside=True).iterate_entries(), prefix, level
            )
        finally:
            self._budget.hold(-len(data))

    def _read_all(self, stream: ArchiveStream, declared: int | None, most: int) -> bytes | None:
        """Return all bytes of a stream, None where there are more than `most`."""
        if (declared or 0) > most:
            return None
        buffer = BytesIO()
        while piece := stream.read(PIECE):
            if buffer.tell() + len(piece) > most:
                return None
            buffer.write(piece)
        return buffer.getvalue()


@dataclass
class _Leftovers:
    """What lies in an archive beside the `others`, which are read; each kind is reported in one line."""

    refused: RefusalGroups = field(default_factory=RefusalGroups)
    empty: "_EmptyFiles" = field(default_factory=lambda: _EmptyFiles())
    desktop: int = 0
    others: int = 0

    def iterate_refusals(self, prefix: str) -> Iterator[ArchiveRefusal]:
        for path, reason in self.refused.iterate_lines():
            yield ArchiveRefusal(_join(prefix, path), reason)

    def iterate_lines(self, prefix: str, *, is_top: bool) -> Iterator[ArchiveRefusal]:
        """Yield what was refused or left out, or why nothing at all was read."""
        only_reason = "" if self.others or self.empty.number else self.refused.find_only_reason()
        if not only_reason:
            yield from self.iterate_refusals(prefix)
        if self.desktop:
            sentence = f"{self.desktop:,} files of macOS or Windows themselves (.DS_Store, ._…) were left out"
            yield ArchiveRefusal(prefix, sentence, is_note=True)
        if only_reason:
            yield ArchiveRefusal(prefix, only_reason, is_whole=is_top)
        elif self.empty.number and (self.others or self.refused.counts):
            yield ArchiveRefusal(prefix, f"left out because nothing is in them (0 bytes): {self.empty}", is_note=True)
        elif self.empty.number:
            yield ArchiveRefusal(prefix, f"nothing is in its files (0 bytes): {self.empty}", is_whole=is_top)
        elif not (self.others or self.refused.counts or self.desktop):
            yield ArchiveRefusal(prefix, _NOTHING, is_whole=is_top)


class _EmptyFiles:
    """Files of no bytes, such as fio's logs of what it did not measure: reported together, with the first of their names."""

    def __init__(self) -> None:
        self.number = 0
        self._first: list[str] = []

    def count(self, name: str) -> None:
        self.number += 1
        if len(self._first) < _NAMED:
            self._first.append(make_printable(name))

    def __str__(self) -> str:
        more = self.number - len(self._first)
        return ", ".join(self._first) + (f" and {more:,} more" if more else "")


def _is_empty(entry: ArchiveEntry) -> bool:
    """Return whether an entry declares that nothing is in it, and nothing is."""
    try:
        return entry.size == 0 and entry.stream is not None and not entry.stream.peek(1)
    except ArchiveRefusedError:
        return False


def _detect_kind(stream: ArchiveStream) -> str:
    return detect_archive(stream.peek(HEAD)) or ("tar" if is_empty_tar(stream.peek(EMPTY_TAR + 1)) else "")


def _join(prefix: str, path: str) -> str:
    return f"{prefix}/{path}" if prefix else path
