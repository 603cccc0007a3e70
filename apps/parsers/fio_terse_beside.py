"""What a command line or a normal report in the same file says of fio's terse records, and they do not.

- `jobs=3` over a job of the normal report: its CPU is that of three processes, and the record has their mean.
- lat_percentiles=1, or `lat percentiles (usec):` in the normal report: the percentiles behind clat are those of lat.
- unified_rw_reporting=1, or `mixed: IOPS=`: before fio 3.27 the sum of all directions stands where reads do.

The last two are of one run; where a file has several, nobody knows of which.
"""

import re
from collections.abc import Sequence
from itertools import chain

from apps.parsers.fio_quantities import version_of
from apps.parsers.fio_terse_record import Record
from apps.parsers.fio_text_headers import Header

Runs = Sequence[Sequence[Sequence[Record]]]  # of each its status reports
_OF_LAT = re.compile(
    rb"\b(?:lat_percentiles[= ]1|clat_percentiles[= ]0)\b|^[ \t]{0,60}lat percentiles \(", re.MULTILINE
)
_SUMS = re.compile(
    rb"\bunified_rw_reporting[= ](?:1|mixed)\b|^[ \t]{0,60}mixed[ ]{0,8}:[ ]{1,8}(?:io=|IOPS=)", re.MULTILINE
)
_HAS_LAT = (3, 1)
_NOT_TOLD = "of clat or of lat: one run in this file was asked for those of lat, and no record says which"
_AS_READS = "a run in this file was asked for the sum of reads and writes; before fio 3.27 that stands as reads"


class Beside:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.counts: dict[tuple[int, str], set[int]] = {}

    def count(self, header: Header) -> None:
        """Of processes, as a job of the normal report says."""
        self.counts.setdefault((header.group or 0, header.name), set()).add(header.jobs or 0)

    def tell(self, runs: Runs, warnings: list[str]) -> None:
        records = list(chain.from_iterable(chain.from_iterable(runs)))
        for record in records:
            found = self.counts.get(record.key, set())
            if len(found) == 1 and (jobs := min(found)):
                record.job.count_processes(jobs)
        if b"percentiles" in self.data and _OF_LAT.search(self.data):
            _move_percentiles(records, is_sure=len(runs) == 1)
        may_be_sums = b"unified_rw" in self.data or b"mixed" in self.data
        if records and may_be_sums and _SUMS.search(self.data):
            _name_sums(records, warnings, is_sure=len(runs) == 1)


def _move_percentiles(records: Sequence[Record], *, is_sure: bool) -> None:
    for record in records:
        known = version_of(f"fio-{record.version}")
        if known and known[1] < _HAS_LAT:
            continue
        if is_sure:
            record.job.percentiles_are_of_lat()
        else:
            record.job.doubt_percentiles(_NOT_TOLD)


def _name_sums(records: Sequence[Record], warnings: list[str], *, is_sure: bool) -> None:
    if not is_sure:
        warnings.append(f"line {records[0].job.line}: {_AS_READS}")
        return
    for record in records:
        record.job.reads_are_sums()
