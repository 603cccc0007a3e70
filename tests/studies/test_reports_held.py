"""Every value, caveat and claim of the five reports, as the database holds them after loading."""

import csv
import io
from typing import Any

import pytest

from apps.comparison import caveats
from apps.comparison.claims.checks.yaml_file import claims_of
from apps.comparison.claims.models import Claim
from apps.comparison.queries.samples import of_runs
from apps.comparison.readings import POINT, Reading
from apps.dashboard.published.published_import import mapping_of
from apps.labs.models import Lab
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import ColumnMapping, read, sniff
from apps.runs.models import Artefact, Run, Sample
from apps.studies.source import DATA, LATENCY, StudySource, measured, slugs

ROWS = {"crs4-sata-scsi": 114, "thumper-x4500": 24, "infn-10ge-chain": 42, "dtn-ucsc": 197, "tristan-sas-sata": 12}
VERDICTS = {  # supported, partly, contradicted, not checkable; counted by hand
    "crs4-sata-scsi": (11, 2, 0, 4), "thumper-x4500": (10, 4, 5, 13), "infn-10ge-chain": (12, 6, 1, 7),
    "dtn-ucsc": (13, 3, 3, 1), "tristan-sas-sata": (10, 2, 0, 4),
}  # fmt: skip
Row = dict[str, str]
Key = tuple[Any, ...]


