"""netperf's omni output: CSV (`-o`), `KEY=VALUE` (`-k`) and aligned columns (`-O`), by the names of nettest_omni.c.

Throughput,Throughput Units,50th Percentile Latency Microseconds                    THROUGHPUT=2217.06
2217.06,Trans/s,442                                                                 THROUGHPUT_UNITS=Trans/s
"""

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise, takewhile

from apps.parsers.core.models import Broken
from apps.parsers.core.numbers import read_non_negative, read_number, read_whole
from apps.parsers.netperf import command as netperf_command
from apps.parsers.netperf.report import NO_WAY, NetperfTest, parse_rate

_KEYWORD = re.compile(r"^\s*([A-Z][A-Z0-9_]{1,60}(?:\[\d{1,9}\])?)=(.{0,300})$")
_CELLS = re.compile(r"\S+")
_LATENCIES = {
    "latency_p50": ("p50_latency", "50th_percentile_latency_microseconds"),
    "latency_p90": ("p90_latency", "90th_percentile_latency_microseconds"),
    "latency_p99": ("p99_latency", "99th_percentile_latency_microseconds"),
    "latency_min": ("min_latency", "minimum_latency_microseconds"),
    "latency_max": ("max_latency", "maximum_latency_microseconds"),
    "latency_mean": ("mean_latency", "mean_latency_microseconds", "rt_latency", "round_trip_latency_usec_tran"),
    "latency_stdev": ("stddev_latency", "stddev_latency_microseconds"),
}
_RATES = ("transaction_rate", "transaction_rate_tran_s")  # its unit is in its name (nettest_omni.c, TRANSACTION_RATE)
_IN_FLIGHT = ("burst_size", "initial_burst_requests")
_HEADS = ("Throughput", "Transaction Rate", "Latency")  # the names over figures contain one of them
_SUFFICIENT = (
    "throughput_units",
    *_RATES,
    *(name for names in _LATENCIES.values() for name in names),
)  # names that suffice without a throughput
_RETRANSMITS = ("local_transport_retrans", "local_transport_retransmissions")
_SIZES = {
    "request_size": ("request_size", "request_size_bytes"), "response_size": ("response_size", "response_size_bytes"),
    "block_size": ("local_send_size", "send_size"),
    "send_buffer": ("lss_size_end", "local_send_socket_size_final"),
    "receive_buffer": ("rsr_size_end", "remote_recv_socket_size_final"),
}  # fmt: skip
_OF_BANNER = re.compile(r'\bAF_INET6?\b|^\s{0,16}: |",\s{0,16}$')  # the rest of a banner that a mail wrapped
_LONGEST_HEADER = 8000
_MOST_NAMES = 100  # lines of a wrapped header
_MOST_BLOCKS, _MOST_TITLES = 4, 4  # blocks of -O (nettest_omni.c, NETPERF_MAX_BLOCKS), and lines of a title
_LATENCY_KEYS = tuple(names[0].upper() for names in _LATENCIES.values()) + ("RT_LATENCY",)
BEGINNINGS = (
    "THROUGHPUT", "THROUGHPUT_UNITS", "TRANSACTION_RATE", "ELAPSED_TIME", "DIRECTION", "PROTOCOL", "SOCKET_TYPE", "LSS_SIZE_REQ",
    *_LATENCY_KEYS,
)  # fmt: skip
FIGURES = ("THROUGHPUT", "TRANSACTION_RATE", *_LATENCY_KEYS)
HAS_KEY = re.compile(
    r"^[ \t]*(?:THROUGHPUT|TRANSACTION_RATE|(?:MEAN|RT|MIN|MAX|STDDEV|P50|P90|P99)_LATENCY)=-?\d", re.MULTILINE
)
_CPU = ("local_cpu_util", "remote_cpu_util")
_UNREADABLE = "not readable"
_NO_UNIT = "its unit is not printed"
_PROTOCOLS = ("protocol", "socket_type")

Fields = dict[str, tuple[str, int]]  # name → (text, line)


def find_key(line: str) -> str:
    """Return the key in a line of KEY=VALUE, "" where there is none."""
    match = _KEYWORD.match(line)
    return match[1] if match else ""


def is_header(line: str) -> bool:
    """Return whether a line names the columns of -o: a throughput and its unit, or a rate whose unit is in its name."""
    cells = [cell.strip() for cell in line[:_LONGEST_HEADER].split(",")]
    is_named = {"Throughput", "Throughput Units"}.issubset(cells) or "Transaction Rate Tran/s" in cells
    return (
        is_named and len(cells) > 1 and all(_normalise_name(cell) and read_non_negative(cell) is None for cell in cells)
    )


