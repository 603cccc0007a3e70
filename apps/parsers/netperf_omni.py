"""netperf's omni output: CSV (`-o`), `KEY=VALUE` (`-k`) and aligned columns (`-O`), by the names of nettest_omni.c.

Throughput,Throughput Units,50th Percentile Latency Microseconds                    THROUGHPUT=2217.06
2217.06,Trans/s,442                                                                 THROUGHPUT_UNITS=Trans/s
"""

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise, takewhile

from apps.parsers import netperf_command
from apps.parsers.finite import number, positive
from apps.parsers.netperf_test import NO_WAY, Test, per_second
from apps.parsers.shape import Broken

_KEYWORD = re.compile(r"^\s*([A-Z][A-Z0-9_]{1,60}(?:\[\d{1,9}\])?)=(.{0,300})$")
_CELLS = re.compile(r"\S+")
_LATENCIES = {
    "latency_p50": ("p50_latency", "50th_percentile_latency_microseconds"),
    "latency_p90": ("p90_latency", "90th_percentile_latency_microseconds"),
    "latency_p99": ("p99_latency", "99th_percentile_latency_microseconds"),
    "latency_min": ("min_latency", "minimum_latency_microseconds"),
    "latency_max": ("max_latency", "maximum_latency_microseconds"),
    "latency_mean": ("mean_latency", "mean_latency_microseconds"),
    "latency_stdev": ("stddev_latency", "stddev_latency_microseconds"),
}
_RATES = ("transaction_rate", "transaction_rate_tran_s")  # its unit is in its name (nettest_omni.c, TRANSACTION_RATE)
_HEADS = ("Throughput", "Transaction Rate", "Latency")  # one of them is among the names over figures
_TELLING = ("throughput_units", *_RATES, *(name for names in _LATENCIES.values() for name in names))  # alone, too
_RETRANSMITS = ("local_transport_retrans", "local_transport_retransmissions")
_SIZES = {
    "request_size": ("request_size", "request_size_bytes"), "response_size": ("response_size", "response_size_bytes"),
    "block_size": ("local_send_size", "send_size"),
    "send_buffer": ("lss_size_end", "local_send_socket_size_final"),
    "receive_buffer": ("rsr_size_end", "remote_recv_socket_size_final"),
}  # fmt: skip
_OF_BANNER = re.compile(r'\bAF_INET6?\b|^\s{0,16}: |",\s{0,16}$')  # the rest of one that a mail wrapped
_LONGEST_HEADER = 8000
_MOST_NAMES = 100  # lines of a wrapped header
_MOST_BLOCKS, _MOST_TITLES = 4, 4  # of -O (nettest_omni.c, NETPERF_MAX_BLOCKS), and lines of a title
BEGINNINGS = ("THROUGHPUT", "THROUGHPUT_UNITS", "ELAPSED_TIME", "DIRECTION", "PROTOCOL", "SOCKET_TYPE", "LSS_SIZE_REQ")
FIGURES = ("THROUGHPUT", "TRANSACTION_RATE", "MEAN_LATENCY")
_CPU = ("local_cpu_util", "remote_cpu_util")
_UNREADABLE = "not readable"
_NO_UNIT = "its unit is not printed"
_PROTOCOLS = ("protocol", "socket_type")

Fields = dict[str, tuple[str, int]]  # name → (text, line)


def key_of(line: str) -> str:
    match = _KEYWORD.match(line)
    return match[1] if match else ""


def is_header(line: str) -> bool:
    """Whether it names the columns of -o: of a throughput and its unit, or of a rate whose unit is in its name."""
    cells = [cell.strip() for cell in line[:_LONGEST_HEADER].split(",")]
    is_named = {"Throughput", "Throughput Units"}.issubset(cells) or "Transaction Rate Tran/s" in cells
    return is_named and len(cells) > 1 and all(_name(cell) and positive(cell) is None for cell in cells)


