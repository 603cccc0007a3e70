"""The lines below a direction of fio's normal report: latencies, percentiles, bandwidth and IOPS of its intervals, CPU."""

from apps.parsers.fio.text.lines import BANDWIDTH, CPU, IOPS, LATENCY, PERCENTILES, LineReader

NEED_DIRECTION = ("slat", "clat", "lat", "bw", "iops")  # the line of the CPU may stand in a job that moved nothing
_SCALES = {"n": 1, "u": 1000, "m": 1_000_000}


def read_spread(reader: LineReader, line: str, number: int) -> tuple[str, bool]:
    """Read the line; return its kind, "" where it is none of these, and False where such a line was read before."""
    if match := LATENCY.match(line):
        reader.percentiles = None
        return match[1], reader.latency(match, line, number)
    if match := PERCENTILES.match(line):
        reader.percentiles = match[1], _SCALES[match[2][0]]
        reader.percentile_line(line, number)
        return f"{match[1]} percentiles", True
    if match := BANDWIDTH.match(line):
        return "bw", reader.bandwidth(match, line, number)
    if IOPS.match(line):
        return "iops", reader.iops(line, number)
    if match := CPU.match(line):
        return "cpu", reader.cpu(match, number)
    return "", True