def is_column_title(line: str, below: str) -> bool:
    """Return whether a line is the first one of the titles of -O: a throughput, and beside it its unit in the next line."""
    is_titled = line.count("Throughput") > 1 and "Units" in below
    return is_titled and all(read_non_negative(word) is None for word in line[:_LONGEST_HEADER].split())


def read_omni(test: NetperfTest, warnings: list[str]) -> bool:
    """Read the figures that have a name; return whether there were any."""
    if test.figures:
        return _read_bare(test)
    fields = _read_keywords(test) or _read_csv(test, warnings)
    telling = (
        (*_SUFFICIENT, "throughput") if fields else _SUFFICIENT
    )  # in columns "throughput" may be a title of the classic tables
    fields = fields or _read_columns(test)
    return _get_first(fields, telling) is not None and _read_chosen(test, fields)


def split_rows(test: NetperfTest) -> Iterator[NetperfTest]:
    """Yield a test for each row of -o directly below the first one, as scripts add them with -P 0."""
    if test.figures or test.keys or not _read_csv(test, []):
        return
    rows = _find_rows(test)
    title = [*test.lines[:1], *test.lines[max(1, rows[0] - _MOST_NAMES) : rows[0]]]
    width = test.lines[rows[0]][1].count(",")
    for before, place in pairwise(rows):
        if place != before + 1 or test.lines[place][1].count(",") != width:
            return
        other = NetperfTest(
            test.kind, test.command, [*title, test.lines[place]],
            host=test.host, target=test.target, has_banner=test.has_banner,
        )  # fmt: skip
        if not read_omni(other, []):
            return
        other.lines = [test.lines[place]]
        yield other


def _find_rows(test: NetperfTest) -> list[int]:
    """Return where the figures of -o are."""
    names: list[str] = []
    places: list[int] = []
    for place, (_, text) in enumerate(test.lines):
        if place and _has_figures(text, names) and not _is_interim(text):
            places.append(place)
        elif not places and "Interim" not in text and not _OF_BANNER.search(text):
            names = [*names[1 - _MOST_NAMES :], text.strip()] if "," in text or names else names
    return places


def _has_figures(text: str, names: list[str]) -> bool:
    """Return whether the line begins with a figure, or has as many cells as there are names, some of them figures."""
    if "," not in text:
        return False
    if read_non_negative(text.partition(",")[0].strip()) is not None:
        return True
    cells = _split_cells(text)
    return (
        len(cells) > 2
        and len(cells) == " ".join(names[-1:]).count(",") + 1
        and any(read_non_negative(cell) is not None for cell in cells)
        and _names_figures(names[-1])
    )


def _split_cells(text: str) -> list[str]:
    """Return the cells of a row; the command line among them stands in quotes, and has commas of its own."""
    row = text.strip()
    cells = next(csv.reader([row])) if row.count('"') in (2, 4) and "\0" not in row else row.split(",")
    return [cell.strip() for cell in cells]


def _read_bare(test: NetperfTest) -> bool:
    """Read figures whose names stand in the command."""
    line = test.lines[0][0]
    return _read_chosen(test, {name: (cell, line) for name, cell in test.figures.items()})


def _read_chosen(test: NetperfTest, fields: Fields) -> bool:
    """Read the figures that were chosen: there may be latencies without a throughput, or a throughput without its unit."""
    throughput, unit = _get_first(fields, ("throughput",)), _get_first(fields, ("throughput_units",))
    if throughput and not unit and (printed := _find_command_unit(test, fields)):
        unit = (printed, throughput[1])
    if throughput and unit:
        return _read_measured(test, fields, throughput, unit)
    rate = _get_first(fields, _RATES)
    operation = "net_request" if rate else _find_operation(test, fields, "")
    if not operation:
        if throughput:
            test.broken = Broken(
                _NO_UNIT, throughput[1], f"THROUGHPUT {throughput[0]}"[:100], "THROUGHPUT_UNITS beside it"
            )
        return False
    _read_facts(test, fields)
    if rate:
        value = read_non_negative(rate[0])
        reason = "" if value is not None else _UNREADABLE
        test.add(operation, "rate", value, f"{rate[0]} Tran/s", rate[1], reason=reason)
    elif throughput:
        metric = "rate" if operation == "net_request" else "bandwidth"
        test.add(operation, metric, None, throughput[0], throughput[1], reason=_NO_UNIT)
    _read_latencies(test, fields, operation)
    return bool(test.samples)


