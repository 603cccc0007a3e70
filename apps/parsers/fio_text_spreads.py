"""The lines below a direction of fio's normal report: latencies, percentiles, bandwidth and IOPS of its intervals, CPU."""

from apps.parsers.fio_text_lines import BANDWIDTH, CPU, IOPS, LATENCY, PERCENTILES, Reader

OF_A_DIRECTION = ("slat", "clat", "lat", "bw", "iops")  # the CPU's is also of a job that moved nothing
_SCALES = {"n": 1, "u": 1000, "m": 1_000_000}


def spread_of(reader: Reader, line: str, number: int) -> tuple[str, bool]:
    """Read the line: what it is of, empty where it is none of these; and False where such a line was read before."""
    if match := LATENCY.match(line):
        reader.percentiles = None
        return match[1], reader.latency(match, line, number)
    if match := PERCENTILES.match(line):
        reader.percentiles = match[1], _SCALES[match[2][0]]
        reader.shares(line, number)
        return f"{match[1]} percentiles", True
    if match := BANDWIDTH.match(line):
        return "bw", reader.bandwidth(match, line, number)
    if IOPS.match(line):
        return "iops", reader.iops(line, number)
    if match := CPU.match(line):
        return "cpu", reader.cpu(match, number)
    return "", True
