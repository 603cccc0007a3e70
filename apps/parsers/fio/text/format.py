"""Parser of fio's normal report, fio 1.5 to 3.x, also of `--client` (lines behind `<host> `) and quoted in mails and articles.

Two real lines: `  read : io=4096.0MB, bw=611058KB/s, iops=152764, runt=  6864msec`                  (2.2.10)
                `  read: IOPS=6367k, BW=24.3GiB/s (26.1GB/s)(1457GiB/60000msec)`                     (3.30)

    [name: (g=0): rw=…, bs=…, ioengine=…, iodepth=…]  [fio-3.33]  [Starting 1 process]
    name: (groupid=0, jobs=1): err= 0: pid=1: date
      read: …, slat (unit): min=, max=, avg=, stdev=, clat …, lat …, clat percentiles (unit):, bw (KiB/s): …, iops: …
      write: …                                                            cpu: usr=%, sys=%, …
    Run status group 0 (all jobs):       sums: read only where there are no jobs above them
    Disk stats (read/write):

Peculiarities:

- Units are those of the line, and not of the version alone: see `quantities.py`. K/s of fio 1.x and 2.x is 1024 unless
  the command line shows kb_base=1000. Figures that are printed shortened are marked rounded.
- `bw (…)` below a direction is KiB/s in every version since 1.25.2, also where kb_base=1000 makes fio write `kB`
  (`add_bw_samples` always divides by 1024).
- CPU is printed as the mean of a group's processes; here it is multiplied by their number (`jobs=`).
- Latencies switch between nsec, usec and msec from line to line; `lat (usec) : 2=67%` is a distribution and is not
  read, nor are latencies by priority.
- Random or not, block size and depth stand in the line of the job's definition, file size in the command line, if at
  all. The sums of a group have them where all its jobs are alike.
- With `--status-interval` the whole report is repeated under the same process numbers: the last one counts.
- A direction may stand behind a name (`old.1.log: read: IOPS=…`, as grep prints it): it is a report of its own with
  that name, and so are spreads behind the same name, above or below (`file_names.py`). A line that repeats one of the
  report's own is a comment on it.
- A whole report may stand behind the same words on every line, which are the run's caption, or behind numbers that
  count up (`report.py`).
- Latencies of fsync alone, which people quote to judge a disk for etcd, are a run without rates.
- Rates behind words that are no direction, spreads below none, and those of two reports side by side are reported as
  broken.
- The depths of I/O stand below the figures of every job, and the sums below all jobs: a text that ends before the
  former, or between two jobs that are defined, is cut off.
- A text without any report is one of fio that failed or was cut off: a run without figures where fio names the error
  of a job that was defined, else a broken place; both with fio's own words.
- Beside JSON or terse output in the same file (`--output-format=normal,json`) it repeats their figures, rounded: then
  those are read, and this is not.
"""

import re

from apps.parsers.core.models import ParsedFile, ParseError
from apps.parsers.core.source_text import SourceText, get_ascii_bytes
from apps.parsers.fio.duplicates import iterate_elsewhere
from apps.parsers.fio.engines import apply_engines, iterate_warnings
from apps.parsers.fio.text.report import SYNC_HEADING, FioReport

NAME = "fio text"
TITLE = "fio normal report"

_HEADER = re.compile(rb": \(groupid=\d+(?:, jobs=\d+)?\): err=")
_RATES = re.compile(rb"(?:read|write|trim|mixed)\s*:\s*(?:io=[^,\n]{1,30},\s*bw=|IOPS=[\d.]+\w?,\s*BW=)")
_SPOKEN = re.compile(
    rb"IOPS=\s{0,8}[\d.]{1,20}\w?,?\s{1,8}BW=\s{0,8}[\d.]{1,20}[kKMGT]?i?B/s(?!, IOS/call)"
)  # "IOS/call" is printed by t/io_uring
_ALL_JOBS = b"Run status group 0 (all jobs)"
_FAILED = re.compile(rb"^(?:<[^<>\s]{1,255}> )?fio: pid=\d{1,12}, (?:err=-?\d|got signal)", re.MULTILINE)
_DEFINED = re.compile(rb": \(g=\d{1,9}\): rw=[a-z]")
_STARTED = re.compile(rb"^(?:fio-\d|Starting \d{1,9} (?:process|thread))", re.MULTILINE)
_COMPLAINT = re.compile(rb"^(?:fio: \S|verify: bad )", re.MULTILINE)
_ELSEWHERE = re.compile(rb'"fio version"\s*:|^[345];fio[- ]', re.MULTILINE)
_SYNC = re.compile(rb"sync \([num]sec\)\s{0,8}: min=")


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has a normal report of fio, by its most typical line."""
    whole = get_ascii_bytes(text)
    if b"groupid=" in whole and _HEADER.search(whole):
        return 1.0
    if (b"IOPS=" in whole or b"runt=" in whole) and _RATES.search(whole):
        return 0.9
    if _ALL_JOBS in whole or (SYNC_HEADING.encode() in whole and _SYNC.search(whole)):
        return 0.8
    if b"IOPS=" in whole and _SPOKEN.search(whole):
        return 0.3
    return _rate_failure(whole)


def _rate_failure(data: bytes) -> float:
    """Return how sure it is that fio was started and printed no report, neither here nor as JSON or terse."""
    if not (b"fio" in data or b": (g=" in data) or _ELSEWHERE.search(data):
        return 0.0
    if _FAILED.search(data) or (_DEFINED.search(data) and _STARTED.search(data)):
        return 0.7
    return 0.4 if _COMPLAINT.search(data) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is none.
    """
    reading = FioReport(text)
    for index in range(len(text.lines)):
        reading.read(index)
    reading.finish()
    if not reading.done and reading.messages.broken:
        return ParsedFile(broken=tuple(reading.messages.broken))
    if not reading.done:
        raise ParseError("no report of fio", line=1, expected="name: (groupid=0, jobs=1): err= 0: …")
    elsewhere = set(iterate_elsewhere(text))
    runs, warnings = [], reading.messages.warnings
    for run, figures, repeats in reading.iterate_runs():
        if figures and figures <= elsewhere:
            warnings.append(f"line {run.line}: JSON or terse output in this file has these figures; read there")
            continue
        runs.append(apply_engines(run))
        warnings += iterate_warnings(run)
        if repeats:
            warnings.append(f"line {run.line}: {repeats + 1} status reports of one run; the last one is its result")
    return ParsedFile(tuple(runs), tuple(warnings), tuple(reading.messages.broken))