def _find_command_unit(test: NetperfTest, fields: Fields) -> str:
    """Return the unit of the throughput that the command line chooses with -f, "" where it does not."""
    operation = _find_operation(test, fields, "")
    if not operation or not netperf_command.has_unit(test.command):
        return ""
    unit = netperf_command.read_unit(test.command, is_request=operation == "net_request")
    return f"{unit}/s" if unit else ""


def _read_measured(test: NetperfTest, fields: Fields, throughput: tuple[str, int], unit: tuple[str, int]) -> bool:
    operation = _find_operation(test, fields, unit[0])
    arrived = "net_receive" if operation == "net_send" and _is_of_datagrams(test, fields) else operation
    if not operation:
        test.broken = Broken(NO_WAY, throughput[1], f"{throughput[0]} {unit[0]}"[:100], "a banner, or DIRECTION=Send")
        return False
    _read_facts(test, fields)
    _read_interim(test, fields)
    name = unit[0].removesuffix("ec").removesuffix("/s")
    value = parse_rate(throughput[0], name)
    metric, printed = "rate" if name == "Trans" else "bandwidth", f"{throughput[0]} {unit[0]}"
    test.add(arrived, metric, value, printed, throughput[1], reason="" if value is not None else "not measured")
    if arrived != operation:
        test.of_interim = operation
        _read_sent(test, fields, name)
    _read_latencies(test, fields, operation)
    if (
        (retransmits := _get_first(fields, _RETRANSMITS))
        and operation == "net_send"
        and (count := read_non_negative(retransmits[0])) is not None
    ):
        test.add(operation, "retransmits", count, retransmits[0], retransmits[1])
    return True


def _is_of_datagrams(test: NetperfTest, fields: Fields) -> bool:
    """Return whether a sender's throughput is what arrived: "we want what was actually received" (nettest_omni.c, send_omni_inner)."""
    protocol = (_get_first(fields, ("protocol",)) or ("", 0))[0].strip().lower()
    return (protocol or netperf_command.read_protocol(test.command) or test.kind.partition(" ")[0].lower()) == "udp"


def _read_sent(test: NetperfTest, fields: Fields, unit: str) -> None:
    """Read what the sender of datagrams sent, which has a name of its own."""
    if (sent := _get_first(fields, ("local_send_throughput",))) and (value := parse_rate(sent[0], unit)):
        test.add("net_send", "bandwidth", value, f"{sent[0]} {unit}/s", sent[1])


def _find_operation(test: NetperfTest, fields: Fields, unit: str) -> str:
    if unit.startswith("Trans"):
        return "net_request"
    direction = (_get_first(fields, ("direction",)) or ("", 0))[0].strip().lower()
    return {"send": "net_send", "receive": "net_receive", "recv": "net_receive"}.get(direction, test.operation)


def _get_first(fields: Mapping[str, tuple[str, int]], names: tuple[str, ...]) -> tuple[str, int] | None:
    return next((fields[name] for name in names if name in fields), None)


def _read_facts(test: NetperfTest, fields: Fields) -> None:
    if field := _get_first(fields, _IN_FLIGHT):
        test.set_burst(read_whole(field[0]))
    for name, keys in _SIZES.items():
        if field := _get_first(fields, keys):
            size = test.read_size(name, field[0].strip())
            if name == "block_size":
                test.block_size = size
    test.set_cpu([fields[name][0] for name in _CPU if name in fields])
    if (field := _get_first(fields, _PROTOCOLS)) and field[0].strip().lower() in ("tcp", "udp", "sctp"):
        test.workload["protocol"] = field[0].strip().lower()


def _read_latencies(test: NetperfTest, fields: Fields, operation: str) -> None:
    for metric, names in _LATENCIES.items():
        latency = _get_first(fields, names)
        if latency and (value := read_non_negative(latency[0])) is not None:
            test.add(operation, metric, round(value * 1e3, 6), f"{latency[0]} us", latency[1])
        elif latency and latency[0] and read_number(latency[0]) is None:  # -1 was not measured
            test.add(operation, metric, None, latency[0][:40], latency[1], reason=_UNREADABLE)


