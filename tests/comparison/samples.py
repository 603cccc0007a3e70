"""Values with given moments, so that published examples can be repeated from the figures that they print."""

import statistics


def with_moments(n: int, mean: float, stdev: float) -> list[float]:
    """`n` evenly spaced values with just this mean and standard deviation."""
    even = list(range(n))
    middle, spread = statistics.fmean(even), statistics.stdev(even)
    return [mean + stdev * (value - middle) / spread for value in even]
