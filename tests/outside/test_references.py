"""What a saved thing refers to by name it goes on referring to when that is renamed; what is deleted is said in a sentence."""

import html
import json
import re
import urllib.parse
from typing import Any

import pytest

from tests.outside.product import Client, Product, wait_until
from tests.outside.studies import bonnie, make_study, new_name, plan_of, upload_into, wiki_of, write_plan

pytestmark = [pytest.mark.outside, pytest.mark.long]
RAW = ("found '", "expected one of")


@pytest.fixture
def slug(product: Product, owner: Client, admin: Client) -> str:
    """A study of two configurations, `tmpfs` 1.8 times as fast as `ext4`."""
    slug = make_study(owner, new_name("refs"))
    for name, first in (("tmpfs", 90_000), ("ext4", 50_000)):
        values = range(first, first + 500, 100)
        upload_into(product, admin, slug, name, f"{slug}-{name}.csv", bonnie(f"{slug}{name}", "8G", values))
    return slug


def query_of(slug: str, *more: tuple[str, str]) -> str:
    words = [("metric", "bandwidth"), ("operation", "write"), ("series", "label"), ("study", slug), *more]
    return urllib.parse.urlencode(words)


def put_into(owner: Client, slug: str, title: str, query: str) -> str:
    """A comparison into the study; its name there."""
    page = owner.get(f"/comparisons/put/?study={slug}").text
    [study] = re.findall(rf'<option value="(\d+)"[^>]*>Study {slug}<', page)
    form = {"study": study, "title": title, "caption": "", "shows": "both", "query": query}
    answer = owner.post("/comparisons/put/", form, follow=False)
    assert answer.status == 302, answer.text[:2000]
    return title.lower()


def configurations(owner: Client, slug: str) -> dict[str, str]:
    """Label → the address of its page."""
    page = owner.get(f"/studies/{slug}/configurations/").text
    found = re.findall(
        r'<th scope="row" class="wrap">([^<]+)</th>.*?href="(/studies/[^"]+/configurations/\d+/)"', page, re.S
    )
    return {html.unescape(label): address for label, address in found}


def rename(owner: Client, slug: str, old: str, new: str) -> None:
    address = configurations(owner, slug)[old]
    answer = owner.post(address, {"label": new, "target": "", "position": "1"}, follow=False)
    assert answer.status == 302, answer.text[:2000]


def delete(owner: Client, slug: str, label: str) -> None:
    assert owner.post(f"{configurations(owner, slug)[label]}delete/", follow=False).status == 302


def texts(owner: Client, admin: Client, slug: str) -> tuple[str, str]:
    page, wiki = html.unescape(owner.get(f"/studies/{slug}/").text), wiki_of(admin, slug)
    assert not any(word in text for text in (page, wiki) for word in RAW)
    return page, wiki


def test_a_comparison_follows_a_configuration_that_is_renamed(owner: Client, admin: Client, slug: str) -> None:
    name = put_into(
        owner,
        slug,
        "Speeds",
        query_of(slug, ("baseline", "tmpfs"), ("configuration", "tmpfs"), ("configuration", "ext4")),
    )
    before = admin.get(f"/api/v1/tables/{slug}/{name}/").json()
    rename(owner, slug, "tmpfs", "Memory disk")
    rename(owner, slug, "ext4", "tmpfs")  # its old name is another's now
    page, wiki = texts(owner, admin, slug)
    assert "not there any more" not in page + wiki
    assert "Memory disk" in wiki
    after = admin.get(f"/api/v1/tables/{slug}/{name}/").json()
    assert before["baseline"] == "tmpfs"
    assert after["baseline"] == "Memory disk"
    assert sorted(after["series"]) == ["Memory disk", "tmpfs"]
    ratios = [{str(cell["ratio"]) for cell in found["cells"]} for found in (before, after)]
    assert ratios[0] == ratios[1], "the columns stand in another order, and say the same"
    assert admin.get(f"/api/v1/charts/{slug}/{name}/?format=png").status == 200


