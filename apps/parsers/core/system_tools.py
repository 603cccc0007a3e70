"""Recognition of outputs of system tools (vmstat, sar, df, top …) that look like tables of figures but are no results.

They lie beside results in every old folder and say what a host was doing, not what a benchmark measured. They are known
by the headings that the tools print in the first lines (procps-ng, sysstat, coreutils, files of the kernel below /proc,
tests of sysbench other than fileio).
"""

import re
from typing import NamedTuple

from apps.parsers.core.source_text import SourceText

_LINES = 40  # a log's own words, a date or a prompt may stand before
_HEADINGS = {
    "vmstat": r"procs -+ ?memory|\s*r\s+b\s+(?:w\s+)?(?:swpd|avm)\s+fre",
    "sysstat (iostat, sar, mpstat)": r"Linux \S+ \(\S+\)\s+\d+[-/.]\d+[-/.]\d+\b|avg-cpu:\s+%user|Device:?\s.*(?:%util|svctm|rrqm/s|_read/s)"
    r"|(?:\d\d:\d\d:\d\d(?: [AP]M)?|Average:)\s+(?:CPU|DEV|IFACE|tps|kbmemfree|runq-sz|proc/s|pgpgin/s)\b",
    "df": r"\S.*\s(?:I?Use|Verw|Uti|Uso|Исп\w*)%\s|Filesystem\s.*\s(?:Capacity|Mounted on)",
    "free": r"\s+total\s+used\s+free\s+(?:shared|buff)",
    "top": r"top - \d\d:\d\d:\d\d up |last pid:\s+\d+;|\s*PID\s+USER(?:NAME)?\s+(?:PR|PRI|THR)\b",
    "ps": r"(?:USER|UID|F S UID|F\s+UID)\s+PID\s+(?:%CPU|PPID|C)\b|\s*PID\s+TTY\s+(?:STAT\s+)?TIME\b",
    "/proc/meminfo": r"MemTotal:\s+\d+ kB",
    "/proc/diskstats": r"\s*\d+\s+\d+ (?:loop|ram|sr|sd|hd|vd|xvd|nvme|dm-|md|mmcblk)\w*(?: \d+){11}",
    "/proc/partitions": r"major\s+minor\s+#blocks\s+name",
    "/proc/net/dev": r"Inter-\|\s+Receive\b",
    "/proc/slabinfo": r"slabinfo - version",
    "/proc/interrupts": r"\s+CPU0(?:\s+CPU\d+)*\s*$",
    "netstat": r"Kernel Interface table|Active Internet connections",
    "du": r"\d+(?:[.,]\d+)?[KMGTP]?\t(?!/dev/)\.{0,2}/[^\t]*$",
    "sysctl": r"(?:abi|crypto|debug|dev|fs|kern|kernel|net|vm)\.[\w.\-/]+ = ",
    "a test of sysbench other than fileio": r"Running the test with following options:|sysbench \d\.\d",
}
_ANY = {tool: re.compile(heading) for tool, heading in _HEADINGS.items()}


class SystemOutput(NamedTuple):
    """A tool that was recognised, and the line (from 1, and as printed) that shows it."""

    tool: str
    line: int
    printed: str


def detect_system_tool(text: SourceText) -> SystemOutput | None:
    """Return which system tool's output the text begins with, None where it is none."""
    for index, line in enumerate(text.lines[:_LINES]):
        for tool, heading in _ANY.items():
            if heading.match(line):
                return SystemOutput(tool, text.number(index), line.strip())
    return None
