"""fio's normal report, fio 1.5 to 3.x, also of `--client` (lines behind `<host> `) and quoted in mails and articles.

Two real lines: `  read : io=4096.0MB, bw=611058KB/s, iops=152764, runt=  6864msec`                  (2.2.10)
                `  read: IOPS=6367k, BW=24.3GiB/s (26.1GB/s)(1457GiB/60000msec)`                     (3.30)

    [name: (g=0): rw=…, bs=…, ioengine=…, iodepth=…]  [fio-3.33]  [Starting 1 process]
    name: (groupid=0, jobs=1): err= 0: pid=1: date
      read: …, slat (unit): min=, max=, avg=, stdev=, clat …, lat …, clat percentiles (unit):, bw (KiB/s): …, iops: …
      write: …                                                            cpu: usr=%, sys=%, …
    Run status group 0 (all jobs):       sums: read only where there are no jobs above them
    Disk stats (read/write):

Oddities
- Units are those of the line, and not of the version alone: see `fio_quantities`. K/s of fio 1.x and 2.x is 1024
  unless the command line shows kb_base=1000. What is printed shortened is marked rounded.
- `bw (…)` below a direction is KiB/s in every version since 1.25.2, also where kb_base=1000 makes fio write `kB`
  (`add_bw_samples` divides by 1024 always).
- CPU is the mean of a group's processes; here times their number (`jobs=`).
- Latencies switch between nsec, usec and msec from line to line; `lat (usec) : 2=67%` is a distribution and is left
  out, as are latencies by priority.
- Random or not, block size and depth stand in the line of the job's definition, file size in the command line, if at
  all. The sums of a group have them where all its jobs are alike.
- With `--status-interval` the whole report comes again and again under the same process numbers: the last one counts.
- A direction may stand behind a name (`old.1.log: read: IOPS=…`, as grep prints it): a report of its own, of that name;
  spreads behind the same name are its own too, above or below (`fio_text_named`). A line that repeats one of the
  report's own is somebody speaking of it.
- A whole report may stand behind the same words on every line (`fio_text_prefixes`), which are the run's caption.
- It may stand behind numbers that count up (`fio_text_numbered`).
- Latencies of fsync alone, as people keep them to judge a disk for etcd, are a run without rates.
- Rates behind words that are no direction, spreads below none, and those of two reports side by side are told, not read.
- The depths of I/O stand below the figures of every job, and the sums below all jobs: a text that ends before the first,
  or between two jobs that are defined, is cut off.
- Beside JSON or terse output in the same file (`--output-format=normal,json`) it repeats their figures, rounded: then
  those are read, and this is left out.
"""

import re

from apps.parsers.fio_report import SYNCS, FioReport
from apps.parsers.fio_twice import told_elsewhere
from apps.parsers.shape import ParsedFile, ParseError
from apps.parsers.source_text import SourceText, plain_bytes

NAME = "fio text"
TITLE = "fio normal report"

_HEADER = re.compile(rb": \(groupid=\d+(?:, jobs=\d+)?\): err=")
_RATES = re.compile(rb"(?:read|write|trim|mixed)\s*:\s*(?:io=[^,\n]{1,30},\s*bw=|IOPS=[\d.]+\w?,\s*BW=)")
_SPOKEN = re.compile(
    rb"IOPS=\s{0,8}[\d.]{1,20}\w?,?\s{1,8}BW=\s{0,8}[\d.]{1,20}[kKMGT]?i?B/s(?!, IOS/call)"
)  # which t/io_uring prints
_ALL_JOBS = b"Run status group 0 (all jobs)"
_SYNC = re.compile(rb"sync \([num]sec\)\s{0,8}: min=")


def looks_like(text: SourceText) -> float:
    whole = plain_bytes(text)
    if b"groupid=" in whole and _HEADER.search(whole):
        return 1.0
    if (b"IOPS=" in whole or b"runt=" in whole) and _RATES.search(whole):
        return 0.9
    if _ALL_JOBS in whole or (SYNCS.encode() in whole and _SYNC.search(whole)):
        return 0.8
    return 0.3 if b"IOPS=" in whole and _SPOKEN.search(whole) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Every run in the text; `ParseError` where there is none."""
    reading = FioReport(text)
    for index in range(len(text.lines)):
        reading.read(index)
    reading.finish()
    if not reading.done and reading.told.broken:
        return ParsedFile(broken=tuple(reading.told.broken))
    if not reading.done:
        raise ParseError("no report of fio", line=1, expected="name: (groupid=0, jobs=1): err= 0: …")
    told = set(told_elsewhere(text))
    runs, warnings = [], reading.told.warnings
    for run, figures, repeats in reading.runs():
        if figures and figures <= told:
            warnings.append(f"line {run.line}: JSON or terse output in this file has these figures; read there")
            continue
        runs.append(run)
        if repeats:
            warnings.append(f"line {run.line}: {repeats + 1} status reports of one run; the last one is its result")
    return ParsedFile(tuple(runs), tuple(warnings), tuple(reading.told.broken))
