"""What nench.sh shows of ioping: one line of each of its two runs, below a heading of the script's own.

    ioping: seek rate
        min/avg/max/mdev = 72.4 us / 118.0 us / 3.56 ms / 48.1 us
    ioping: sequential read speed
        generated 9.93 k requests in 5.00 s, 2.42 GiB, 1.98 k iops, 496.2 MiB/s

The first is of random reads (`ioping -DR`), the second of sequential ones (`-DRL`): the script says so, not ioping. That
is why a heading alone is not enough: the script's name has to be in the text, or both headings.
"""

import re

from apps.parsers.ioping_figures import LATENCY_LINE, figures_of, rates_of
from apps.parsers.ioping_samples import samples
from apps.parsers.shape import Broken, ParsedRun
from apps.parsers.source_text import SourceText

SEEK, SPEED = "ioping: seek rate", "ioping: sequential read speed"
_SPEED = re.compile(r"\s*generated [\d.]{1,20}(?: [kMGT])? requests in [\d.]{1,20} [a-z]{1,4}, ")
_GENERATED = "of all that ioping generated, the warm-up too"
_LONGEST = 4096


def is_its(text: SourceText) -> bool:
    return SEEK in text.text and (SPEED in text.text or "nench" in text.text)


def read(text: SourceText, index: int) -> ParsedRun | Broken | None:
    """The run of the heading at `index`; None where that is none, or ioping was not there."""
    title, below = text.lines[index].strip(), text.lines[index + 1 : index + 2]
    if title not in (SEEK, SPEED) or not below or "[" in below[0]:
        return None
    line, number = below[0][:_LONGEST], text.number(index + 1)
    if title == SEEK and LATENCY_LINE.search(line):
        found = samples("randread", figures_of(line, lambda _: number)[1], None, None, "")
    elif title == SPEED and _SPEED.match(line):
        found = samples("read", rates_of(line, lambda _: number), None, None, _GENERATED)
    else:
        return Broken(
            "nench.sh shows no figures of ioping", number, line.strip()[:100], "'min/avg/max/mdev' or 'generated'"
        )
    return ParsedRun(
        tool="ioping", tool_version="", samples=tuple(found), workload={"rw": "randread" if title == SEEK else "read"},
        caption=title, line=text.number(index), last_line=number,
    )  # fmt: skip