def test_a_baseline_that_is_deleted_is_said_and_the_rest_stays(owner: Client, admin: Client, slug: str) -> None:
    name = put_into(owner, slug, "Speeds", query_of(slug, ("baseline", "tmpfs")))
    lost = put_into(owner, slug, "Only", query_of(slug, ("configuration", "tmpfs")))
    put_into(owner, slug, "Both", query_of(slug, ("configuration", "tmpfs"), ("configuration", "ext4")))
    delete(owner, slug, "tmpfs")
    page, wiki = texts(owner, admin, slug)
    for text in (page, wiki):
        assert "The baseline “tmpfs” is not there any more, so nothing is held against one." in text
        assert "The configuration “tmpfs”, which this is about, was deleted." in text
        assert "The configuration “tmpfs” was deleted and is left out." in text
    assert wiki.count("ext4") > 1, "the other tables stay"
    assert admin.get(f"/api/v1/tables/{slug}/{name}/").status == 200
    assert admin.get(f"/api/v1/charts/{slug}/{lost}/").status == 409
    assert "La configurazione" not in wiki
    italian = wiki_of(admin, slug, "it")
    assert "non c'è più" in italian
    assert "L'elemento di cui si tratta qui è stato cancellato: configurazione «tmpfs»." in italian


def test_a_saved_address_follows_configurations_and_studies(owner: Client, admin: Client, slug: str) -> None:
    query = query_of(slug, ("baseline", "ext4"), ("configuration", "ext4"), ("configuration", "tmpfs"))
    answer = owner.post("/comparisons/", {"name": slug, "query": query}, follow=False)
    short = answer.headers["Location"]
    rename(owner, slug, "ext4", "Plain disk")
    moved = new_name("moved")
    form = {"title": f"Study {slug}", "slug": moved, "language": "en"}
    assert owner.post(f"/studies/{slug}/edit/", form, follow=False).status == 302
    opened = owner.get(short)
    assert f"study={moved}" in opened.url
    assert "baseline=Plain%20disk" in opened.url
    assert "Plain disk" in opened.text
    assert "was not measured here" not in opened.text
    [listed] = [one for one in admin.get("/api/v1/comparisons/").json()["results"] if one["name"] == slug]
    found = admin.get(listed["compare_url"]).json()
    assert found["baseline"] == "Plain disk"
    delete(owner, moved, "tmpfs")
    delete(owner, moved, "Plain disk")
    gone = html.unescape(owner.get(short).text)
    assert "which this is about, was deleted." in gone
    found = admin.get(listed["url"]).json()
    assert found["compare_url"] is None
    assert "“tmpfs, Plain disk”, which this is about, was deleted" in found["problem"].replace(
        "Plain disk, tmpfs", "tmpfs, Plain disk"
    )


def test_a_saved_comparison_whose_study_is_gone_asks_for_nothing_more(owner: Client, admin: Client, slug: str) -> None:
    owner.post("/comparisons/", {"name": slug, "query": query_of(slug, ("baseline", "tmpfs"))}, follow=False)

    def saved() -> dict[str, Any]:
        [listed] = [one for one in admin.get("/api/v1/comparisons/").json()["results"] if one["name"] == slug]
        found = dict(admin.get(listed["url"]).json())
        assert found == listed
        return found

    assert f"study={slug}" in saved()["compare_url"]
    assert saved()["problem"] == ""
    assert owner.post(f"/studies/{slug}/delete/", follow=False).status == 302
    assert saved()["compare_url"] is None, "without its study it would ask the whole lab"
    assert saved()["problem"] == f"The study “{slug}”, which this is about, was deleted."


def test_what_is_deleted_has_its_last_name_and_not_that_of_another(owner: Client, admin: Client, slug: str) -> None:
    put_into(
        owner,
        slug,
        "Both",
        query_of(slug, ("baseline", "tmpfs"), ("configuration", "tmpfs"), ("configuration", "ext4")),
    )
    rename(owner, slug, "tmpfs", "Memory disk")
    rename(owner, slug, "ext4", "tmpfs")
    delete(owner, slug, "Memory disk")
    page, wiki = texts(owner, admin, slug)
    for text in (page, wiki):
        assert "The configuration “Memory disk” was deleted and is left out." in text
        assert "The baseline “Memory disk” is not there any more" in text
        assert "“tmpfs” was deleted" not in text
    assert "Un elemento è stato cancellato e si tralascia: configurazione «Memory disk»." in wiki_of(admin, slug, "it")


