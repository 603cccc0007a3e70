"""Comparisons and claims of a small simulated lab with known effects and a mixed history: what is said must be so.

The lab has two servers. `old` has hardware RAID and slow disks, `new` has software RAID and fast ones, so that the RAID
implementation, which has no effect at all, looks like a factor of two. On `new` the same disks carry ext4 and btrfs, and
ext4 is 1.25 times as fast: that is the one answer that these runs can give.
"""

import io
import json
import re
import urllib.parse
import uuid
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from tests.outside.product import Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]

MIB, GIB = 2**20, 2**30
RUNTIME_MS = 15_000
NULL_WHERE_UNLIKE = ("ci_low", "ci_high", "ratio_low", "ratio_high", "ratio", "verdict", "p")


def job(rate: float, name: str = "job", operation: str = "write", runtime_ms: int = RUNTIME_MS, **options: str) -> Any:
    """One job of a fio report: `rate` in bytes/s."""
    moved = round(rate * runtime_ms / 1000)
    nothing = {"io_bytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}
    done = {
        "io_bytes": moved, "bw_bytes": round(rate), "bw": round(rate / 1024), "iops": rate / MIB,
        "runtime": runtime_ms, "total_ios": moved // MIB,
    }  # fmt: skip
    return {
        "jobname": name, "groupid": int(options.pop("groupid", "0")), "error": 0, "job options": {"name": name, **options},
        "read": done if "read" in operation else nothing, "write": done if "write" in operation else nothing,
        "trim": nothing, "job_runtime": runtime_ms, "usr_cpu": 1.0, "sys_cpu": 2.0,
    }  # fmt: skip


def report(*jobs: Any, version: str = "3.33", at: int = 1_700_000_000, seed: int = 1, **options: str) -> bytes:
    """A fio report as JSON; `options` are those of all jobs."""
    all_jobs = {"rw": "write", "bs": "1m", "size": "64g", "direct": "1", "ioengine": "libaio", "randseed": str(seed)}
    return json.dumps(
        {
            "fio version": f"fio-{version}", "timestamp": at, "timestamp_ms": at * 1000,
            "global options": {**all_jobs, **options}, "jobs": list(jobs),
        }
    ).encode()  # fmt: skip


@dataclass
class Lab:
    """What was sent, and how it is asked for."""

    client: Client
    product: Product
    mark: str
    random: Random = field(default_factory=Random)  # the same bytes twice would be one upload

    def send(self, files: Mapping[str, bytes], **fields: str) -> None:
        """Upload files as one archive and keep what was read."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        sent = self.client.upload(
            "/api/v1/uploads/", {f"{uuid.uuid4().hex}.zip": packed.getvalue()}, {**fields, "keep": "1"}
        )
        assert sent.status == 202, sent.text
        found = self.product.read_in(sent.json()["url"], self.client)
        assert found["state"] == "parsed", found

    def measure(self, host: str, target: str, rate: float, times: int = 5, spread: float = 0.02, **more: Any) -> None:
        """Repetitions of one configuration, each with a seed and a time of its own; `apart`: with labels of its own too."""
        labels, apart = more.pop("labels", {}), more.pop("apart", False)
        files = {}
        for number in range(times):
            value = rate * (1 + self.random.uniform(-spread, spread))
            seed, at = self.random.randrange(10**9), 1_700_000_000 + self.random.randrange(10**6)
            files[f"r{number}-{seed}.json"] = report(job(value), seed=seed, at=at, **more)
        place = {"host": host, "target": target}
        if not apart:
            self.send(files, **place, labels=in_text(labels))
            return
        for number, (name, content) in enumerate(files.items(), start=1):
            own = {"seed": name[3:-5], "run_number": str(number), "job_id": f"j{name}", "transcribed": "yes"}
            self.send({name: content}, **place, labels=in_text({**labels, **own}))

    def name(self, word: str) -> str:
        return f"{word}-{self.mark}"

    def compare(self, **query: Any) -> Any:
        answer = self.client.get(
            f"/api/v1/compare/?{urllib.parse.urlencode({'lab_mark': self.mark, **query}, doseq=True)}"
        )
        assert answer.status == 200, answer.text
        return answer.json()

    def text(self, form: str, **query: Any) -> str:
        query = {"lab_mark": self.mark, **query, "format": form}
        return self.client.get(f"/api/v1/compare/?{urllib.parse.urlencode(query, doseq=True)}").text


def in_text(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in labels.items())


def make(client: Client, product: Product) -> Lab:
    lab = Lab(client, product, uuid.uuid4().hex[:8])
    history = (
        ("old", "hw", {"raid_implementation": "hardware", "filesystem": "ext4", "disk_model": "slow"}, 1.0e8),
        ("new", "md-ext4", {"raid_implementation": "software", "filesystem": "ext4", "disk_model": "fast"}, 2.5e8),
        ("new", "md-btrfs", {"raid_implementation": "software", "filesystem": "btrfs", "disk_model": "fast"}, 2.0e8),
    )
    hosts: dict[str, int] = {}
    for host, target, facts, rate in history:
        if host not in hosts:
            sent = client.send("POST", "/api/v1/hosts/", {"name": lab.name(host), "ram_bytes": 8 * GIB})
            assert sent.status == 201, sent.text
            hosts[host] = sent.json()["id"]
        sent = client.send(
            "POST", "/api/v1/targets/",
            {"host": hosts[host], "name": lab.name(target), "kind": "directory", "path": f"/srv/{target}"},
        )  # fmt: skip
        assert sent.status == 201, sent.text
        lab.measure(lab.name(host), lab.name(target), rate, labels={**facts, "lab_mark": lab.mark}, apart=host == "old")
    return lab


@pytest.fixture(scope="module")
def lab(product: Product) -> Lab:
    return make(product.client(product.make_token("admin")), product)


def cells(found: Any) -> dict[str, Any]:
    return {cell["series"]: cell for cell in found["cells"]}


def test_repetitions_of_one_configuration_have_intervals_and_are_held_against_each_other(lab: Lab) -> None:
    found = cells(lab.compare(series="label", baseline="none"))
    assert {cell["unlike"] for cell in found.values()} == {1}
    assert all(cell["n"] == 5 and cell["ci_low"] < cell["mean"] < cell["ci_high"] for cell in found.values())
    judged = cells(lab.compare(series="label"))
    assert {cell["verdict"] for cell in judged.values()} - {None} <= {"better", "worse"}
    assert sum(cell["verdict"] is not None for cell in judged.values()) == 2


def test_a_factor_has_its_verdict_where_all_else_is_equal(lab: Lab) -> None:
    found = cells(lab.compare(series="filesystem", host=lab.name("new"), baseline="btrfs"))
    assert found["ext4"]["verdict"] == "better"
    assert 1.1 < found["ext4"]["ratio_low"] < found["ext4"]["ratio"] < found["ext4"]["ratio_high"] < 1.4
    assert found["ext4"]["withheld"] is None


def test_a_factor_that_comes_with_another_machine_has_no_verdict(lab: Lab) -> None:
    """Both cells hold one configuration: only what differs between them stands against the verdict."""
    found = cells(lab.compare(series="raid_implementation", filesystem="ext4", baseline="hardware"))
    assert {cell["unlike"] for cell in found.values()} == {1}
    software = found["software"]
    assert [software[name] for name in ("ratio_low", "ratio_high", "verdict", "p")] == [None] * 4
    assert software["withheld"] == "other facts differ"
    assert {"host", "disk_model"} <= set(software["confounders"])


def test_a_mixture_has_neither_interval_nor_ratio_nor_verdict_and_opens_into_its_members(lab: Lab) -> None:
    found = cells(lab.compare(series="raid_implementation", baseline="hardware"))
    mixture = found["software"]
    assert mixture["unlike"] == 2
    assert [mixture[name] for name in NULL_WHERE_UNLIKE] == [None] * len(NULL_WHERE_UNLIKE)
    assert mixture["withheld"] == "unlike configurations"
    assert "filesystem" in mixture["unlike_facts"]
    assert {one["facts"]["filesystem"] for one in mixture["configurations"]} == {"ext4", "btrfs"}
    assert sorted(run for one in mixture["configurations"] for run in one["runs"]) == mixture["runs"]
    apart = lab.client.get(f"/api/v1/compare/?{mixture['split']}").json()
    assert {cell["unlike"] for cell in apart["cells"] if cell["runs"]} == {1}
    assert sorted(run for cell in apart["cells"] for run in cell["runs"]) == mixture["runs"]


def test_a_baseline_that_is_a_mixture_judges_nobody(lab: Lab) -> None:
    found = cells(lab.compare(series="raid_implementation", baseline="software"))
    assert found["hardware"]["verdict"] is None
    assert found["hardware"]["withheld"] == "unlike configurations in the baseline"


@pytest.mark.parametrize("form", ["csv", "mediawiki", "dokuwiki", "markdown"])
def test_no_format_gives_a_verdict_over_unlike_configurations(lab: Lab, form: str) -> None:
    text = lab.text(form, series="raid_implementation", baseline="hardware")
    assert "unlike" in text
    assert not re.search(r"\b(better|worse)\b", text), text


def test_pictures_draw_no_bars_of_error_over_a_mixture(lab: Lab) -> None:
    """Of one mixture alone the picture is that of its bare mean, whatever the mixture's spread is."""
    drawn = lab.text("svg", series="raid_implementation", raid_implementation="software", baseline="none", chart="bar")
    alike = lab.text("svg", series="label", target=lab.name("md-ext4"), baseline="none", chart="bar")
    marks = [len(re.findall(r"LineCollection", one)) for one in (drawn, alike)]
    assert marks[0] < marks[1], marks


def test_the_page_names_what_is_mixed_of_one_series_too(lab: Lab, owner: Client) -> None:
    query = {"lab_mark": lab.mark, "series": "raid_implementation", "raid_implementation": "software"}
    page = owner.get(f"/compare/?{urllib.parse.urlencode(query)}").text
    assert "nothing to hold against it" not in page
    assert "2 unlike configurations" in page
    assert re.search(r"filesystem (btrfs and ext4|ext4 and btrfs)", page)
    assert not re.search(
        r"\b(better|worse)\b", re.sub(r"(?s)<form.*?</form>|get a notification when it regresses", "", page)
    )


def test_a_seed_and_its_siblings_are_no_confounders(lab: Lab) -> None:
    found = lab.compare(series="label")
    named = {one["fact"] for one in found["confounders"]}
    assert not named & {"seed", "randseed", "run_number", "job_id", "transcribed", "quality"}


def test_a_difference_that_lies_on_the_axis_is_named(lab: Lab) -> None:
    """Along the disks' model the machines differ: whoever reads the bars must be told."""
    found = lab.compare(x="disk_model", series="lab_mark")
    along = {one["fact"] for one in found["confounders"] if one["kind"] == "along"}
    assert "raid_implementation" in along or "host" in along


def test_series_at_other_places_of_the_axis_name_the_axis(lab: Lab) -> None:
    host = lab.name("new")
    mark = uuid.uuid4().hex[:6]
    lab.measure(host, lab.name("md-ext4"), 3e8, times=1, size="4g", labels={"only": mark})
    lab.measure(host, lab.name("md-btrfs"), 2e8, times=1, size="80g", labels={"only": mark})
    found = lab.client.get(f"/api/v1/compare/?only={mark}").json()
    assert ("file_size", "along") in {(one["fact"], one["kind"]) for one in found["confounders"]}


def test_other_versions_of_a_tool_are_not_repetitions(lab: Lab) -> None:
    mark = uuid.uuid4().hex[:6]
    for version in ("3.16", "3.33"):
        lab.measure(lab.name("new"), lab.name("md-ext4"), 2e8, times=3, version=version, labels={"only": mark})
    [cell] = lab.client.get(f"/api/v1/compare/?only={mark}").json()["cells"]
    assert (cell["unlike"], cell["ci_low"], cell["unlike_facts"]) == (2, None, ["tool_version"])


def test_what_jobs_did_together_is_compared_and_not_the_mean_of_one(lab: Lab) -> None:
    mark = uuid.uuid4().hex[:6]
    jobs = [job(1e8, f"{mark}-{number}", runtime_ms=10_000 + 1000 * number) for number in range(3)]
    lab.send({"three.json": report(*jobs)}, host=lab.name("new"), target=lab.name("md-ext4"), labels=f"only={mark}")
    [cell] = lab.client.get(f"/api/v1/compare/?only={mark}").json()["cells"]
    moved = sum(one["write"]["io_bytes"] for one in jobs)
    assert cell["n"] == 1
    assert cell["mean"] == pytest.approx(moved / 12, rel=1e-6)  # over the longest run time, as group_reporting has it
    iops = lab.client.get(f"/api/v1/compare/?only={mark}&metric=iops").json()["cells"][0]["mean"]
    assert iops == pytest.approx(moved / MIB / 12, rel=1e-4)


def test_jobs_that_follow_each_other_are_not_added_up(lab: Lab) -> None:
    mark = uuid.uuid4().hex[:6]
    jobs = [job(1e8, mark), job(3e8, "second", stonewall="", groupid="1")]
    lab.send({"two.json": report(*jobs)}, host=lab.name("new"), target=lab.name("md-ext4"), labels=f"only={mark}")
    [cell] = lab.client.get(f"/api/v1/compare/?only={mark}").json()["cells"]
    assert cell["mean"] == pytest.approx(2e8, rel=1e-6)


def test_the_sum_of_all_clients_is_what_is_compared(lab: Lab) -> None:
    mark = uuid.uuid4().hex[:6]
    clients = [{**job(rate, mark), "hostname": name, "port": 8765} for name, rate in (("n1", 1e8), ("n2", 2e8))]
    total = {**job(3e8, "All clients"), "hostname": "n2", "port": 8765}
    total.pop("job options")
    document = json.loads(report())
    document["client_stats"] = [*clients, total]
    del document["jobs"]
    lab.send({"clients.json": json.dumps(document).encode()}, labels=f"only={mark}")
    [cell] = lab.client.get(f"/api/v1/compare/?only={mark}").json()["cells"]
    assert (cell["n"], cell["mean"]) == (1, pytest.approx(3e8, rel=1e-6))


BANNER = """\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.327 $
\tCommand line used: iozone -s 48g -r 64 -i 0 -f /srv/%s
\tFile size set to 50331648 KB
\tRecord Size 64 KB
\tOutput is in Kbytes/sec
              KB  reclen   write rewrite    read    reread
         8388608      64 1318427 1407891
"""
DD = "$ dd if=/dev/zero of=/srv/%s bs=1M count=4096\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2 s, 537 MB/s\n"


@pytest.mark.parametrize(("text", "says"), [(BANNER, "48"), (DD, "4")])
def test_a_header_that_disagrees_with_the_rows_of_an_upload_is_said(lab: Lab, text: str, says: str) -> None:
    mark = uuid.uuid4().hex[:6]
    lab.send({"result.txt": (text % mark).encode()}, host=lab.name("new"), labels=f"only={mark}")
    run = lab.client.get(f"/api/v1/compare/?only={mark}").json()["cells"][0]["runs"][0]
    caveats = {one["rule"]: one for one in lab.client.get(f"/api/v1/runs/{run}/").json()["caveats"]}
    assert f"the header says file size {says}" in caveats["header_conflict"]["arithmetic"][0].replace("\u00a0", " ")


def test_the_free_comparison_opens_on_the_newest_configurations_measured_alike(lab: Lab, owner: Client) -> None:
    labels, block = {"lab_mark": lab.mark, "filesystem": "xfs"}, f"{lab.random.randrange(100, 900)}k"
    lab.measure(lab.name("new"), lab.name("md-ext4"), 2.2e8, times=3, bs=block, labels=labels)
    lab.measure(lab.name("new"), lab.name("md-btrfs"), 1.1e8, times=3, bs=block, labels=labels)
    page = owner.get("/compare/free/").text
    heads = re.findall(r'<th scope="col" class="num wrap">([^<]*)', page)
    assert [head.strip() for head in heads] == sorted(
        f"{lab.name('new')} · {lab.name(target)}" for target in ("md-ext4", "md-btrfs")
    )
    assert "unlike configurations" not in page


def test_side_by_side_withholds_its_verdict_too(lab: Lab) -> None:
    targets = {one["name"]: one["id"] for one in lab.client.get("/api/v1/targets/?limit=200").json()["results"]}
    chosen = [targets[lab.name(name)] for name in ("hw", "md-ext4")]
    query = urllib.parse.urlencode({"target": chosen, "metric": "bandwidth"}, doseq=True)
    found = lab.client.get(f"/api/v1/compare/side-by-side/?{query}").json()
    of_mixture = [
        cell for row in found["rows"] for cell in row["cells"] if cell["column"] == chosen[1] and cell["unlike"] > 1
    ]
    assert of_mixture
    assert all(cell["verdict"] is None and cell["half_interval"] is None for cell in of_mixture)


def test_claims_of_reports_have_their_confounders_and_caveats_everywhere(lab: Lab, owner: Client) -> None:
    found = lab.client.get("/api/v1/claims/?study=crs4-sata-scsi&limit=200").json()["results"]
    assert found
    assert all({"confounders", "caveats"} <= set(one) for one in found)
    told = next(one for one in found if one["verdict"] == "supported" and one["confounders"] and one["caveats"])
    first = told["confounders"][0]["text"].replace("\u00a0", " ")
    for address in (told["page"], "/studies/crs4-sata-scsi/claims/"):
        page = owner.get(urllib.parse.urlsplit(address).path).text.replace("\u00a0", " ").replace("&#x27;", "'")
        assert first in page, address
    for form in ("mediawiki", "dokuwiki", "markdown"):
        text = lab.client.get(f"/api/v1/studies/crs4-sata-scsi/?format={form}&lang=en").text
        assert "Confounders and caveats" in text


def job_reports(lab: Lab, target: str, *jobs: tuple[str, float, dict[str, str]], times: int = 3) -> None:
    """Reports whose jobs have these rates, on a target of the new server."""
    place = {"host": lab.name("new"), "target": lab.name(target)}
    sent = lab.client.send(
        "POST", "/api/v1/targets/",
        {"host": host_of(lab, "new"), "name": place["target"], "kind": "directory", "path": f"/srv/{target}"},
    )  # fmt: skip
    assert sent.status == 201, sent.text
    files = {}
    for number in range(times):
        seed, factor = lab.random.randrange(10**9), 1 + number / 1000
        made = [job(rate * factor, name, **{"numjobs": "1", **options}) for name, rate, options in jobs]
        files[f"{number}-{seed}.json"] = report(*made, seed=seed, at=1_700_000_000 + lab.random.randrange(10**6))
    lab.send(files, **place, labels=in_text({"lab_mark": lab.mark, "kind": target}))


def host_of(lab: Lab, word: str) -> int:
    found = lab.client.get("/api/v1/hosts/?limit=1000").json()
    return next(one["id"] for one in found["results"] if one["name"] == lab.name(word))


def beside(lab: Lab, *targets: str) -> list[Any]:
    """The rows of bandwidth, side by side, with the first target as the baseline."""
    found = lab.client.get("/api/v1/targets/?limit=1000").json()["results"]
    ids = {one["name"]: one["id"] for one in found}
    query = [*(("target", ids[lab.name(one)]) for one in targets), ("metric", "bandwidth"), ("operation", "write")]
    answer = lab.client.get(f"/api/v1/compare/side-by-side/?{urllib.parse.urlencode(query)}")
    assert answer.status == 200, answer.text
    rows: list[Any] = answer.json()["rows"]
    return rows


def test_jobs_at_one_time_are_one_value_and_jobs_in_turn_are_two_things(lab: Lab) -> None:
    job_reports(lab, "four", *((f"w{number}", 1e8, {}) for number in range(4)))
    job_reports(lab, "one", ("all", 3.6e8, {"numjobs": "4", "group_reporting": "1"}))
    [row] = beside(lab, "one", "four")
    [whole, summed] = row["cells"]
    assert (round(whole["mean"], -7), round(summed["mean"], -7)) == (3.6e8, 4.0e8)
    assert summed["verdict"] == "better"
    assert summed["ratio"] == pytest.approx(1.11, abs=0.01)

    turn = {"stonewall": "1"}
    job_reports(
        lab, "turns", ("old-disk", 9e5, {**turn, "groupid": "0"}), ("new-disk", 1.8e8, {**turn, "groupid": "1"})
    )
    job_reports(lab, "alone", ("new-disk", 0.9e8, {}))
    rows = {tuple(row["parts"]): row["cells"] for row in beside(lab, "turns", "alone")}
    assert len(rows[("old-disk",)]) == 1
    assert rows[("new-disk",)][1]["ratio"] == pytest.approx(0.5, abs=0.01)
    mixed = lab.compare(metric="bandwidth", operation="write", x="file_size", series="kind", kind=["turns", "alone"])
    assert {one["series"]: one["unlike"] for one in mixed["cells"]} == {"alone": 1, "turns": 2}
    assert {(one["verdict"], one["ratio"]) for one in mixed["cells"]} == {(None, None)}