def read(test: Test, warnings: list[str]) -> bool:
    """Whether there were figures with a name."""
    if test.figures:
        return _bare(test)
    fields = _keywords(test) or _csv(test, warnings)
    telling = (
        (*_TELLING, "throughput") if fields else _TELLING
    )  # as a name of its own; the old tables have it as a title
    fields = fields or _columns(test)
    return _first(fields, telling) is not None and _chosen(test, fields)


def others(test: Test) -> Iterator[Test]:
    """Of -o, the rows directly below the first one: what a script added with -P 0, one test each."""
    if test.figures or test.keys or not _csv(test, []):
        return
    rows = _rows(test)
    title = [*test.lines[:1], *test.lines[max(1, rows[0] - _MOST_NAMES) : rows[0]]]
    width = test.lines[rows[0]][1].count(",")
    for before, place in pairwise(rows):
        if place != before + 1 or test.lines[place][1].count(",") != width:
            return
        other = Test(
            test.kind, test.command, [*title, test.lines[place]],
            host=test.host, target=test.target, has_banner=test.has_banner,
        )  # fmt: skip
        if not read(other, []):
            return
        other.lines = [test.lines[place]]
        yield other


def _rows(test: Test) -> list[int]:
    """Where the figures of -o are."""
    names: list[str] = []
    found: list[int] = []
    for place, (_, text) in enumerate(test.lines):
        if place and _is_figures(text, names) and not _is_interim(text):
            found.append(place)
        elif not found and "Interim" not in text and not _OF_BANNER.search(text):
            names = [*names[1 - _MOST_NAMES :], text.strip()] if "," in text or names else names
    return found


def _is_figures(text: str, names: list[str]) -> bool:
    """Whether the line begins with a figure, or says as many things as are named, figures among them: `Stream,TCP,Send,1.00,…`."""
    if "," not in text:
        return False
    if positive(text.partition(",")[0].strip()) is not None:
        return True
    cells = _cells(text)
    return (
        len(cells) > 2
        and len(cells) == " ".join(names[-1:]).count(",") + 1
        and any(positive(cell) is not None for cell in cells)
        and _names_figures(names[-1])
    )


def _cells(text: str) -> list[str]:
    """Of a row; the command line among them stands in quotes, and has commas of its own."""
    shown = text.strip()
    cells = next(csv.reader([shown])) if shown.count('"') in (2, 4) and "\0" not in shown else shown.split(",")
    return [cell.strip() for cell in cells]


def _bare(test: Test) -> bool:
    """Figures whose names stand in the command."""
    line = test.lines[0][0]
    return _chosen(test, {name: (cell, line) for name, cell in test.figures.items()})


def _chosen(test: Test, fields: Fields) -> bool:
    """What somebody asked for: latencies without a throughput too, and that perhaps without its unit."""
    throughput, unit = _first(fields, ("throughput",)), _first(fields, ("throughput_units",))
    if throughput and unit:
        return _measured(test, fields, throughput, unit)
    rate = _first(fields, _RATES)
    operation = "net_request" if rate else _operation(test, fields, "")
    if not operation:
        if throughput:
            test.broken = Broken(
                _NO_UNIT, throughput[1], f"THROUGHPUT {throughput[0]}"[:100], "THROUGHPUT_UNITS beside it"
            )
        return False
    _facts(test, fields)
    if rate:
        value = positive(rate[0])
        reason = "" if value is not None else _UNREADABLE
        test.add(operation, "rate", value, f"{rate[0]} Tran/s", rate[1], reason=reason)
    elif throughput:
        metric = "rate" if operation == "net_request" else "bandwidth"
        test.add(operation, metric, None, throughput[0], throughput[1], reason=_NO_UNIT)
    _latencies(test, fields, operation)
    return bool(test.samples)


