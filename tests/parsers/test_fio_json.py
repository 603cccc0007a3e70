"""fio's JSON: what is taken from a report, and what is said about a text that is none."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.json import format as json_format
from tests.parsers.every import timed
from tests.sampling import for_each

FIXTURES = Path(__file__).parent / "fixtures" / "fio_json"
PRINTED = {
    "clat_p50": "50.000000", "clat_p90": "90.000000", "clat_p95": "95.000000",
    "clat_p99": "99.000000", "clat_p99_9": "99.900000", "clat_p99_99": "99.990000",
}  # fmt: skip
STONEWALL = (FIXTURES / "stonewall.json").read_text()


def documents(text: str) -> list[dict[str, Any]]:
    found, place = [], 0
    while (place := text.find("{", place)) >= 0:
        document, place = json.JSONDecoder().raw_decode(text, place)
        found.append(document)
    return found


def one(samples: Sequence[ParsedSample], metric: str, operation: str) -> ParsedSample:
    (found,) = [sample for sample in samples if (sample.metric, sample.operation) == (metric, operation)]
    return found


def test_a_job_whose_options_are_not_printed_is_named_and_its_values_are_read() -> None:
    document = documents(STONEWALL)[-1]
    document.pop("global options", None)
    for job in document["jobs"]:
        job.pop("job options", None)
    parsed = json_format.parse(SourceText(json.dumps(document)))
    assert list(parsed.warnings) == [
        f"job {job['jobname']!r}: no options are printed; block size, depth, and random or not are unknown"
        for job in document["jobs"]
    ]
    samples = [sample for run in parsed.runs for sample in run.samples]
    assert {sample.block_size for sample in samples} == {None}
    assert any(sample.metric == "iops" and sample.value for sample in samples)
    whole = json_format.parse(SourceText(STONEWALL))
    assert not any("no options" in warning for warning in whole.warnings)


@pytest.mark.parametrize("case", ["stonewall", "group"])
def test_percentiles_from_the_bins_are_those_that_fio_printed(case: str) -> None:
    text = (FIXTURES / f"{case}.json").read_text()
    run, document = json_format.parse(text).runs[0], documents(text)[-1]
    checked = 0
    for section, job in enumerate(document["jobs"]):
        for direction in ("read", "write"):
            for metric, key in PRINTED.items():
                samples = [
                    s for s in run.samples if s.section == section and s.metric == metric and direction in s.operation
                ]
                if samples:
                    assert samples[0].value == job[direction]["clat_ns"]["percentile"][key]
                    checked += 1
    assert checked == 12


def test_every_printed_text_stands_on_the_line_it_names() -> None:
    for case in ("stonewall", "group", "null", "version_2"):
        text = (FIXTURES / f"{case}.json").read_text()
        lines = text.splitlines()
        samples = [s for run in json_format.parse(text).runs for s in run.samples]
        assert samples
        for sample in samples:
            assert sample.line is not None
            assert sample.printed.removeprefix("usr ").split(" ")[0] in lines[sample.line - 1]


def test_the_last_document_is_the_result_and_the_others_are_its_history() -> None:
    run = json_format.parse(STONEWALL).runs[0]
    last = documents(STONEWALL)[-1]["jobs"]
    assert one(run.samples, "io_bytes", "randread").value == last[0]["read"]["io_bytes"]
    assert one(run.samples, "io_bytes", "write").value == last[1]["write"]["io_bytes"]
    history = next(s for s in run.series if (s.operation, s.metric) == ("randread", "iops"))
    assert history.times_s == pytest.approx((1, 2, 3), abs=0.05)
    assert all(value == pytest.approx(400, rel=0.05) for value in history.values)


def test_the_cpu_of_a_group_is_that_of_all_its_processes() -> None:
    document = documents((FIXTURES / "group.json").read_text())[0]
    document["jobs"][0] |= {"usr_cpu": 10.0, "sys_cpu": 20.0}
    grouped = json_format.parse(json.dumps(document)).runs[0]
    document["jobs"][0]["job options"]["numjobs"] = "1"
    alone = json_format.parse(json.dumps(document)).runs[0]
    assert one(grouped.samples, "cpu", "randread").value == pytest.approx(0.9)
    assert one(alone.samples, "cpu", "randread").value == pytest.approx(0.3)


def test_a_job_that_failed_at_once_has_a_reason_and_no_zero() -> None:
    run = json_format.parse((FIXTURES / "error.json").read_bytes()).runs[0]
    broken = [s for s in run.samples if s.section == 0 and s.operation != "disk"]
    assert {s.value for s in broken} == {None}
    assert {s.missing_reason for s in broken} == {"failed: error 28 (No space left on device)"}
    works = tuple(s for s in run.samples if s.section == 1)
    assert one(works, "bandwidth", "write").value == 262144000


def test_several_runs_in_one_file_stay_several() -> None:
    first = (FIXTURES / "null.json").read_text()
    later = first.replace('"timestamp_ms" : ', '"timestamp_ms" : 1')
    assert len(json_format.parse(first + later + STONEWALL).runs) == 3


def test_a_group_of_different_jobs_is_said_to_be_one() -> None:
    document = documents((FIXTURES / "group.json").read_text())[0]
    document["jobs"][0]["job options"]["rw"] = "randread"
    parsed = json_format.parse(json.dumps(document))
    assert "group_reporting added other jobs" in parsed.warnings[0]


def grouped(jobname: str, **options: str) -> ParsedRun:
    moved = {"io_bytes": 4096, "total_ios": 1, "runtime": 1, "iops": 1000.0}
    job = {"jobname": jobname, "job options": {"rw": "randwrite", "bs": "64k", "size": "1m", **options}, "write": moved}
    (run,) = json_format.parse(json.dumps({"fio version": "fio-3.33", "jobs": [{**job, "read": moved}]})).runs
    return run


def points(run: ParsedRun) -> set[tuple[object, ...]]:
    return {(s.operation, s.block_size, s.file_size, s.threads, s.iodepth) for s in run.samples if s.metric == "iops"}


def test_what_other_jobs_of_a_group_moved_has_no_sizes_of_this_one() -> None:
    run = grouped("a")
    assert points(run) == {("read", None, None, None, None), ("randwrite", 65536, 2**20, 1, 1)}
    assert "block_size" not in run.workload


def test_options_that_have_another_jobs_name_are_those_of_one_of_a_group() -> None:
    run = grouped("a", name="b", verify="md5")
    assert points(run) == {("read", None, None, None, None), ("write", None, None, None, None)}
    assert ("block_size" in run.workload, run.sections[0].options["bs"]) == (False, "64k")
    assert ("randwrite", 65536, 2**20, 1, 1) in points(grouped("a", name="a"))
    assert ("randwrite", 65536, 2**20, 1, 1) in points(grouped("n" * 127, name="n" * 130))


@pytest.mark.parametrize(("options", "warns"), [({"verify": "crc32c"}, False), ({"verify": "0"}, True), ({}, True)])
def test_what_verify_reads_back_is_a_jobs_own(options: dict[str, str], warns: bool) -> None:
    moved = {"io_bytes": 4096, "total_ios": 1, "runtime": 1}
    job = {"jobname": "a", "job options": {"rw": "write", "bs": "4k", **options}, "read": moved, "write": moved}
    parsed = json_format.parse(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    assert any("group_reporting" in one for one in parsed.warnings) is warns


def test_mixed_reporting_is_an_operation_of_its_own() -> None:
    document = documents((FIXTURES / "null.json").read_text())[0]
    read = document["jobs"][0]["read"]
    for job in document["jobs"]:
        job["mixed"] = job.pop("read")
        del job["write"], job["trim"]
    run = json_format.parse(json.dumps(document)).runs[0]
    assert {sample.operation for sample in run.samples} == {"mixed"}
    first = tuple(sample for sample in run.samples if sample.section == 0)
    assert one(first, "bandwidth", "mixed").value == read["bw_bytes"]
    assert one(first, "bandwidth", "mixed").block_size == 4096


def test_text_around_the_documents_is_left_out() -> None:
    plain = json_format.parse(STONEWALL).runs[0]
    noisy = f"fio: {{not json}}\n\n{STONEWALL}\nRun status group 0 (all jobs):\n"
    assert [s.value for s in json_format.parse(noisy).runs[0].samples] == [s.value for s in plain.samples]
    assert [s.value for s in json_format.parse("\ufeff" + STONEWALL.replace("\n", "\r\n")).runs[0].samples] == [
        s.value for s in plain.samples
    ]


def test_an_indented_document_is_found() -> None:
    indented = "result:\n" + "\n".join("  " + line for line in (FIXTURES / "null.json").read_text().splitlines())
    run = json_format.parse(indented).runs[0]
    sample = one(tuple(s for s in run.samples if s.section == 0), "iops", "randread")
    assert sample.line is not None
    assert '"iops"' in indented.splitlines()[sample.line - 1]


def test_nan_is_a_missing_value() -> None:
    text = (FIXTURES / "null.json").read_text()
    found = one(json_format.parse(text).runs[0].samples[:16], "clat_stdev", "randread").printed.split()[0]
    run = json_format.parse(text.replace(found, "-nan")).runs[0]
    assert not [s for s in run.samples if s.metric == "clat_stdev" and s.section == 0]


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        ("", 1, "nothing", "fio version"),
        ("Version 1.96\n", 1, "Version 1.96", "fio version"),
        ('\n\n{\n "fio version" : "fio-3.33",\n', 3, "fio-3.33", "fio version"),
        ('x\n{"fio version": "fio-3.33", "jobs": [{"read": {"iops": "many"}}]}', 2, '"many"', "int | float | null"),
        ('{"fio version": "fio-3.33", "jobs": 7}', 1, "7", "array"),
    ],
)
def test_a_text_that_is_no_report_is_refused_with_line_found_and_expected(
    text: str, line: int, found: str, expected: str
) -> None:
    with pytest.raises(ParseError) as refused:
        json_format.parse(text)
    assert refused.value.line == line
    assert found in refused.value.found
    assert expected in refused.value.expected


def test_names_hold_nothing_that_a_database_refuses() -> None:
    document = documents((FIXTURES / "null.json").read_text())[0]
    document["jobs"][0]["jobname"] = "a\x00b"
    document["jobs"][0]["job options"]["description"] = "\x00"
    section = json_format.parse(json.dumps(document)).runs[0].sections[0]
    assert "\x00" not in section.name + "".join(section.options.values())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_file_is_read_in_any_encoding(encoding: str) -> None:
    source = SourceText(STONEWALL.encode(encoding), "result.json")
    assert json_format.looks_like(source) == 1
    assert json_format.parse(source) == json_format.parse(STONEWALL)


def test_a_quoted_report_is_found() -> None:
    quoted = SourceText("".join(f"> {line}\n" for line in STONEWALL.splitlines()))
    assert json_format.looks_like(quoted) == 1
    assert json_format.parse(quoted).runs[0].samples == json_format.parse(STONEWALL).runs[0].samples


def test_a_run_says_its_lines_and_what_it_was_asked_to_do() -> None:
    text = (FIXTURES / "null.json").read_text()
    first, second = json_format.parse(text + text.replace('"timestamp_ms" : ', '"timestamp_ms" : 1')).runs
    count = len(text.splitlines())
    assert [(run.line, run.last_line) for run in (first, second)] == [(1, count), (count + 1, 2 * count)]
    assert first.workload["ioengine"] == "null"
    assert first.workload["block_size"] == 4096


def test_the_host_of_a_client_is_told_where_it_is_one() -> None:
    def client(*hosts: str) -> str:
        jobs = [{"jobname": "a", "hostname": host, "read": {"bw": 1}} for host in hosts]
        return json.dumps({"fio version": "fio-3.33", "client_stats": [*jobs, {"jobname": "All clients"}]})

    assert json_format.parse(client("n1")).runs[0].host == "n1"
    both = json_format.parse(client("n1", "n2")).runs[0]
    assert (both.host, len(both.sections)) == ("", 2)


def clients(shared: str) -> str:
    """A report of two clients, whose jobs say their direction alone."""
    entry = '{{"jobname": "a", "job options": {{"rw": "randread"}}, "read": {{"bw": 1, "iops": 1}}, "hostname": "{}", "port": 1}}'
    sums = '{"jobname": "All clients", "read": {"bw": 2, "iops": 2}}'
    stats = ", ".join([*(entry.format(host) for host in ("n1", "n2")), sums, sums])
    return f'{{"fio version": "fio-3.40", "global options": {shared}, "client_stats": [{stats}]}}'


def test_global_options_are_those_of_their_own_client() -> None:
    first, second = '"hostname": "n1", "port": 1, "bs": "8k"', '"hostname": "n2", "port": 1, "iodepth": "4"'
    run = json_format.parse(clients(f"[{{{first}}}, {{{second}}}]")).runs[0]
    found = [(s.section, s.block_size, s.iodepth) for s in run.samples if s.metric == "iops"]
    assert found == [(0, 8192, 1), (1, 4096, 4)]
    assert [section.options["hostname"] for section in run.sections] == ["n1", "n2"]


def test_the_groups_of_two_clients_are_no_copies_of_each_other() -> None:
    options = '"job options": {"rw": "randread", "numjobs": "2"}, "job_runtime": 2000, "usr_cpu": 10, "sys_cpu": 5'
    text = clients("{}").replace('"job options": {"rw": "randread"}', options)
    cpus = [s.value for s in json_format.parse(text).runs[0].samples if s.metric == "cpu"]
    assert cpus == [0.3, 0.3]


def test_the_sum_of_all_clients_has_no_default_options() -> None:
    sums = '{"jobname": "All clients", "mixed": {"bw": 2, "iops": 2}}'
    text = f'{{"fio version": "fio-2.6", "global options": {{"unified_rw_reporting": "1"}}, "client_stats": [{sums}]}}'
    found = one(json_format.parse(text).runs[0].samples, "iops", "mixed")
    assert (found.block_size, found.iodepth, found.threads) == (None, None, None)


@pytest.mark.parametrize("listed", ['"client_stats": []', '"jobs": []', '"global options": {}'])
def test_a_report_without_jobs_is_told_and_no_run(listed: str) -> None:
    parsed = json_format.parse(f'<n1> error: failed to setup shm segment\n\n{{"fio version": "fio-3.43", {listed}}}\n')
    assert parsed.runs == ()
    assert [(one.line, one.message) for one in parsed.broken] == [(3, "a report of fio that lists no job")]


@pytest.mark.parametrize(
    ("shared", "block_size", "iodepth", "file_size"),
    [
        ('"bs": "8k", "size": "1m", "iodepth": "4", "bs": "8k", "size": "1m", "iodepth": "4"', 8192, 4, 2**20),
        ('"bs": "8k", "size": "1m", "iodepth": "4", "bs": "16k", "size": "2m"', None, None, None),
        ('"bs": "4k,8k", "rw": "write", "iodepth": "4", "iodepth": "4"', None, 4, None),
        ('"size": "1m"', 4096, 1, None),
    ],
)
def test_global_options_that_may_be_another_clients_are_unknown(
    shared: str, block_size: int | None, iodepth: int | None, file_size: int | None
) -> None:
    parsed = json_format.parse(clients(f"{{{shared}}}"))
    found = {(s.block_size, s.iodepth, s.file_size) for s in parsed.runs[0].samples if s.metric == "iops"}
    assert found == {(block_size, iodepth, file_size)}
    assert bool(parsed.warnings) == (block_size is None)


def test_flushes_are_an_operation_of_their_own() -> None:
    document = documents((FIXTURES / "null.json").read_text())[0]
    latency = {"min": 5, "max": 9, "mean": 7.5, "stddev": 1.0, "N": 2, "percentile": {"99.000000": 9}}
    document["jobs"][0]["sync"] = {"total_ios": 2, "lat_ns": latency}
    samples = [s for s in json_format.parse(json.dumps(document)).runs[0].samples if s.operation == "sync"]
    assert {s.metric: s.value for s in samples} == {
        "latency_min": 5, "latency_max": 9, "latency_mean": 7.5, "latency_stdev": 1, "latency_p99": 9,
    }  # fmt: skip
    assert {s.block_size for s in samples} == {None}


def old_documents(*points: tuple[int, int, int]) -> str:
    """Of fio 2.2, which prints no `elapsed`: the time in s, `runtime` in ms, and KiB."""
    read = '{{"io_bytes": {2}, "bw": 1, "iops": 1.0, "runtime": {1}, "total_ios": {2}}}'
    text = f'{{{{\n"fio version": "fio-2.2.10", "timestamp": {{0}}, "jobs": [{{{{"jobname": "a", "read": {read}}}}}]\n}}}}\n'
    return "".join(text.format(*one) for one in points)


def test_status_reports_of_fio_2_2_are_one_run_by_their_times_and_totals() -> None:
    (run,) = json_format.parse(old_documents((1000, 998, 100), (1001, 1999, 200), (1003, 4002, 500))).runs
    assert one(run.samples, "io_bytes", "read").value == 500 * 1024
    assert next(one.times_s for one in run.series) == (0.998, 1.998, 3.998)


@pytest.mark.parametrize(
    "points",
    [
        ((1000, 9000, 100), (1012, 12_000, 200)),  # all of its time again
        ((1000, 9000, 100), (1003, 12_000, 90)),
        ((1000, 9000, 100), (1009, 9001, 200)),
        ((1000, 9000, 100), (999, 10_000, 200)),
    ],
)
def test_runs_of_fio_2_2_one_after_another_stay_several(points: tuple[tuple[int, int, int], ...]) -> None:
    assert len(json_format.parse(old_documents(*points)).runs) == len(points)


@for_each(
    "version, option, word",
    [
        ("3.1", {"lat_percentiles": "1"}, "latency"),
        ("3.12", {"clat_percentiles": "0"}, "latency"),
        ("3.12", {"lat_percentiles": "0"}, "clat"),
        ("3.13", {"lat_percentiles": "1"}, "clat"),
    ],
)
@for_each("place", ["clat_ns", "lat_ns", ""])
def test_percentiles_of_lat_stand_under_clat_in_fio_3_1_to_3_12(
    version: str, option: dict[str, str], word: str, place: str
) -> None:
    moments = {"min": 5, "max": 9, "mean": 6.5, "stddev": 1.5}
    read: dict[str, Any] = {"io_bytes": 8192, "clat_ns": {**moments, "percentile": {"50.000000": 5}}, "lat_ns": moments}
    if place:
        read[place] = {**read[place], "bins": {"5": 1, "9": 1}}
    document = {"fio version": f"fio-{version}", "jobs": [{"jobname": "a", "job options": option, "read": read}]}
    run = json_format.parse(json.dumps(document, indent=2)).runs[0]
    found = one(run.samples, f"{word}_p50", "read")
    assert (found.value, found.printed) == (5, "5 ns")
    if place == "clat_ns":
        assert [one.kind for one in run.histograms] == ["lat" if word == "latency" else "clat"]


def test_a_broken_document_among_others_is_told_and_the_others_are_read() -> None:
    broken = '{\n"fio version": "fio-3.33", "jobs": [{"read": {"iops": "many"}}]\n}\n'
    parsed = json_format.parse(broken + (FIXTURES / "null.json").read_text())
    assert len(parsed.runs) == 1
    assert [(one.line, one.found) for one in parsed.broken] == [(2, '"many"')]


def report(jobs: str) -> str:
    return '{"fio version": "fio-3.33", "jobs": [' + jobs + "]}"


def read(direction: str) -> str:
    return report('{"jobname": "a", "read": {' + direction + "}}")


USED_JOB = '{"jobname":"a","read":{"bw":1}}'
MANY_BINS = ",".join(f'"{n}":1' for n in range(80_000))
HOSTILE = {
    "deep lists": '{"fio version": "fio-3.33", "x": ' + "[" * 400_000,
    "deep objects": '{"fio version": "fio-3.33", "x": ' + '{"a":' * 200_000,
    "many beginnings": "{\n" * 500_000,
    "many beginnings of reports": '{"fio version":\n' * 60_000,
    "nested beginnings": '{"fio version":[\n' * 60_000,
    "huge number": read('"io_bytes": ' + "9" * 900_000),
    "far number": read('"io_bytes": 1e999, "iops": 1'),
    "not a number": read('"io_bytes": NaN, "iops": Infinity'),
    "lone surrogate": '{"fio version": "fio-\\ud800", "jobs": []}',
    "same key again": '{"fio version": "fio-3.33", ' + '"jobs": [], ' * 80_000 + '"jobs": []}',
    "many jobs": report(",".join(['{"jobname":"a"}'] * 60_000)),
    "many used jobs in many reports": "\n".join([report(",".join([USED_JOB] * 4000))] * 7),
    "words as values": report('{"jobname": "a", "x": [' + '"read", ' * 120_000 + '1], "read": {"bw": 1}}'),
    "nul": "\x00" * 1_000_000,
    "line feeds": "\n" * 1_000_000,
    "empty comments": "# \n" * 300_000,
    "many bins": read('"io_bytes":1,"clat_ns":{"N":1,"bins":{' + MANY_BINS + "}}"),
    "bad bins": read('"io_bytes":1,"clat_ns":{"N":1,"bins":{"x":1,"-1":-5,"99999999999999999999999":1}}'),
    "odd options": report(
        '{"job options":{"size":"' + "9" * 500 + 'g","bs":",,","numjobs":"-1","rw":":"},"read":{"bw":1}}'
    ),
}


@pytest.mark.slow
@for_each("name", HOSTILE, number=2)
def test_a_hostile_mebibyte_is_read_or_refused_within_two_seconds(name: str) -> None:
    def read_or_refused() -> None:
        try:
            assert isinstance(json_format.parse(HOSTILE[name]), ParsedFile)
        except ParseError as refused:
            str(refused).encode()

    assert timed(read_or_refused, 2)[1] < 2


@pytest.mark.parametrize("stamp", [10**12, 9 * 10**15, 9 * 10**18, 10**30, -1])
def test_a_time_outside_of_1970_to_9999_is_none(stamp: int) -> None:
    (run,) = json_format.parse(f'{{"fio version": "fio-3.33", "timestamp": {stamp}, "jobs": [{{"elapsed": 10}}]}}').runs
    assert (run.started_at, run.ended_at) == (None, None)


def test_a_number_that_no_double_holds_is_no_value_and_no_crash() -> None:
    many = "9" * 400
    text = read(f'"io_bytes": {many}, "bw_bytes": {many}, "runtime": {many}, "total_ios": {many}, "iops": 5')
    samples = [sample for run in json_format.parse(text).runs for sample in run.samples]
    assert {sample.metric: sample.value for sample in samples} == {"bandwidth": None, "iops": 5, "io_bytes": None}
    assert {sample.missing_reason for sample in samples} == {"", "more than a number can hold"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.text() | st.binary())
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    try:
        json_format.parse(text)
    except ParseError:
        pass


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_any_value_in_any_place_is_read_or_refused(data: st.DataObject) -> None:
    document = documents((FIXTURES / "null.json").read_text())[0]
    place: Any = document
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(JSON)
    try:
        parsed = json_format.parse(json.dumps(document))
    except ParseError:
        return
    assert all(s.value is None or abs(s.value) < 1e308 for run in parsed.runs for s in run.samples)


@settings(deadline=None)
@given(st.integers(0, len(STONEWALL)), st.integers(0, 400), st.text(max_size=20))
def test_a_report_with_a_piece_replaced_is_read_or_refused(start: int, length: int, text: str) -> None:
    try:
        json_format.parse(STONEWALL[:start] + text + STONEWALL[start + length :])
    except ParseError:
        pass


@pytest.mark.parametrize("case", ["stonewall", "group", "null", "beside_normal"])
def test_a_report_that_is_searched_gives_what_one_in_fios_own_lines_gives(case: str) -> None:
    text = (FIXTURES / f"{case}.json").read_text()
    usual, searched = (json_format.parse(one).runs[-1] for one in (text, text.replace("\n", "\r\n")))
    assert searched.samples == usual.samples
    assert searched.histograms == usual.histograms
    assert sum(sample.line is not None for sample in usual.samples) > 10


@pytest.mark.parametrize("margin", ["", " ", "\t"])
def test_a_report_whose_indentation_a_post_took_away_still_shows_each_value(margin: str) -> None:
    for case in ("stonewall", "group", "null", "version_2"):
        text = (FIXTURES / f"{case}.json").read_text()
        flat = "\n".join(margin + line.strip() for line in text.splitlines())
        usual, found = (json_format.parse(one).runs[-1] for one in (text, flat))
        assert found.samples == usual.samples


def test_a_list_of_percentiles_of_ones_own_is_found_too() -> None:
    text = (FIXTURES / "group.json").read_text()
    shorter = "\n".join(line for line in text.splitlines() if '"30.000000"' not in line)
    before, after = json_format.parse(text).runs[0].samples, json_format.parse(shorter).runs[0].samples
    assert [(one.metric, one.value, one.printed) for one in after] == [(o.metric, o.value, o.printed) for o in before]
    lines = shorter.splitlines()
    percentiles = [one for one in after if one.metric == "clat_p99_99"]
    assert len(percentiles) == 2
    for one in percentiles:
        assert one.line
        assert '"99.990000"' in lines[one.line - 1]
