"""Other people's bonnie++ output: the true values of the corpus' index, exactly.

A row is (name, size in bytes, then K/s, % CPU of block write, K/s of rewrite, K/s, % CPU of block read, seeks/s, % CPU);
None is what the index does not say.
"""

from pathlib import Path

import pytest

from apps.parsers.bonnie import format as bonnie_format
from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample
from apps.parsers.core.source_text import SourceText
from tests.parsers.corpus import CORPUS, folder
from tests.sampling import for_each

K, M, G = 1024, 1024**2, 1024**3
Row = tuple[str, int, float | None, int | None, float | None, float | None, int | None, float | None, int | None]

INDEX: dict[str, tuple[int, str, Row, Row]] = {
    "cunnie-1.96-USB3_4TB_80G.txt": (
        9, "1.96",
        ("USB3_4TB", 80 * G, 28503, 12, 32134, 159847, 32, 130.7, 474),
        ("USB3_4TB", 80 * G, 29975, 13, 33498, 182916, 35, 105.0, 478),
    ),
    "cunnie-1.96-iSCSI_L2_4G.txt": (
        9, "1.96",
        ("iSCSI_L2_4G", 4 * G, 54182, 10, 38350, 110302, 9, 3911, 90),
        ("iSCSI_L2_4G", 4 * G, 71154, 11, 43181, 113869, 7, 3333, 73),
    ),
    "cunnie-1.96-iSCSI_K_L2_80G_tune_prefetch.txt": (
        9, "1.96",
        ("iSCSI_K_L2_80GB_tune_prefetch", 80 * G, 59758, 8, 23022, 63400, 5, 1228, 46),
        ("iSCSI_K_L2_80GB_tune_prefetch", 80 * G, 70985, 12, 17323, 45746, 4, 1338, 45),
    ),
    "cunnie-1.97-NVMe_4G.txt": (
        9, "1.97",
        ("NVMe_4G", 4 * G, 591313, 95, 340430, 1007765, 86, 11809, 302),
        ("NVMe_4G", 4 * G, 544048, 93, 344194, 986464, 86, 11810, 274),
    ),
    "cunnie-1.97-RAIDZ2_FreeNAS_11.txt": (
        1, "1.97",
        ("RAIDZ2_FreeNAS_11", 64 * G, 323909, 93, 233544, 662164, 99, 5134, 279),
        ("RAIDZ2_FreeNAS_11", 64 * G, 323909, 93, 233544, 662164, 99, 5134, 279),
    ),
    "cunnie-1.97-azure_premium_lrs.txt": (
        1, "1.97",
        ("gce_premium_lrs", 16 * G, 101264, 11, 39477, 80011, 7, 876.3, 16),
        ("gce_premium_lrs", 16 * G, 101264, 11, 39477, 80011, 7, 876.3, 16),
    ),
    "cunnie-1.97-gce_pd-ssd.txt": (
        1, "1.97",
        ("gce_pd-ssd", 15 * G, 26293, 3, 24577, 34696, 3, 9677, 141),
        ("gce_pd-ssd", 15 * G, 26293, 3, 24577, 34696, 3, 9677, 141),
    ),
    "cunnie-1.97-iSCSI_FreeNAS_11_80G.txt": (
        5, "1.97",
        ("iSCSI_FreeNAS_11_80G", 80 * G, 112366, 10, 55558, 106184, 5, 4883, 107),
        ("iSCSI_FreeNAS_11_80G", 80 * G, 113352, 12, 55587, 106702, 5, 5011, 109),
    ),
    "cunnie-deprecated-RAIDZ2_4C_80G.txt": (
        24, "1.97",
        ("RAIDZ2_L2", 80 * G, 200640, 86, 122869, 344219, 67, 150.2, 7),
        ("RAIDZ2_L2", 80 * G, 185985, 81, 121463, 368320, 75, 149.3, 8),
    ),
    "cunnie-1.96-iSCSI_L2_80G.txt": (
        7, "1.96",
        ("iSCSI_L2_80G", 80 * G, 74149, 9, 36447, 76552, 6, 148.7, 6),
        ("iSCSI_L2_80G", 80 * G, 67811, 9, 34649, 69536, 5, 139.6, 6),
    ),
    "cunnie-1.96-iSCSI_80G.txt": (
        9, "1.96",
        ("iSCSI_80G", 80 * G, 65824, 9, 35912, 74732, 6, 96.3, 4),
        ("iSCSI_80G", 80 * G, 59770, 9, 35787, 73270, 6, 105.2, 5),
    ),
    "bonnie2gchart-mixed.csv": (
        7, "1.96",
        ("host1", 8096 * M, 110033, 7, None, None, None, 228.2, None),
        ("host7", 8096 * M, 36403, None, None, None, None, 330.6, None),
    ),
    "mail-2.00a-nfs-server-client.txt": (
        2, "2.00",
        ("SERVER", 63808 * M, 387908, 64, 187033, 1078676, None, 533.8, None),
        ("CLIENT", 126 * G, 113319, None, 32419, 48229, None, 407.8, None),
    ),
    "lkml-1.03-two-runs.txt": (
        2, "1.03",
        ("mindpipe", G, 31164, 60, 13485, 32838, None, 56.7, None),
        ("mindpipe", G, 17647, None, None, None, None, 156.7, None),
    ),
    "1.03e-nochar-vertex.txt": (
        1, "1.03e",
        ("ubuntu", 8 * G, 65284, 18, 39589, 96293, 8, 7510.9, 6),
        ("ubuntu", 8 * G, 65284, 18, 39589, 96293, 8, 7510.9, 6),
    ),
    "1.03e-7400M-nocsv.txt": (
        1, "1.03e",
        ("jsowoc-deskto", 7400 * M, 90968, 13, None, 110127, 5, 259.0, None),
        ("jsowoc-deskto", 7400 * M, 90968, 13, None, 110127, 5, 259.0, None),
    ),
    "lkml-vim3-4G-noversion.txt": (
        2, "",
        ("", 4 * G, 312837, 96, None, 415501, 21, None, None),
        ("", 4 * G, 71766, None, None, None, None, None, None),
    ),
}  # fmt: skip