def _measured(test: Test, fields: Fields, throughput: tuple[str, int], unit: tuple[str, int]) -> bool:
    operation = _operation(test, fields, unit[0])
    arrived = "net_receive" if operation == "net_send" and _is_of_datagrams(test, fields) else operation
    if not operation:
        test.broken = Broken(NO_WAY, throughput[1], f"{throughput[0]} {unit[0]}"[:100], "a banner, or DIRECTION=Send")
        return False
    _facts(test, fields)
    _interim(test, fields)
    name = unit[0].removesuffix("ec").removesuffix("/s")
    value = per_second(throughput[0], name)
    metric, printed = "rate" if name == "Trans" else "bandwidth", f"{throughput[0]} {unit[0]}"
    test.add(arrived, metric, value, printed, throughput[1], reason="" if value is not None else "not measured")
    if arrived != operation:
        test.of_interim = operation
        _sent(test, fields, name)
    _latencies(test, fields, operation)
    if (
        (found := _first(fields, _RETRANSMITS))
        and operation == "net_send"
        and (count := positive(found[0])) is not None
    ):
        test.add(operation, "retransmits", count, found[0], found[1])
    return True


def _is_of_datagrams(test: Test, fields: Fields) -> bool:
    """Then the throughput of a sender is what arrived: "we want what was actually received" (nettest_omni.c, send_omni_inner)."""
    protocol = (_first(fields, ("protocol",)) or ("", 0))[0].strip().lower()
    return (protocol or netperf_command.protocol(test.command) or test.kind.partition(" ")[0].lower()) == "udp"


def _sent(test: Test, fields: Fields, unit: str) -> None:
    """What the sender of datagrams sent, which has a name of its own."""
    if (found := _first(fields, ("local_send_throughput",))) and (value := per_second(found[0], unit)):
        test.add("net_send", "bandwidth", value, f"{found[0]} {unit}/s", found[1])


def _operation(test: Test, fields: Fields, unit: str) -> str:
    if unit.startswith("Trans"):
        return "net_request"
    if test.operation:
        return test.operation
    direction = (_first(fields, ("direction",)) or ("", 0))[0].strip().lower()
    return {"send": "net_send", "receive": "net_receive", "recv": "net_receive"}.get(direction, "")


def _first(fields: Mapping[str, tuple[str, int]], names: tuple[str, ...]) -> tuple[str, int] | None:
    return next((fields[name] for name in names if name in fields), None)


def _facts(test: Test, fields: Fields) -> None:
    for name, keys in _SIZES.items():
        if found := _first(fields, keys):
            size = test.size(name, found[0].strip())
            if name == "block_size":
                test.block_size = size
    test.set_cpu([fields[name][0] for name in _CPU if name in fields])
    if (found := _first(fields, _PROTOCOLS)) and found[0].strip().lower() in ("tcp", "udp", "sctp"):
        test.told["protocol"] = found[0].strip().lower()


def _latencies(test: Test, fields: Fields, operation: str) -> None:
    for metric, names in _LATENCIES.items():
        found = _first(fields, names)
        if found and (value := positive(found[0])) is not None:
            test.add(operation, metric, round(value * 1e3, 6), f"{found[0]} us", found[1])
        elif found and found[0] and number(found[0]) is None:  # one below zero was not measured
            test.add(operation, metric, None, found[0][:40], found[1], reason=_UNREADABLE)


def _interim(test: Test, fields: Fields) -> None:
    place = 0
    while (found := fields.get(f"netperf_interim_result[{place}]")) is not None:
        unit = fields.get(f"netperf_units[{place}]", ("", 0))[0].removesuffix("/s")
        over = positive(fields.get(f"netperf_interval[{place}]", ("", 0))[0])
        rate = per_second(found[0], unit)
        if rate is not None and over:
            test.interim(rate, over, positive(fields.get(f"netperf_ending[{place}]", ("", 0))[0]), found[1])
        place += 1


