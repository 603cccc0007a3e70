"""ioping's statistics block in its text: where it begins and ends, and which way it went."""

from collections.abc import Collection, Mapping

from apps.parsers.ioping_figures import DONE_LINE, LATENCY_LINE

TITLE_WORDS = " ioping statistics ---"
_LONGEST = 4096


def is_latencies(line: str) -> bool:
    """Not so ping's, which has `rtt` in front."""
    return line.lstrip().startswith("min/avg/max/mdev") and LATENCY_LINE.search(line[:_LONGEST]) is not None


def title(line: str) -> str:
    """The target in the title of a statistics block; empty for any other line."""
    head, found, _ = line.rpartition(TITLE_WORDS)
    return head.partition("--- ")[2] if found else ""


def height(block: list[str]) -> int:
    """How many lines of it ioping printed: up to the latencies, or up to the rates."""
    ends = [place for place, line in enumerate(block) if "mdev" in line or "requests" in line]
    if not ends:
        return 0
    wrapped = "mdev" in block[ends[-1]] and not LATENCY_LINE.search(block[ends[-1]]) and ends[-1] + 1 < len(block)
    return ends[-1] + 1 + wrapped


def says_direction(told: str) -> bool:
    return " written, " in told or " read, " in told


def direction(told: str, of_requests: Collection[str], options: Mapping[str, str] | None) -> str:
    if (options and "G" in options) or len(of_requests) > 1:
        return "mixed"
    if says_direction(told):
        return "write" if " written, " in told else "read"
    if options and "W" in options:
        return "write"
    if "generated " in told and DONE_LINE.match(told):
        return "mixed"  # since 1.0 only -G leaves the word out
    return next(iter(of_requests), "read")