def read(name: str) -> ParsedFile:
    return bonniepp_format.parse(SourceText((folder("bonniepp") / name).read_bytes(), name))


def value(run: ParsedRun, operation: str, metric: str = "") -> ParsedSample:
    metric = metric or ("rate" if operation == "seek" or "_seq" in operation or "_rand" in operation else "bandwidth")
    found = [one for one in run.samples if (one.operation, one.metric) == (operation, metric)]
    assert len(found) == 1, (operation, metric)
    return found[0]


def check(run: ParsedRun, row: Row) -> None:
    name, size, write, write_cpu, rewrite, reading, read_cpu, seeks, seek_cpu = row
    assert run.host == name
    assert {one.file_size for one in run.samples if one.operation in ("write", "read", "seek")} == {size}
    told = [("write", write, write_cpu), ("rewrite", rewrite, None), ("read", reading, read_cpu)]
    for operation, speed, cpu in told:
        assert speed is None or value(run, operation).value == speed * K
        assert cpu is None or value(run, operation).cpu == cpu / 100
    assert seeks is None or value(run, "seek").value == seeks
    assert seek_cpu is None or value(run, "seek").cpu == seek_cpu / 100


@for_each("name", INDEX)
def test_the_values_of_the_index_are_read_exactly(name: str) -> None:
    count, version, first, last = INDEX[name]
    parsed = read(name)
    assert (len(parsed.runs), parsed.broken, parsed.warnings) == (count, (), ())
    assert parsed.runs[0].tool_version == version
    check(parsed.runs[0], first)
    check(parsed.runs[-1], last)


def test_every_file_of_the_folder_is_in_the_table() -> None:
    assert {path.name for path in folder("bonniepp").iterdir()} == set(INDEX)


def test_no_file_is_also_claimed_as_bonnie_1() -> None:
    assert [
        name for name in INDEX if bonnie_format.looks_like(SourceText((folder("bonniepp") / name).read_bytes()))
    ] == []


def test_files_of_other_tools_are_not_claimed() -> None:
    others = [path for path in CORPUS.glob("*/*") if path.is_file() and path.parent.name != "bonniepp"]
    assert folder("dd").is_dir()
    assert others
    assert [path.name for path in others if bonniepp_format.looks_like(SourceText(path.read_bytes()))] == []


def test_too_fast_is_a_bound_and_skipped_is_missing() -> None:
    run = read("1.03e-nochar-vertex.txt").runs[0]
    small = [one for one in run.samples if one.operation.endswith(("_seq", "_rand"))]
    assert [(one.value, one.low, one.quality) for one in small] == [(None, 32768.0, "lower_bound")] * 6
    assert value(run, "char_write").missing_reason == value(run, "char_read").missing_reason == "not run (-f)"
    sixth = read("bonnie2gchart-mixed.csv").runs[5]
    assert (sixth.host, value(sixth, "char_read").value) == ("host6", None)


def test_seeks_too_fast_in_both_runs() -> None:
    for run in read("lkml-vim3-4G-noversion.txt").runs:
        assert (value(run, "seek").value, value(run, "seek").quality) == (None, "lower_bound")
    assert value(read("lkml-vim3-4G-noversion.txt").runs[0], "char_write").value == 93865 * K


def test_small_files_characters_and_latencies() -> None:
    first, second = read("lkml-1.03-two-runs.txt").runs
    assert (value(first, "create_seq").value, value(second, "create_seq").value) == (94.0, 210.0)
    assert (first.caption, second.caption) == ("16KB", "1024KB")
    lone = read("1.03e-7400M-nocsv.txt").runs[0]
    assert (value(lone, "char_write").value, value(lone, "char_write").cpu) == (68668 * K, 0.96)
    assert (value(lone, "create_seq").value, value(lone, "delete_seq").value) == (149.0, 1395.0)
    client = read("mail-2.00a-nfs-server-client.txt").runs[1]
    assert value(client, "rewrite", "latency_max").value == 12422e6


LEGACY = ("RAID6.console.reconstructed.txt", "RAID6.reconstructed.csv", "bonnie_table.txt")


def legacy(name: str) -> Path:
    path = CORPUS.parent / "studies" / "dtn-ucsc" / "legacy" / name
    if not path.is_file():
        pytest.skip(f"the published studies are not here ({path})")
    return path


@pytest.mark.parametrize("name", LEGACY)
def test_the_study_of_2010_reads_exactly_in_all_its_forms(name: str) -> None:
    run = bonniepp_format.parse(SourceText(legacy(name).read_bytes())).runs[0]
    assert (run.host, run.tool_version) == ("RAID6", "1.96")
    check(run, ("RAID6", 47 * G, 1139579, 96, 423197, 1120794, 66, 632.3, 42))
    assert [value(run, one).value for one in ("char_write", "char_read")] == [1295360, 2526208]
    rates = ("create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand")
    assert [value(run, one).value for one in rates] == [29273, None, None, 2934, None, 28754]
    assert [value(run, one).low for one in rates] == [None, 32768, 32768, None, 32768, None]
    latencies = [one.value for one in run.samples if one.metric == "latency_max"]
    assert latencies == [
        9192e3, 211e3, 114e6, 7606e3, 87079e3, 90117e3, 220e3, 92e3, 3631e3, 211e3, 10e3, 213e3,
    ]  # fmt: skip