def _keywords(test: Test) -> Fields:
    fields: Fields = {}
    for line, text in test.lines:
        if match := _KEYWORD.match(text):
            fields[match[1].lower()] = (match[2].strip(), line)
            test.last = line
    return fields if any(name.lower() in fields for name in FIGURES) else {}


def _csv(test: Test, warnings: list[str]) -> Fields:
    """The header may be wrapped; the values begin with the first line whose first cell is a number."""
    names: list[str] = []
    is_named = False  # whether a name of a figure is among them, which may be wrapped, too
    for place, (line, text) in enumerate(test.lines[1:]):
        if _OF_BANNER.search(text):
            continue
        is_figure = _is_figures(text, names)
        if not is_figure and ("," in text or names) and text.strip() and "Interim" not in text:
            names = [*names[1 - _MOST_NAMES :], text.strip()]
            is_named = is_named or _names_figures(" ".join(names[-2:]))
        elif is_figure and is_named and not _is_interim(text):
            if _names_figures(" ".join(names)):
                return _paired(names, test.lines[place + 1 : place + 9], line, warnings)
            is_named = False
        elif not text.strip():
            names, is_named = [], False
    return {}


def _names_figures(titles: str) -> bool:
    return any(word in titles for word in _HEADS)


def _is_interim(text: str) -> bool:
    cells = text.split(",")
    return len(cells) == 4 and cells[1].endswith("/s") and positive(cells[3]) is not None and "." in cells[3]


def _paired(names: list[str], lines: list[tuple[int, str]], line: int, warnings: list[str]) -> Fields:
    start = next(place for place, part in enumerate(names) if "," in part and _names_figures(" ".join(names[place:])))
    header = [_name(cell) for cell in " ".join(names[start:]).split(",")]
    values: list[str] = []
    for _, text in lines:
        if not text.strip() or len(values) >= len(header):
            break
        values += _cells(text)
    if len(values) > len(header):
        warnings.append(f"line {line}: {len(values)} values for {len(header)} names; the last ones are not read")
    elif len(values) < len(header):
        warnings.append(f"line {line}: {len(values)} values for {len(header)} names; the last names have none")
    return {name: (value.strip(), line) for name, value in zip(header, values, strict=False)}


def _name(cell: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", cell.lower()).strip("_")


def _columns(test: Test) -> Fields:
    """Titles of up to four lines over left-aligned values: a title belongs to the value that begins below it."""
    titles: list[str] = []
    for place, (line, text) in enumerate(test.lines[1:], 1):
        if _is_values(text) and _names_figures(" ".join(titles)):
            return _by_column(titles, line, text) | _other_blocks(test.lines[place + 1 :])
        titles = [*titles[-5:], text] if text.strip() else titles
    return {}


def _other_blocks(lines: list[tuple[int, str]]) -> Fields:
    """What stands below the first block, with a blank line between: titles and values again, up to four blocks in all."""
    fields: Fields = {}
    for _ in range(_MOST_BLOCKS - 1):
        block = list(takewhile(lambda one: one[1].strip(), lines[1 : _MOST_TITLES + 2]))
        if not lines or lines[0][1].strip() or len(block) < 2 or any(_is_values(text) for _, text in block[:-1]):
            break
        *titles, (line, text) = block
        if not _is_values(text) or not text[:1].strip():
            break
        fields = _by_column([title for _, title in titles], line, text) | fields
        lines = lines[len(block) + 1 :]
    return fields


def _is_values(text: str) -> bool:
    return "(sec)" not in text and any(positive(cell) is not None for cell in text.split())


def _by_column(titles: list[str], line: int, text: str) -> Fields:
    cells = list(_CELLS.finditer(text))
    starts = [cell.start() for cell in cells] + [10_000]
    return {
        _name(" ".join(title[starts[place] : starts[place + 1]].strip() for title in titles)): (cell[0], line)
        for place, cell in enumerate(cells)
    }