def _read_interim(test: NetperfTest, fields: Fields) -> None:
    place = 0
    while (rate_field := fields.get(f"netperf_interim_result[{place}]")) is not None:
        unit = fields.get(f"netperf_units[{place}]", ("", 0))[0].removesuffix("/s")
        over = read_non_negative(fields.get(f"netperf_interval[{place}]", ("", 0))[0])
        rate = parse_rate(rate_field[0], unit)
        if rate is not None and over:
            test.add_interim(
                rate, over, read_non_negative(fields.get(f"netperf_ending[{place}]", ("", 0))[0]), rate_field[1]
            )
        place += 1


def _read_keywords(test: NetperfTest) -> Fields:
    fields: Fields = {}
    for line, text in test.lines:
        if match := _KEYWORD.match(text):
            fields[match[1].lower()] = (match[2].strip(), line)
            test.last = line
    return fields if any(name.lower() in fields for name in FIGURES) else {}


def _read_csv(test: NetperfTest, warnings: list[str]) -> Fields:
    """Read CSV. The header may be wrapped; the values begin with the first line whose first cell is a number."""
    names: list[str] = []
    is_named = False  # whether the names include that of a figure, which may be wrapped
    for place, (line, text) in enumerate(test.lines[1:]):
        if _OF_BANNER.search(text):
            continue
        is_figure = _has_figures(text, names)
        if not is_figure and ("," in text or names) and text.strip() and "Interim" not in text:
            names = [*names[1 - _MOST_NAMES :], text.strip()]
            is_named = is_named or _names_figures(" ".join(names[-2:]))
        elif is_figure and is_named and not _is_interim(text):
            if _names_figures(" ".join(names)):
                return _pair_names(names, test.lines[place + 1 : place + 9], line, warnings)
            is_named = False
        elif not text.strip():
            names, is_named = [], False
    return {}


def _names_figures(titles: str) -> bool:
    return any(word in titles for word in _HEADS)


def _is_interim(text: str) -> bool:
    cells = text.split(",")
    return len(cells) == 4 and cells[1].endswith("/s") and read_non_negative(cells[3]) is not None and "." in cells[3]


def _pair_names(names: list[str], lines: list[tuple[int, str]], line: int, warnings: list[str]) -> Fields:
    start = next(place for place, part in enumerate(names) if "," in part and _names_figures(" ".join(names[place:])))
    header = [_normalise_name(cell) for cell in " ".join(names[start:]).split(",")]
    values: list[str] = []
    for _, text in lines:
        if not text.strip() or len(values) >= len(header):
            break
        values += _split_cells(text)
    if len(values) > len(header):
        warnings.append(f"line {line}: {len(values)} values for {len(header)} names; the last ones are not read")
    elif len(values) < len(header):
        warnings.append(f"line {line}: {len(values)} values for {len(header)} names; the last names have none")
    return {name: (value.strip(), line) for name, value in zip(header, values, strict=False)}


def _normalise_name(cell: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", cell.lower()).strip("_")


def _read_columns(test: NetperfTest) -> Fields:
    """Read titles of up to four lines over left-aligned values: a title belongs to the value that begins below it."""
    titles: list[str] = []
    for place, (line, text) in enumerate(test.lines[1:], 1):
        if _has_values(text) and _names_figures(" ".join(titles)):
            return _pair_columns(titles, line, text) | _read_other_blocks(test.lines[place + 1 :])
        titles = [*titles[-5:], text] if text.strip() else titles
    return {}


def _read_other_blocks(lines: list[tuple[int, str]]) -> Fields:
    """Read what stands below the first block behind a blank line: titles and values, up to four blocks in all."""
    fields: Fields = {}
    for _ in range(_MOST_BLOCKS - 1):
        block = list(takewhile(lambda line_and_text: line_and_text[1].strip(), lines[1 : _MOST_TITLES + 2]))
        if not lines or lines[0][1].strip() or len(block) < 2 or any(_has_values(text) for _, text in block[:-1]):
            break
        *titles, (line, text) = block
        if not _has_values(text) or not text[:1].strip():
            break
        fields = _pair_columns([title for _, title in titles], line, text) | fields
        lines = lines[len(block) + 1 :]
    return fields


def _has_values(text: str) -> bool:
    return "(sec)" not in text and any(read_non_negative(cell) is not None for cell in text.split())


def _pair_columns(titles: list[str], line: int, text: str) -> Fields:
    cells = list(_CELLS.finditer(text))
    starts = [cell.start() for cell in cells] + [10_000]
    return {
        _normalise_name(" ".join(title[starts[place] : starts[place + 1]].strip() for title in titles)): (cell[0], line)
        for place, cell in enumerate(cells)
    }
