"""Overviews of a value over the seconds of a run, and their description in a sentence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median

from apps.core.units import human, plain, significant
from apps.runs.metrics import Metric

MOST_TOLD = 6  # series, and gaps of one series; the table has all
# A step this many times the usual one, and this share of the whole, is a gap: less is how clocks and logs are.
GAP_STEPS, GAP_SHARE = 3.0, 0.01


@dataclass(frozen=True)
class Track:
    """`rows`: [seconds of the first, least, mean, most, count], by time."""

    name: str
    rows: Sequence[Sequence[float]]

    @property
    def low(self) -> float:
        return min(row[1] for row in self.rows)

    @property
    def high(self) -> float:
        return max(row[3] for row in self.rows)

    @property
    def count(self) -> int:
        return int(sum(row[4] for row in self.rows))

    @property
    def mean(self) -> float:
        """Return the mean of all values, not of the moments' means."""
        return sum(row[2] * row[4] for row in self.rows) / self.count

    @cached_property
    def gaps(self) -> list[tuple[float, float]]:
        """Return stretches without a value, as (second of the last value before, second of the first one after)."""
        if len(self.rows) < 3:
            return []
        usual = median((later[0] - row[0]) / row[4] for row, later in pairwise(self.rows))
        longest = max(GAP_STEPS * usual, GAP_SHARE * (self.rows[-1][0] - self.rows[0][0]))
        ends = ((row[0] + (row[4] - 1) * usual, later[0]) for row, later in pairwise(self.rows))
        return [(end, start) for end, start in ends if start - end > longest]


def describe_tracks(metric: Metric, tracks: Sequence[Track], base: int = 1000) -> str:
    """Describe each series by its mean, range, first and last value and gaps; `base` is 1000 or 1024 for bandwidths."""
    texts = [_track(track, metric, base) for track in tracks[:MOST_TOLD]]
    if left := len(tracks) - len(texts):
        texts.append(f"{left} more series in the table")
    return "; ".join(texts)


def _track(track: Track, metric: Metric, base: int) -> str:
    def text(value: float) -> str:
        return human(value, metric.unit, base)

    first, last = track.rows[0], track.rows[-1]
    parts = [
        f"{track.name}: {plain(track.count)} value{'' if track.count == 1 else 's'} from {_s(first[0])} to {_s(last[0])}",
        f"mean {text(track.mean)}, {text(track.low)} to {text(track.high)}",
        f"begins at {text(first[2])} and ends at {text(last[2])}",
        *_gaps(track),
    ]
    return ", ".join(parts)


def _gaps(track: Track) -> Iterator[str]:
    if track.gaps:
        about = "about " if any(row[4] > 1 for row in track.rows) else ""  # a gap may lie inside a moment
        text = " and ".join(f"from {about}{_s(end)} to {about}{_s(start)}" for end, start in track.gaps[:MOST_TOLD])
        left = len(track.gaps) - MOST_TOLD
        yield f"nothing {text}" + (f" and in {left} more gaps" if left > 0 else "")


def _s(seconds: float) -> str:
    return f"{significant(seconds)}\u00a0s"
