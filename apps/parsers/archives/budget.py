"""What an upload has used of its limits, over all levels."""

from apps.lib.units import size as shown
from apps.parsers.archives.shape import Limits, RefusedError, SpentError


class Budget:
    def __init__(self, limits: Limits, file_size: int) -> None:
        self.limits = limits
        self.most_made = most_made(limits, file_size)
        self.entries = self.parts = self.records = self.made = self.given = self.held = 0

    def entry(self) -> None:
        self.entries += 1
        if self.entries > self.limits.members:
            raise SpentError(too_many(self.limits.members))

    def look(self, records: int) -> None:
        """So many of what is looked at without being an entry: records of pax, ends of zip directories, and four for a header in one."""
        self.records += records
        if self.records > self.limits.records:
            most = self.limits.records
            raise SpentError(
                f"its headers hold more than {most:,} records, as no archive of files does; pack them again"
            )

    def part(self) -> None:
        self.parts += 1
        if self.parts > self.limits.parts:
            raise SpentError(
                f"it is made of more than {self.limits.parts:,} compressed pieces; compress the files again"
            )

    def make(self, count: int) -> None:
        """`count` bytes were decompressed."""
        self.made += count
        self._hold(self.made)

    def foresee(self, count: int) -> None:
        """`count` bytes would have to be decompressed to go on."""
        self._hold(self.made + count)

    def give(self, count: int) -> None:
        self.given += count
        if self.given > self.limits.total_bytes:
            raise SpentError(too_large(self.limits))

    def hold(self, count: int) -> None:
        """An archive of `count` bytes is kept in memory; give them back with a negative count."""
        self.held += count

    def _hold(self, made: int) -> None:
        if made > self.most_made:
            raise SpentError(too_much(made, self.limits))


def most_made(limits: Limits, file_size: int) -> int:
    """How many bytes a file of this size may unpack to."""
    dense = max(limits.dense_from, limits.dense_ratio * file_size)
    return min(limits.total_bytes, dense, max(limits.ratio_from, limits.ratio * file_size))


def too_much(made: int, limits: Limits) -> str:
    """Why so many bytes are more than `most_made`."""
    if made > limits.total_bytes:
        return too_large(limits)
    return too_dense_for_long(limits) if made > limits.dense_from else too_dense(limits)


def too_many(most: int) -> str:
    return f"it holds more than {most:,} entries, and at most {most:,} are read; pack only the result files, or upload in parts"


def too_large(limits: Limits) -> str:
    most = shown(limits.total_bytes)
    return f"it unpacks to more than {most}, the most that one upload may hold; upload it in parts"


def too_dense(limits: Limits) -> str:
    return (
        f"it unpacks to more than {limits.ratio:,} times its size, as a bomb does and no log; "
        f"at most {limits.ratio:,} times is read beyond {shown(limits.ratio_from)}; upload the files unpacked"
    )


def too_dense_for_long(limits: Limits) -> str:
    return (
        f"it unpacks to more than {limits.dense_ratio:,} times its size for longer than {shown(limits.dense_from)}, as a bomb "
        f"does and no log; at most {limits.dense_ratio:,} times is read beyond that; upload the files unpacked"
    )


def member_too_large(size: int | None, limits: Limits) -> RefusedError:
    found = f"it has {shown(size)}" if size is not None else "it unpacks to more"
    return RefusedError(
        f"{found}, and a file may have at most {shown(limits.member_bytes)}; split it or upload its summary"
    )
