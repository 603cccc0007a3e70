"""Names and options in fio's JSON that are none: `"50.0x0000" : 20` is the figure of no percentile, `"bs" : "4xk"` no size.

The figures that belong to them are absent, and this says why.
"""

from collections.abc import Iterable, Iterator, Mapping

from apps.parsers.fio_documents import Direction, Job, Latency
from apps.parsers.fio_options import bytes_of

_PARTS = ("read", "write", "trim", "mixed", "sync")
_KINDS = ("clat_ns", "lat_ns", "slat_ns", "clat", "lat", "slat")
_SIZES = ("bs", "size", "filesize", "iodepth", "numjobs")
_SWITCHES = {"0", "1", "true", "false", "yes", "no", ""}
_OTHER = set("%$(-:/*")  # shares, ranges, variables and sums are no sizes, but sound


def unread_options(options: Mapping[str, str]) -> Iterator[str]:
    for name in _SIZES:
        text = options.get(name, "")
        if text and not _OTHER & set(text) and any(one.strip() and bytes_of(one) is None for one in text.split(",")):
            yield f"its {name} is {text[:40]!r}, which is no number or size; it is taken as not told"
    if (text := options.get("direct", "").strip().lower()) not in _SWITCHES:
        yield f"its direct is {text[:40]!r}, expected 0 or 1; it is taken as not told"


def unread_names(job: Job, *, has_bins: bool) -> Iterator[str]:
    for part in _PARTS:
        one: Direction | None = getattr(job, part)
        for kind in _KINDS if one is not None and (one.total_ios or one.io_bytes) else ():
            latency: Latency | None = getattr(one, kind)
            if latency is None:
                continue
            if latency.percentile and (strange := _strange(latency.percentile, ".")):
                yield f"a percentile of {part} {kind} is called {strange[:40]!r}, expected a number; it is left out"
            if has_bins and latency.bins and (strange := _strange(latency.bins, "")):
                yield f"a bin of {part} {kind} is called {strange[:40]!r}, expected ns; the histogram is left out"


def _strange(names: Iterable[str], point: str) -> str:
    """The first that is no number; all are looked at together, for there may be hundreds."""
    if "".join(names).replace(point, "").isdecimal():
        return ""
    return next((name or "nothing" for name in names if not name.replace(point, "", 1).isdecimal()), "")