def test_what_differs_too_stands_beside_a_comparison_of_the_study(
    product: Product, owner: Client, admin: Client, slug: str
) -> None:
    for name, size in (("small", "8G"), ("large", "80G")):
        upload_into(
            product, admin, slug, name, f"{slug}-{name}.csv", bonnie(f"{slug}{name}", size, range(7000, 7500, 100))
        )
    put_into(
        owner,
        slug,
        "Sizes",
        query_of(slug, ("configuration", "small"), ("configuration", "large"), ("x", "configuration")),
    )
    page, wiki = texts(owner, admin, slug)
    for text in (page, wiki):
        assert re.search(
            r"(Also differs|also different|Differs along the axis|Mixed inside)[^\n]*file size 8 GiB / 80 GiB",
            re.sub(r"<[^>]+>|\xa0", " ", text).replace("  ", " "),
        ), text[:200]
    assert "dimensione del file" in wiki_of(admin, slug, "it")


def test_a_claim_and_a_plan_follow_what_is_renamed(owner: Client, admin: Client, slug: str) -> None:
    groups = [
        {"is": "samples", "operations": ["write"], "where": [{"name": "label", "equals": [label]}]}
        for label in ("tmpfs", "ext4")
    ]
    answer = owner.post(
        f"/studies/{slug}/claims/new/", claim_form(json.dumps({"kind": "ranking", "chain": groups})), follow=False
    )
    assert answer.status == 302, answer.text[:3000]
    write_plan(owner, slug, ["tmpfs", "ext4"], [{"tool": "bonnie++", "rw": "", "file_size": "8g"}], rounds=5)

    def verdict() -> dict[str, Any]:
        [found] = admin.get(f"/api/v1/claims/?study={slug}").json()["results"]
        return dict(admin.get(f"/api/v1/claims/{found['id']}/").json())

    assert verdict()["verdict"] == "supported"
    rename(owner, slug, "tmpfs", "Memory disk")
    page, _ = texts(owner, admin, slug)
    assert [row["label"] for row in plan_of(admin, slug)["configurations"]] == ["Memory disk", "ext4"]
    assert ">tmpfs<" not in page
    wait_until("the claim follows", 25, lambda: "Memory disk" in json.dumps(verdict()["computed"]))
    assert verdict()["verdict"] == "supported"
    delete(owner, slug, "Memory disk")
    wait_until(
        "the claim says why", 60, lambda: "“Memory disk”, which this is about, was deleted" in verdict()["problem"]
    )


def claim_form(check: str) -> dict[str, str]:
    return {
        "act": "save", "code": "C1", "statement": "It is faster.", "language": "en", "checks": "1",
        "c0-kind": "written", "c0-was": "written", "c0-written": check, "c0-groups": "0",
    }  # fmt: skip


def test_a_watch_follows_and_says_when_it_is_broken(owner: Client, admin: Client, slug: str) -> None:
    query = query_of(slug, ("configuration", "tmpfs"))
    form = {"name": slug, "threshold": "5", "query": query}
    watch = owner.post("/trends/", form, follow=False).headers["Location"]
    rename(owner, slug, "tmpfs", "Memory disk")
    assert "No run answers this yet" not in owner.get(watch).text
    [listed] = [one for one in admin.get("/api/v1/trends/").json()["results"] if one["name"] == slug]
    assert {"name": "configuration", "value": "Memory disk"} in listed["filters"]
    assert len(admin.get(listed["url"]).json()["points"]) == 5
    delete(owner, slug, "Memory disk")
    assert "The configuration “Memory disk”, which this is about, was deleted." in owner.get(watch).text
    [listed] = [one for one in admin.get("/api/v1/trends/").json()["results"] if one["name"] == slug]
    assert listed["problem"] == "The configuration “Memory disk”, which this is about, was deleted."
    assert admin.get(listed["url"]).status == 409
    assert owner.get("/trends/").status == 200
