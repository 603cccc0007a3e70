"""A plan says "done" for its own runs alone, and nothing that nobody checked as a fact."""

import html
import re

import pytest

from tests.outside.product import Client, Product
from tests.outside.studies import bonnie, fio_report, make_study, new_name, plan_of, upload_into, wiki_of, write_plan

pytestmark = [pytest.mark.outside, pytest.mark.long]

FIO_POINT = {
    "file_size": "1g",
    "block_size": "1m",
    "threads": "1",
    "iodepth": "1",
    "rw": "read",
    "direct": "on",
    "sync": "none",
}
IOZONE = """\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.489 $
\tCommand line used: iozone -a -n 512m -g 1024m -i 0 -f /mnt/%s
\tOutput is in kBytes/sec
              kB  reclen    write  rewrite
"""


@pytest.fixture
def slug(owner: Client) -> str:
    return make_study(owner, new_name("plan"))


def states(plan: dict) -> list[tuple[str, int]]:  # type: ignore[type-arg]
    return [(cell["state"], cell["done"]) for cell in plan["cells"]]


def test_runs_of_another_tool_are_no_rounds_and_the_page_says_why(
    product: Product, owner: Client, admin: Client, slug: str
) -> None:
    """Nine runs of bonnie++ filled a point of fio, and both cells were "done 9/5"."""
    for name, size in (("a", "4G"), ("b", "80G")):
        upload_into(
            product, admin, slug, name, f"{slug}-{name}.csv", bonnie(f"{slug}{name}", size, range(9000, 9900, 100))
        )
    write_plan(owner, slug, ["a", "b"], [FIO_POINT | {"file_size": "512m"}], rounds=5)
    plan = plan_of(admin, slug)
    assert states(plan) == [("waiting", 0), ("waiting", 0)]
    assert [(len(one["runs"]), one["reason"]) for one in plan["not_counted"]] == [
        (9, "tool: bonnie++; the plan asks for fio"),
        (9, "tool: bonnie++; the plan asks for fio"),
    ]
    page = html.unescape(owner.get(f"/studies/{slug}/plan/").text)
    assert "0/5" in page
    assert "runs not counted: 9. tool: bonnie++; the plan asks for fio." in page
    assert page.count("9 not counted</a>") == 2
    assert "New run" not in page, "no cell of it can be started"
    assert "No cell can be started from here" in page
    wiki = wiki_of(admin, slug)
    assert "waiting 0/5" in wiki
    assert "done" not in wiki
    assert "tool: bonnie++; the plan asks for fio" in wiki


def test_a_run_that_is_not_counted_is_counted_in_the_cell_that_the_list_names(
    product: Product, owner: Client, admin: Client, slug: str
) -> None:
    text = fio_report(100_000_001, bs="64k")
    upload_into(product, admin, slug, "one", f"{slug}.json", text)
    write_plan(owner, slug, ["one"], [FIO_POINT, FIO_POINT | {"rw": "read", "block_size": "1m"}], rounds=2)
    [one] = plan_of(admin, slug)["not_counted"]
    page = html.unescape(owner.get(f"/studies/{slug}/plan/").text)
    cells = re.findall(r"<td>(.*?)</td>", page[page.index("plan-matrix") :], re.S)[:2]
    marked = [number for number, cell in enumerate(cells) if "1 not counted" in cell]
    points = [cell["point"] for cell in plan_of(admin, slug)["cells"][:2]]
    assert [points[number] for number in marked] == [one["point"]]


def test_each_fact_that_is_named_must_be_known_and_the_same(
    product: Product, owner: Client, admin: Client, slug: str
) -> None:
    texts = {
        "right": fio_report(100_000_001),
        "buffered": fio_report(100_000_002, direct="0"),
        "smaller": fio_report(100_000_003, bs="64k"),
        "deeper": fio_report(100_000_004, iodepth="8"),
    }
    for name, text in texts.items():
        upload_into(product, admin, slug, "one", f"{slug}-{name}.json", text)
    write_plan(owner, slug, ["one"], [FIO_POINT], rounds=2)
    plan = plan_of(admin, slug)
    assert states(plan) == [("partly", 1)]
    assert {one["reason"] for one in plan["not_counted"]} == {
        "direct I/O: no; the plan asks for yes",
        "block size: 64\u00a0KiB; the plan asks for 1\u00a0MiB",
        "I/O depth: 8; the plan asks for 1",
    }


def test_what_a_tool_does_not_print_agrees_with_nothing(
    product: Product, owner: Client, admin: Client, slug: str
) -> None:
    upload_into(product, admin, slug, "one", f"{slug}.csv", bonnie(slug, "8G", [9000, 9100]))
    point = {"file_size": "8g", "tool": "bonnie++", "operations": "write, read", "rw": ""}
    write_plan(owner, slug, ["one"], [point, point | {"block_size": "1m"}], rounds=2)
    assert states(plan_of(admin, slug)) == [("done", 2), ("waiting", 0)]


def test_one_run_is_one_round_whatever_it_measured(product: Product, owner: Client, admin: Client, slug: str) -> None:
    rows = "".join(
        f"{size:16d}{record:8d}  285299   511411\n" for size in (524288, 1048576) for record in (4, 8, 16, 32, 64)
    )
    upload_into(product, admin, slug, "one", f"{slug}.txt", f"{IOZONE % slug}{rows}\niozone test complete.\n")
    point = {"tool": "iozone", "operations": "write, rewrite", "rw": ""}
    write_plan(owner, slug, ["one"], [point, point | {"file_size": "1g", "block_size": "4k"}], rounds=3)
    assert states(plan_of(admin, slug)) == [("partly", 1), ("partly", 1)]


def test_guards_and_order_are_asked_for_and_not_checked(
    product: Product, owner: Client, admin: Client, slug: str
) -> None:
    upload_into(product, admin, slug, "one", f"{slug}.csv", bonnie(slug, "8G", [9000]))
    write_plan(owner, slug, ["one"], [FIO_POINT], rounds=2)
    plan = plan_of(admin, slug)
    assert plan["standing"] == "asked for; not checked"
    assert [guard["standing"] for guard in plan["guards"]] == ["asked for; not checked"] * 2
    assert all(guard["sentence"].endswith("(asked for; not checked).") for guard in plan["guards"])
    for text in (owner.get(f"/studies/{slug}/plan/").text, owner.get(f"/studies/{slug}/").text):
        assert text.count("(asked for; not checked)") == 4, "rounds, order and two guards"
        assert "its load is about zero (asked for; not checked)." in text
    wiki = wiki_of(admin, slug)
    assert "its load is about zero (asked for; not checked)." in wiki
    assert "not only one (asked for; not checked)." in wiki
    assert "its load is about zero." not in wiki
    assert "(richiesto; non verificato)" in wiki_of(admin, slug, "it")
    assert "(запрошено; не проверено)" in wiki_of(admin, slug, "ru")


def test_a_published_report_is_as_reported(owner: Client, admin: Client) -> None:
    plan = plan_of(admin, "crs4-sata-scsi")
    found = [state for state, _ in states(plan)]
    assert (found.count("as reported"), found.count("not run"), found.count("done")) == (38, 4, 0)
    assert {guard["standing"] for guard in plan["guards"]} == {"as reported"}
    page = owner.get("/studies/crs4-sata-scsi/plan/").text
    assert "(as reported)" in page
    assert "not checked" not in page
    assert "(as reported)." in wiki_of(admin, "crs4-sata-scsi")
    assert "(come riportato)." in wiki_of(admin, "crs4-sata-scsi", "it")
