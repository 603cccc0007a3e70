"""The account of what an upload has used of its limits, over all levels of archives."""

from apps.core.units import size as format_size
from apps.parsers.archives.models import ArchiveLimits, ArchiveRefusedError, LimitsSpentError


class Budget:
    """Counters of entries, records, compressed parts and bytes, checked against the limits as they grow.

    All `count_…` methods raise LimitsSpentError where a limit is passed.
    """

    def __init__(self, limits: ArchiveLimits, file_size: int) -> None:
        self.limits = limits
        self.most_made = get_most_unpacked(limits, file_size)
        self.entries = self.parts = self.records = self.made = self.given = self.held = 0

    def count_entry(self) -> None:
        """Count one entry of an archive."""
        self.entries += 1
        if self.entries > self.limits.members:
            raise LimitsSpentError(describe_too_many(self.limits.members))

    def count_records(self, records: int) -> None:
        """Count what is read without being an entry: records of pax, end records of zip directories, and four for a header in one."""
        self.records += records
        if self.records > self.limits.records:
            most = self.limits.records
            raise LimitsSpentError(
                f"its headers hold more than {most:,} records, as no archive of files does; pack them again"
            )

    def count_part(self) -> None:
        """Count one compressed stream: a gzip member, an xz stream, a zst frame."""
        self.parts += 1
        if self.parts > self.limits.parts:
            raise LimitsSpentError(
                f"it is made of more than {self.limits.parts:,} compressed pieces; compress the files again"
            )

    def count_unpacked(self, count: int) -> None:
        """Count `count` decompressed bytes."""
        self.made += count
        self._hold(self.made)

    def foresee(self, count: int) -> None:
        """Check that `count` bytes, which have to be decompressed to go on, would stay within the limits."""
        self._hold(self.made + count)

    def count_given(self, count: int) -> None:
        """Count `count` bytes of a file that is returned."""
        self.given += count
        if self.given > self.limits.total_bytes:
            raise LimitsSpentError(describe_too_large(self.limits))

    def hold(self, count: int) -> None:
        """Add `count` bytes of an archive that is held in memory; a negative count releases them."""
        self.held += count

    def _hold(self, made: int) -> None:
        if made > self.most_made:
            raise LimitsSpentError(describe_too_much(made, self.limits))


def get_most_unpacked(limits: ArchiveLimits, file_size: int) -> int:
    """Return how many bytes a file of this size may unpack to."""
    most_of_dense = max(limits.dense_from, limits.dense_ratio * file_size)
    return min(limits.total_bytes, most_of_dense, max(limits.ratio_from, limits.ratio * file_size))


def describe_too_much(made: int, limits: ArchiveLimits) -> str:
    """Return the sentence that says why so many bytes are more than `get_most_unpacked` allows."""
    if made > limits.total_bytes:
        return describe_too_large(limits)
    return describe_too_dense_for_long(limits) if made > limits.dense_from else describe_too_dense(limits)


def describe_too_many(most: int) -> str:
    """Return the sentence for an upload with too many entries."""
    return f"it holds more than {most:,} entries, and at most {most:,} are read; pack only the result files, or upload in parts"


def describe_too_large(limits: ArchiveLimits) -> str:
    """Return the sentence for an upload that unpacks to too many bytes."""
    most = format_size(limits.total_bytes)
    return f"it unpacks to more than {most}, the most that one upload may hold; upload it in parts"


def describe_too_dense(limits: ArchiveLimits) -> str:
    """Return the sentence for a file that unpacks to too many times its size."""
    return (
        f"it unpacks to more than {limits.ratio:,} times its size, as a bomb does and no log; "
        f"at most {limits.ratio:,} times is read beyond {format_size(limits.ratio_from)}; upload the files unpacked"
    )


def describe_too_dense_for_long(limits: ArchiveLimits) -> str:
    """Return the sentence for a file that unpacks to too many times its size over a long stretch."""
    return (
        f"it unpacks to more than {limits.dense_ratio:,} times its size for longer than {format_size(limits.dense_from)}, as a bomb "
        f"does and no log; at most {limits.dense_ratio:,} times is read beyond that; upload the files unpacked"
    )


def make_member_refusal(size: int | None, limits: ArchiveLimits) -> ArchiveRefusedError:
    """Return the error for a file that is too large; `size` is None where it is not declared."""
    actual = f"it has {format_size(size)}" if size is not None else "it unpacks to more"
    return ArchiveRefusedError(
        f"{actual}, and a file may have at most {format_size(limits.member_bytes)}; split it or upload its summary"
    )