def table(slug: str, name: str) -> list[Row]:
    with (DATA / slug / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pairs(slug: str) -> list[tuple[Row, Row]]:
    return list(zip(table(slug, "results.csv"), table(slug, "provenance.csv"), strict=True))


def held(slug: str) -> dict[Key, list[Sample]]:
    """By configuration, operation and metric."""
    found: dict[Key, list[Sample]] = {}
    samples = Sample.objects.filter(run__study_run__configuration__study__slug=slug).select_related(
        "measure", "point", "provenance", "artefact", "run__study_run__configuration", "run__host"
    )
    for sample in samples:
        key = sample.run.study_run.configuration.name, sample.measure.operation, sample.measure.metric
        found.setdefault(key, []).append(sample)
    return found


def sample_of(row: Row, found: dict[Key, list[Sample]]) -> Sample:
    """The only one whose point has what the row says of it; a row without a size means the one without."""
    point = [int(row[name]) if row[name] else None for name in ("file_size_bytes", "record_size_bytes", "threads")]
    some = [
        sample
        for sample in found[row["configuration"], *measured(row["test"], row["direction"])]
        if sample.point.file_size == point[0]
        and (point[1] is None or sample.point.block_size == point[1])
        and (point[2] is None or sample.point.threads in (None, point[2]))
    ]
    assert len(some) == 1, row
    return some[0]


def is_range(row: Row) -> bool:
    return "of the printed range" in row["note"]


def test_there_are_389_rows_with_14_empty_values() -> None:
    assert tuple(slugs()) == tuple(ROWS)
    assert {slug: len(pairs(slug)) for slug in ROWS} == ROWS
    assert sum(not row["value"] for slug in ROWS for row, _ in pairs(slug)) == 14


@pytest.mark.parametrize("slug", ROWS)
def test_every_row_is_held_with_value_unit_and_quality(published: Lab, slug: str) -> None:
    found = held(slug)
    for row, origin in pairs(slug):
        sample = sample_of(row, found)
        said, base = sample.provenance, float(row["value_si"] or "nan")
        base *= 1e9 if row["test"].endswith(LATENCY) else 1
        if is_range(row):
            assert sample.value is None
            assert base == (said.low if "low end" in row["note"] else said.high)
        else:
            assert sample.value == (pytest.approx(base, rel=1e-9) if row["value"] else None)
        assert said.quality == ("lower_bound" if "+++++" in row["note"] else row["confidence"])
        assert sample.printed.replace("’", "").startswith(row["value"]) or is_range(row)
        assert said.cpu == (pytest.approx(float(row["cpu_percent"]) / 100) if row["cpu_percent"] else None)
        assert f"in the report, line {origin['source_line']}: " in said.note
        assert row["note"].partition("; low end")[0].partition("; high end")[0] in said.note
        assert sample.run.host is None or sample.run.host.name == row["host"].partition("+")[0]


def unit_held(sample: Sample) -> str:
    return sample.printed.lstrip("0123456789.,’–- ")


@pytest.mark.parametrize("slug", ROWS)
def test_every_value_has_its_printed_unit(published: Lab, slug: str) -> None:
    """A tool's own file says K/s where the report's page says K/sec; the other units are those of the report."""
    found = held(slug)
    for row, _ in pairs(slug):
        if row["value"]:
            printed = unit_held(sample_of(row, found))
            assert printed == row["unit"] or (printed, row["unit"]) in {("K/s", "K/sec"), ("/s", "/sec")}


def test_the_line_of_a_legacy_file_is_its_source_where_the_value_stands_in_it(published: Lab) -> None:
    files = {"dtn-ucsc": 197, "thumper-x4500": 12, "tristan-sas-sata": 10}
    for slug, count in files.items():
        tables = Artefact.objects.filter(uses__name__startswith="figures")
        samples = [sample_of(row, found) for found in [held(slug)] for row, _ in pairs(slug)]
        assert all(sample.artefact and sample.source_line for sample in samples)
        assert sum(sample.artefact not in tables for sample in samples) == count
    line = Sample.objects.get(printed="281’514’434 bytes/sec")
    assert (line.source_line, line.run.facts["sync"], line.point.block_size) == (2, "none", 2**20)


@pytest.mark.parametrize("slug", [slug for slug in ROWS if StudySource(slug).figures()])
def test_the_mapping_import_alone_gives_every_figure_its_words(slug: str) -> None:
    """As anybody's table does: nothing has to be added to what was read."""
    source = StudySource(slug)
    wanted = {" ".join(map(str, one.rows)): one.sample for one in source.reported}
    for data in source.figures().values():
        rows = list(csv.DictReader(io.StringIO(data.decode())))
        found = read(sniff(SourceText(data.decode())), ColumnMapping.from_json(mapping_of(data)))
        assert not found.broken
        by_line = {sample.line: sample for run in found.runs for sample in run.samples}
        for line, row in enumerate(rows, 2):
            sample, said = by_line[line], wanted[row["rows"]]
            for name in ("operation", "metric", "printed", "quality", "note", "missing_reason", "low", "high"):
                assert getattr(sample, name) == getattr(said, name), (row, name)
            assert sample.value == pytest.approx(said.value)
            assert sample.alternatives == pytest.approx(said.alternatives)


def test_missing_cells_have_a_reason_and_what_bounds_are_known(published: Lab) -> None:
    lost: dict[tuple[Any, ...], int] = {}
    for sample in Sample.objects.filter(value=None).select_related("provenance"):
        said = sample.provenance
        key = said.missing_reason, said.low, said.high
        lost[key] = lost.get(key, 0) + 1
    assert {key: count for key, count in lost.items() if key[0]} == {
        ("not recoverable from the report", 71000 * 1024, 79000 * 1024): 1,
        ("not recoverable from the report", 60000 * 1024, 61000 * 1024): 1,
        ("printed N.A.", None, None): 9,
        ("+++++: too fast to time", 32768.0, None): 3,
    }
    assert {key[1:]: count for key, count in lost.items() if not key[0]} == {
        (1012500000, 1025000000): 1, (250000000, 325000000): 1, (875000000, 950000000): 1,
    }  # fmt: skip


def test_doubtful_readings_have_their_alternatives(published: Lab) -> None:
    doubtful = Sample.objects.exclude(provenance__alternatives=[]).exclude(provenance=None)
    wanted = [
        sorted(float(text) * 1024 for text in origin["alternatives"].split("|"))
        for _, origin in pairs("crs4-sata-scsi") if origin["strength"] not in ("", "strong") and origin["alternatives"]
    ]  # fmt: skip
    assert len(wanted) == 10
    assert sorted(sorted(s.provenance.alternatives) for s in doubtful.select_related("provenance")) == sorted(wanted)


@pytest.mark.parametrize("slug", ROWS)
def test_every_claim_has_the_verdict_that_was_worked_out_by_hand(published: Lab, slug: str) -> None:
    claims = {claim.code: claim for claim in Claim.objects.filter(study__slug=slug)}
    written = claims_of((DATA / slug / "claims.yaml").read_text(encoding="utf-8"))
    assert {one.code: claims[one.code].verdict for one in written} == {one.code: one.expected for one in written}
    assert not [claim.code for claim in claims.values() if claim.problem]
    counted = [sum(claim.verdict == name for claim in claims.values()) for name in (
        "supported", "partly", "contradicted", "not checkable",
    )]  # fmt: skip
    assert tuple(counted) == VERDICTS[slug]


def fired(slug: str) -> dict[str, set[str]]:
    """Rule → configurations of whose values it speaks; values are compared point by point, as a page does."""
    runs = Run.objects.filter(study_run__configuration__study__slug=slug)
    cells: dict[Key, dict[tuple[Any, str], list[Reading]]] = {}
    for readings in of_runs(runs.values_list("pk", flat=True)).values():
        for one in readings:
            place = tuple(getattr(one, name) for name in POINT), str(one.of("label"))
            cells.setdefault((one.operation, one.metric), {}).setdefault(place, []).append(one)
    found: dict[str, set[str]] = {}
    for some in cells.values():
        for caveat in caveats.of_cells(some):
            found.setdefault(caveat.rule, set()).update(caveat.series)
    return found


FIRES: dict[str, dict[str, int]] = {  # rule → of how many configurations it speaks
    # files up to 2 GB on hosts of 1 and 2 GB; reads above what two U320 channels or SATA links carry are memory's;
    # means of ten without the ten; scanned; MB/sec of the text that are 1000 KiB. Sync and CPU shares are not printed,
    # so nothing is said of them.
    "crs4-sata-scsi": {"ram_cache": 7, "above_ceiling": 3, "single_value": 7, "transcribed": 7, "text_vs_table": 3},
    # 1 GB/s to one disk; 500 MB files, 8 GB of RAM; ten processes of which the parent saw 3.7 MB/s; Gb/s that are
    # bytes; md4 has two members on three controllers; prose. No array is out of order: the commands have sdo in md4,
    # only the text has sdp twice (claim T22), and the degraded p3-raid5 has no figures. ext2 in the round of ext3.
    "thumper-x4500": {
        "above_ceiling": 1, "ram_cache": 4, "throughput_conflict": 1, "unit_mismatch": 5, "placement": 2,
        "single_value": 9, "transcribed": 3, "header_conflict": 1,
    },
    # SAN writing 270 against 160 and reading 60 against 50, NAS reading 270 against 200; one link of the double one.
    # CPU load "well above 100 %" in five network tests; jobs that the slides count otherwise; the RAM of the disk servers
    # is not printed.
    "infn-10ge-chain": {
        "part_vs_chain": 3, "placement": 1, "single_value": 16, "transcribed": 4, "cpu_bound": 5, "text_vs_table": 3,
    },
    # 8 and 10 GiB files, 24 GiB of RAM; IOzone rewrites records at 8.4 GB/s, twelve 6 Gb/s links carry 7.2; dd and
    # IOzone count 1000 and 1024; the banner is of another run; one core was full under bonnie++; 413 GB/s are MB/s.
    "dtn-ucsc": {
        "above_ceiling": 1, "ram_cache": 5, "unsynced_write": 1, "sync_per_block": 1, "unit_mismatch": 5,
        "header_conflict": 1, "cpu_bound": 1, "single_value": 6, "text_vs_table": 1,
    },
    # 100 MB against 256 MB of controller cache; guests beside the same without hypervisor; Mb/s that are bytes;
    # apostrophes that no dd prints.
    "tristan-sas-sata": {
        "ram_cache": 6, "controller_cache": 1, "unsynced_write": 6, "unit_mismatch": 2, "guest": 4,
        "single_value": 7, "transcribed": 6,
    },
}  # fmt: skip


@pytest.mark.parametrize("slug", ROWS)
def test_the_caveats_that_a_report_deserves_fire_and_no_others(published: Lab, slug: str) -> None:
    assert {rule: len(names) for rule, names in fired(slug).items()} == FIRES[slug]


def test_the_sas_lane_rule_of_dtns_author_does_not_fire(published: Lab) -> None:
    """1.4 GB/s is more than one 6 Gb/s lane carries, and twelve drives have twelve."""
    assert fired("dtn-ucsc")["above_ceiling"] == {"iozone -a -s 8g"}


def test_they_speak_of_the_right_configurations(published: Lab) -> None:
    chain, guests = fired("infn-10ge-chain"), fired("tristan-sas-sata")
    assert chain["part_vs_chain"] == {
        "SAN: 250 jobs write, 1 file of 2 GB", "SAN: 300 jobs read 150 files of 2 GB", "NAS: 300 jobs read 6 files of 2 GB",
    }  # fmt: skip
    assert chain["placement"] == {"SAN, one volume"}
    assert all(label.endswith("ESXi") for label in guests["guest"])
    assert guests["controller_cache"] == {"SAS RAID 5 of five disks, 256 MB cache, ESXi"}
    dtn = fired("dtn-ucsc")
    assert (dtn["unsynced_write"], dtn["sync_per_block"]) == ({"dd without sync, bs=1M"}, {"dd oflag=dsync, bs=1M"})
