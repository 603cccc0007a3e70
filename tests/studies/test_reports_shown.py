"""The five reports as people and wikis see them: tables as printed, charts with the report's own axes, pages, REST."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.api.resources import studies as study_resources
from apps.comparison.charts.chart import Chart, ValueForm
from apps.comparison.charts.json_payload import as_json
from apps.comparison.charts.picture import render
from apps.comparison.in_studies.printed_results import Results, results_of
from apps.dashboard.studies.charts import charts_of, not_drawn
from apps.dashboard.studies.machines import ConfigurationTable, configuration_table
from apps.labs.models import Lab
from apps.studies.models import Study
from apps.studies.plans.plan_page import plans_of_study
from apps.studies.report.tables import PrintedTable
from apps.studies.source import DATA, slugs
from tests.api.test_contract import has

SHARED = Path(__file__).parent.parent.parent.parent / "shared" / "seeds"
SEEDS = {
    "crs4-sata-scsi": "000_07ef9481fd231fe9.txt", "thumper-x4500": "001_333541a4fb2a15eb.txt",
    "infn-10ge-chain": "002_f61d533081d0967b.txt", "dtn-ucsc": "003_715f4a9eec735e1c.txt",
}  # fmt: skip
TABLES = {
    "crs4-sata-scsi": ["crs4-t-write", "crs4-t-getc", "crs4-t-read"], "thumper-x4500": ["thumper-slots"],
    "infn-10ge-chain": ["infn-t-net", "infn-t-chain"], "dtn-ucsc": ["dtn-df", "dtn-bonnie", "dtn-iozone"],
    "tristan-sas-sata": [],
}  # fmt: skip
MIB = 2**20


def results(slug: str) -> Results:
    return results_of(Study.objects.select_related("lab").get(slug=slug))


def table(slug: str, name: str) -> PrintedTable:
    found = results(slug)
    assert found.report is not None
    return found.table(found.report.tables[name])


def chart(slug: str, name: str) -> Chart:
    found = results(slug)
    assert found.report is not None
    drawn = found.chart(found.report.charts[name]).chart
    assert drawn is not None
    return drawn


def seed(slug: str, first: int, last: int) -> list[str]:
    if not SHARED.exists():
        pytest.skip("the five reports' own text is not here")
    return (SHARED / SEEDS[slug]).read_text(encoding="utf-8").splitlines()[first - 1 : last]


def lines(found: PrintedTable) -> list[str]:
    """Each row with its head, words apart by one space."""
    return [" ".join(" ".join([row.head, *(cell.text for cell in row.cells)]).split()) for row in found.rows]


def test_there_are_nine_printed_tables_each_rebuilt(published: Lab) -> None:
    assert {slug: [one.name for one in results(slug).tables] for slug in slugs()} == TABLES
    assert all(one.rows for slug in slugs() for one in results(slug).tables)


@pytest.mark.parametrize(
    ("name", "test"),
    [("crs4-t-write", "seq_write_block"), ("crs4-t-getc", "seq_read_char"), ("crs4-t-read", "seq_read_block")],
)
def test_crs4s_tables_have_every_mean_in_the_reports_order_with_its_decimal_comma(
    published: Lab, name: str, test: str
) -> None:
    found = table("crs4-sata-scsi", name)
    with (DATA / "crs4-sata-scsi" / "results.csv").open(newline="") as file:
        values = {
            (int(row["file_size_bytes"]) // MIB, row["configuration"]): row["value"].replace(".", ",")
            for row in csv.DictReader(file)
            if row["test"] == test
        }
    assert [row.head for row in found.rows] == ["100", "500", "1000", "2000", "4000", "8000"]
    assert [head.text for head in found.heads[1]] == [
        "file size MB", "sata 3ware", "scsi Zero channel", "single sata", "sata raid1 sw", "sata raid0 sw", "scsi raid1 sw",
        "scsi raid0 sw",
    ]  # fmt: skip
    order = [
        "sata-3ware-raid5", "scsi-zcr-raid5", "sata-single", "sata-raid1-sw", "sata-raid0-sw", "scsi-raid1-sw", "scsi-raid0-sw",
    ]  # fmt: skip
    for row in found.rows:
        printed = [values.get((int(row.head), one)) for one in order]
        assert [cell.text for cell in row.cells] == ["" if one is None else one or "not readable" for one in printed]


def test_figures_that_the_scan_has_whole_stand_in_the_reports_text(published: Lab) -> None:
    whole = " ".join(seed("crs4-sata-scsi", 185, 265))
    exact = [
        cell.text for name in TABLES["crs4-sata-scsi"] for row in table("crs4-sata-scsi", name).rows for cell in row.cells
        if cell.samples and {one.quality for one in cell.samples} == {"exact"}
    ]  # fmt: skip
    assert len(exact) == 20
    assert [one for one in exact if one not in whole] == ["72156,9"]  # printed with a point, as the only one
    assert "72156.9" in whole


def test_a_lost_cell_says_between_what_it_lies_and_a_repaired_one_what_the_scan_has(published: Lab) -> None:
    found = table("crs4-sata-scsi", "crs4-t-write")
    assert found.counts == {"repaired": 31, "doubtful": 2, "not measured": 4, "not readable": 1}
    doubtful = [one.cell.text for name in TABLES["crs4-sata-scsi"] for one in table("crs4-sata-scsi", name).remarks
                if one.cell.kind == "doubtful"]  # fmt: skip
    assert doubtful == ["207402", "59500", "83475,2", "37285,6", "57423,1", "61914,5", "124120,5", "59524"]
    lost = found.rows[4].cells[5]
    assert (lost.kind, lost.samples[0].low, lost.samples[0].high) == ("not readable", 71000 * 1024, 79000 * 1024)
    assert "7TE6122]" in lost.remark
    stops = found.rows[4].cells[0]
    assert (stops.text, stops.kind) == ("", "not measured")
    assert "32-bit" in stops.remark


def test_a_cell_of_one_sample_says_its_value_in_both_bases_and_what_was_printed(published: Lab, viewer: Client) -> None:
    page = viewer.get("/studies/crs4-sata-scsi/").content.decode().replace("\u00a0", " ").replace("\u202f", " ")
    [exact] = {
        cell.exact
        for row in table("crs4-sata-scsi", "crs4-t-write").rows
        for cell in row.cells
        if cell.text == "177456,5"
    }
    said = exact.replace("\u00a0", " ").replace("\u202f", " ")
    assert said.startswith("181 715 456 B/s = 181.7 MB/s = 173.3 MiB/s; printed “177456.5 Kbyte/sec”, line ")
    assert re.search(rf'<a class="quiet-link" href="/runs/\d+/" title="[^"]*{re.escape(said)}">177456,5</a>', page)


def test_a_cell_that_is_no_samples_value_does_not_say_one(published: Lab) -> None:
    cells = [cell for row in table("dtn-ucsc", "dtn-bonnie").rows for cell in row.cells]
    shares = [cell for cell in cells if cell.samples and cell.text == f"{round((cell.samples[0].cpu or 0) * 100, 1):g}"]
    assert shares
    assert not any(cell.exact for cell in shares)


def test_infns_tables_are_the_slides_word_for_word(published: Lab) -> None:
    net, chain = (table("infn-10ge-chain", name) for name in ("infn-t-net", "infn-t-chain"))
    slide = seed("infn-10ge-chain", 116, 119)
    assert [" ".join(net.columns), *lines(net)] == slide
    slide = seed("infn-10ge-chain", 215, 220)
    assert [" ".join(chain.columns), *lines(chain)] == slide


def test_infns_cells_say_what_they_are(published: Lab) -> None:
    net = table("infn-10ge-chain", "infn-t-net")
    assert [[cell.kind for cell in row.cells] for row in net.rows] == [
        ["approximate", "approximate", "range"], ["range", "range", "not available"],
        ["not available", "approximate", "not available"],
    ]  # fmt: skip
    assert [one.value for one in table("infn-10ge-chain", "infn-t-chain").rows[0].cells[0].samples] == [270e6, 20e6]


def test_dtns_tables_are_the_pages_figure_for_figure(published: Lab) -> None:
    df = seed("dtn-ucsc", 22, 28)
    assert lines(table("dtn-ucsc", "dtn-df")) == [" ".join(line.split()) for line in df[1:]]
    printed = [line for line in seed("dtn-ucsc", 118, 140) if line.startswith("8388608")]
    assert lines(table("dtn-ucsc", "dtn-iozone")) == [" ".join(line.split()) for line in printed]
    bonnie = seed("dtn-ucsc", 86, 92)
    rows = lines(table("dtn-ucsc", "dtn-bonnie"))
    assert rows[0].removeprefix("RAID6 ") == bonnie[5]
    assert rows[1] == bonnie[6]


def test_bonnies_head_has_the_pages_three_levels(published: Lab) -> None:
    found = table("dtn-ucsc", "dtn-bonnie")
    words = " ".join(head.text for row in found.heads for head in row if head.text)
    assert sorted(words.split()) == sorted(" ".join(seed("dtn-ucsc", 86, 90)).split())
    assert len(found.columns) == 27
    assert found.columns[4:6] == ("Sequential Output · Block · K/sec", "Sequential Output · Block · % CPU")
    assert found.columns[12:14] == ("Random Seeks · /sec", "Random Seeks · % CPU")


def test_thumpers_grid_is_the_reports_from_top_to_bottom(published: Lab) -> None:
    printed = [line for line in seed("thumper-x4500", 77, 88) if "Disk" in line]
    assert lines(table("thumper-x4500", "thumper-slots")) == [" ".join(line.split()) for line in printed]
    assert len(printed) == 12


def test_crs4s_charts_have_the_reports_axes_and_series_that_end_at_2000_mb(published: Lab) -> None:
    drawn = chart("crs4-sata-scsi", "crs4-write")
    assert (drawn.y.scale, drawn.y.low, drawn.y.high) == ("linear", 0, 350_000 * 1024)
    assert drawn.x.labels == ("100", "500", "1000", "2000", "4000", "8000")
    ends = {one.label: sum(point.form is not ValueForm.MISSING for point in one.points) for one in drawn.series}
    assert list(ends.values()) == [6, 6, 6, 6, 6, 4, 4]
    assert drawn.series[3].points[-1].value == pytest.approx(119652.4 * 1024)
    assert drawn.series[4].points[4].form is ValueForm.RANGE
    read = as_json(chart("crs4-sata-scsi", "crs4-read"))
    assert (read["y"]["scale"], read["y"]["low"], read["y"]["high"]) == ("log", 10_000, 10_000_000)
    getc = chart("crs4-sata-scsi", "crs4-getc")
    assert (getc.y.scale, getc.y.high) == ("linear", 70_000 * 1024)


@pytest.mark.slow
def test_a_picture_keeps_the_reports_limits(published: Lab) -> None:
    from apps.comparison.charts.picture import figure_of

    (axes,) = figure_of(chart("crs4-sata-scsi", "crs4-read")).axes
    assert (axes.get_yscale(), axes.get_ylim()) == ("log", (10_000, 10_000_000))
    assert [tick for tick in axes.get_yticks() if 10_000 <= tick <= 10_000_000] == [1e4, 1e5, 1e6, 1e7]
    (axes,) = figure_of(chart("crs4-sata-scsi", "crs4-write")).axes
    assert (axes.get_yscale(), axes.get_ylim()) == ("linear", (0, 350_000))
    assert render(chart("dtn-ucsc", "dtn-iozone-heat"), "png").startswith(b"\x89PNG")


def test_what_cannot_be_drawn_says_why(published: Lab) -> None:
    why = {
        slug: [one.form.not_drawn for one in results(slug).charts if one.chart is None and not one.form.is_topology]
        for slug in slugs()
    }
    assert {slug: len(found) for slug, found in why.items()} == {
        "crs4-sata-scsi": 1, "thumper-x4500": 10, "infn-10ge-chain": 4, "dtn-ucsc": 0, "tristan-sas-sata": 0,
    }  # fmt: skip
    assert "38 values" in why["crs4-sata-scsi"][0]
    assert all("ioPlots.nb" in one for one in why["thumper-x4500"])


def test_dtns_lines_and_heat_map_have_all_169_figures(published: Lab) -> None:
    drawn = chart("dtn-ucsc", "dtn-iozone-lines")
    assert [len(one.points) for one in drawn.series] == [13] * 13
    assert drawn.series[0].points[0].value == 1278278 * 1024
    heat = chart("dtn-ucsc", "dtn-iozone-heat")
    assert len(heat.tiles) == 169
    assert max(tile.value for tile in heat.tiles if tile.value) == 8202099 * 1024


def test_tristans_bars_stand_by_environment_on_a_log_axis(published: Lab) -> None:
    drawn = chart("tristan-sas-sata", "tristan-dd-1000")
    guest, native = ([point.value for point in one.points] for one in drawn.series)
    assert guest == [167854882, 22342325, 11334548, 8919656]
    assert native == [None, 153324369, 68532932, None]
    assert drawn.y.is_log
    assert "60 Mb/s" in drawn.series[1].points[3].reason


def test_infns_chain_is_paired_and_its_two_diagrams_are_drawn_from_the_inventory(published: Lab) -> None:
    drawn = chart("infn-10ge-chain", "infn-chain")
    net, disk = ([point.value for point in one.points] for one in drawn.series)
    assert net[:5] == [270e6, 80e6, 270e6, 270e6, 30e6]
    assert disk[:6] == [20e6, 60e6, 30e6, 270e6, 30e6, 270e6]
    assert [point.form for point in drawn.series[0].points].count(ValueForm.MISSING) == 3
    hosts = [
        one.form.drawn.host for one in results("infn-10ge-chain").charts if one.form.drawn and one.form.is_topology
    ]
    assert hosts == ["server1", "server-san"]


EXPECTED = {  # words of each page that come from different parts of it
    "crs4-sata-scsi": ["file read per block - read() function", "121943,4", "not before mid 2004", "Transcribed by hand or by OCR",
                       "/compare/?metric=bandwidth&amp;operation=read&amp;study=crs4-sata-scsi&amp;x=file_size"],
    "thumper-x4500": ["Slot map of x4500", "The numbers are not in the report", "c3d0", "SUN Fire X4500"],
    "infn-10ge-chain": ["Storage path", "270 / 20", "~ 3", "Test Bed 1: rete", "A chain faster than its part"],
    "dtn-ucsc": ["1139579", "+++++", "413 GB/s should be 413 MB/s", "iozone speed by test and record size"],
    "tristan-sas-sata": ["VMware ESXi", "Тестирование SAS и SATA", "not printed", "dd write speed at 1000 MiB"],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("slug", list(EXPECTED))
def test_each_report_has_its_page(published: Lab, sign_in: Callable[[str], Client], slug: str) -> None:
    client = sign_in("viewer")
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(f"/studies/{slug}/")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert [word for word in EXPECTED[slug] if word not in text] == []
    assert len(queries) <= 60
    for anchor in ("about", "set-up", "procedure", "results", "claims", "caveats", "remarks", "files"):
        assert f'id="{anchor}"' in text


@pytest.mark.slow
@pytest.mark.parametrize("slug", list(EXPECTED))
def test_every_value_of_a_report_stands_on_its_page(
    published: Lab, sign_in: Callable[[str], Client], slug: str
) -> None:
    text = sign_in("viewer").get(f"/studies/{slug}/").content.decode()
    listed = text[text.index('id="values"') : text.index("</details>", text.index('id="values"'))]
    with (DATA / slug / "provenance.csv").open(newline="", encoding="utf-8") as file:
        lines = [row["source_line"] for row in csv.DictReader(file)]
    assert [line for line in lines if f"in the report, line {line}: " not in listed] == []
    assert listed.count('<td class="wrap quality">') == len(list(results(slug).samples))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("it", ["Domanda e fonte", "Tabelle stampate", "Condizioni", "sistema operativo"]),
        ("ru", ["Вопрос и источник", "Напечатанные таблицы"]),
    ],
)
def test_a_page_speaks_the_readers_language_and_leaves_the_reports_words(
    published: Lab, sign_in: Callable[[str], Client], language: str, words: list[str]
) -> None:
    client = sign_in("viewer")
    client.cookies["django_language"] = language
    text = client.get("/studies/crs4-sata-scsi/").content.decode()
    assert [word for word in [*words, "file write per block - write() function"] if word not in text] == []
    assert "As the report prints them" not in text


def test_what_was_run_without_its_numbers_is_not_called_not_run(published: Lab) -> None:
    plans = {one.plan.name: one for one in plans_of_study(Study.objects.get(slug="thumper-x4500"))}
    assert dict(plans["iozone-ext"].counts) == {"as reported": 1, "not held": 8}
    assert [(note[:15], len(cells)) for note, cells in plans["iozone-ext"].notes] == [
        ("Held: the sente", 1), ("Run and plotted", 6), ("Built and teste", 2),
    ]  # fmt: skip
    tristan = plans_of_study(Study.objects.get(slug="tristan-sas-sata"))[0]
    without_size = [cell for cell in tristan.cells if cell.reason and cell.runs]
    assert [(cell.row.name, cell.point.name) for cell in without_size] == [("sata-raid1-nocache-native", "1000mib")]


def test_charts_that_cannot_be_drawn_say_once_what_is_the_same_of_all(published: Lab) -> None:
    (group,) = not_drawn(charts_of(results("thumper-x4500"), []))
    assert group.titles == ["Across", "Host", "Remark", "Lines of the report"]
    assert [form.name for form, _ in group.rows] == ["A1", "A2", "B1", "B2", "C1", "C2", "C3", "D1", "D2", "D3"]
    (alone,) = not_drawn(charts_of(results("crs4-sata-scsi"), []))
    assert (alone.titles, dict(alone.shared)["Kind"]) == ([], "line with markers")


def test_configurations_say_once_what_is_the_same_in_all_and_nothing_of_storage_where_there_is_none(
    published: Lab,
) -> None:
    def of(slug: str) -> ConfigurationTable:
        study = Study.objects.get(slug=slug)
        return configuration_table(results(slug).report, list(study.configurations.select_related("host", "target")))

    assert [(title, cell.text) for title, cell in of("crs4-sata-scsi").shared] == [("environment", "native")]
    tristan = of("tristan-sas-sata")
    column = tristan.titles.index("environment")
    assert [row.cells[column].text for row in tristan.rows] == ["guest, VMware ESXi 4.1"] * 4 + ["native"] * 3
    chain = of("infn-10ge-chain")
    level = chain.titles.index("RAID level")
    assert [row.cells[level].text for row in chain.rows[:10]] == ["–"] * 9 + ["single"]
    assert chain.rows[10].cells[chain.titles.index("disks")].absence == "not_printed"


def test_the_list_says_what_each_asks_and_holds(published: Lab, sign_in: Callable[[str], Client]) -> None:
    client = sign_in("viewer")
    with CaptureQueriesContext(connection) as queries:
        text = client.get("/studies/").content.decode()
    assert text.count("study-card-head") == 5
    assert "which link of the chain is the narrow one?" in text
    assert "A chain faster than its part" in text
    assert len(queries) <= 17  # session, person, memberships and labs first


@pytest.fixture
def viewer(published: Lab, sign_in: Callable[[str], Client]) -> Client:
    return sign_in("viewer")


def test_a_table_is_had_in_every_dialect(viewer: Client) -> None:
    address = "/api/v1/tables/infn-10ge-chain/infn-t-chain/"
    found = viewer.get(address).json()
    has(found, "name title heads columns rows notes unit source_lines", study_resources.TableSerializer)
    cell = found["rows"][0]["cells"][0]
    assert cell["text"] == "270 / 20"
    assert [one["value"] for one in cell["samples"]] == [270e6, 20e6]
    written = {
        name: viewer.get(f"{address}?format={name}").content.decode() for name in ("mediawiki", "dokuwiki", "markdown")
    }
    assert all("270 / 20" in text.replace("&#47;", "/").replace("%%", "") for text in written.values())
    rows = list(csv.DictReader(io.StringIO(viewer.get(f"{address}?format=csv").content.decode())))
    assert [(row["row"], row["operation"], float(row["value"])) for row in rows[:2]] == [
        ("R 6 file 300 job", "net_send", 270e6), ("R 6 file 300 job", "read", 20e6),
    ]  # fmt: skip
    assert rows[6]["text"] == "N.A."


@pytest.mark.slow
def test_asking_again_costs_a_304(viewer: Client) -> None:
    for address in ("studies/dtn-ucsc/", "tables/dtn-ucsc/dtn-iozone/", "charts/dtn-ucsc/dtn-iozone-heat/?format=svg"):
        tag = viewer.get(f"/api/v1/{address}").headers["ETag"]
        assert viewer.get(f"/api/v1/{address}", headers={"If-None-Match": tag}).status_code == 304


def test_a_chart_is_had_as_picture_data_and_numbers(viewer: Client) -> None:
    address = "/api/v1/charts/crs4-sata-scsi/crs4-read/"
    has(viewer.get(address).json(), "kind title x y series", study_resources.ChartSerializer)
    picture = viewer.get(f"{address}?format=svg&theme=dark&width=860&height=460")
    assert picture.headers["Content-Type"] == "image/svg+xml"
    rows = list(csv.DictReader(io.StringIO(viewer.get(f"{address}?format=csv").content.decode())))
    assert len(rows) == 42
    assert float(rows[0]["value"]) == 1870445 * 1024


def test_errors_of_tables_and_charts_say_what_is_wrong(viewer: Client) -> None:
    lost = viewer.get("/api/v1/charts/crs4-sata-scsi/crs4-putc/")
    assert lost.status_code == 409
    assert "no table of putc()" in lost.json()["detail"]
    assert viewer.get("/api/v1/charts/crs4-sata-scsi/nothing/").status_code == 404
    assert viewer.get("/api/v1/tables/nothing/crs4-t-read/").status_code == 404
    assert viewer.get("/api/v1/studies/dtn-ucsc/?lang=de").status_code == 400


def test_a_study_in_rest(viewer: Client) -> None:
    found = viewer.get("/api/v1/studies/crs4-sata-scsi/").json()
    has(
        found,
        "slug title title_english site year language configurations tables charts claims plan caveats links",
        study_resources.StudySerializer,
    )
    assert (found["language"], found["claims"]["count"], len(found["configurations"])) == ("it", 17, 7)
    assert [one["name"] for one in found["tables"]] == TABLES["crs4-sata-scsi"]
    assert [one["is_drawn"] for one in found["charts"]] == [False, True, True, True]
    listed: dict[str, Any] = viewer.get("/api/v1/studies/").json()
    assert {one["slug"]: one["run_count"] for one in listed["results"]}["crs4-sata-scsi"] == 38
    has(listed["results"][0], "slug configuration_count run_count claim_count", study_resources.StudySummarySerializer)
