"""Labs are made, renamed and left: by page, by REST and on the command line; the first one is named at `bin/up`."""

import json
from collections.abc import Callable

import pytest

from tests.outside.product import PASSWORD, Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]


def _labs(client: Client) -> list[str]:
    return [lab["name"] for lab in client.get("/api/v1/labs/").json()["results"]]


def test_the_command_makes_a_lab_and_prints_its_owners_link(product: Product) -> None:
    printed = product.manage("create_lab", "--name", "By command", "--owner", "by-command@example.org").stdout
    link = printed.strip().splitlines()[-1]
    assert "by-command@example.org" in printed
    owner = product.join(link)
    assert _labs(owner) == ["By command"]
    assert "You are owner here" in owner.get("/lab/").text
    assert product.make_token("read", "by-command").startswith("spl_")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--name", "By command twice", "--owner", "nobody"), "expected an e-mail address"),
        (("--name", " ", "--owner", "a@example.org"), "needs a name"),
        (("--name", "x" * 121, "--owner", "a@example.org"), "121 characters"),
        (("--name", "Taken", "--owner", "a@example.org", "--slug", "my-lab"), "my-lab"),
        (("--name", "Odd", "--owner", "a@example.org", "--slug", "no such/slug"), "letters, digits"),
    ],
)
def test_the_command_says_what_is_wrong(product: Product, options: tuple[str, ...], sentence: str) -> None:
    done = product.manage("create_lab", *options, check=False)
    assert done.returncode != 0
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_an_owner_makes_renames_and_leaves_labs_by_page(product: Product) -> None:
    lab = product.make_lab("Pages one")
    owner = lab.owner
    made = owner.post("/labs/new/", {"name": "Pages two"})
    assert "Pages two is there" in made.text
    assert sorted(_labs(owner)) == ["Pages one", "Pages two"]
    assert owner.post("/labs/new/", {"name": "Pages one"}).status == 422
    token = product.client(product.make_token("read", "pages-two"))
    assert "now called Pages zwei" in owner.post("/lab/rename/", {"name": " Pages   zwei "}).text
    assert _labs(token) == ["Pages zwei"]
    assert product.make_token("read", "pages-two").startswith("spl_")  # the short name stays
    assert "lab renamed" in owner.get("/lab/audit/").text
    number = next(one["id"] for one in owner.get("/api/v1/labs/").json()["results"] if one["name"] == "Pages zwei")
    assert "look again" in owner.post("/lab/leave/", {"lab": "0"}).text
    assert "You have left Pages zwei" in owner.post("/lab/leave/", {"lab": number}).text  # alone, and it holds nothing
    assert _labs(owner) == ["Pages one"]
    assert token.get("/api/v1/labs/").status == 401
    assert owner.post("/labs/new/", {"name": "Pages zwei"}).status == 200  # its name is free again


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, "tab\x07bell", "right\u202eleft", "zero\u200bwidth"])
def test_a_name_that_is_none_is_refused(product: Product, owner: Client, admin: Client, name: str) -> None:
    assert owner.post("/labs/new/", {"name": name}).status == 422
    assert owner.post("/lab/rename/", {"name": name}).status == 422
    assert admin.send("POST", "/api/v1/labs/", {"name": name, "owner": "a@example.org"}).status in (400, 409)


def test_the_only_owner_hands_over_before_leaving(product: Product) -> None:
    lab = product.make_lab("Handed over")
    second = product.join(lab.invite("second@example.org", "engineer"))
    [own] = lab.owner.get("/api/v1/labs/").json()["results"]
    assert "is the only owner of Handed over" in lab.owner.post("/lab/leave/", {"lab": own["id"]}).text
    refused = lab.owner.send("POST", own["url"] + "leave/")
    assert refused.status in (403, 409)  # 403: without the form's token
    member = next(
        one for one in lab.owner.get(own["members_url"]).json()["results"] if one["email"] == "second@example.org"
    )
    lab.owner.post(f"/lab/members/{member['id']}/role/", {"role": "owner"})
    assert "You have left Handed over" in lab.owner.post("/lab/leave/", {"lab": own["id"]}).text
    page = lab.owner.get("/lab/")
    assert page.status == 403
    assert "not a member of a lab" in page.text
    assert "member left" in second.get("/lab/audit/").text


def test_a_viewer_leaves_and_neither_renames_nor_makes_labs(product: Product) -> None:
    lab = product.make_lab("Viewed")
    viewer = product.join(lab.invite("leaving-viewer@example.org", "viewer"))
    assert viewer.post("/lab/rename/", {"name": "Mine"}).status == 403
    assert viewer.post("/labs/new/", {"name": "Mine"}).status == 403
    assert "Make another lab" not in viewer.get("/lab/").text
    [own] = viewer.get("/api/v1/labs/").json()["results"]
    headers = {"Content-Type": "application/json", "X-CSRFToken": viewer.csrf_token(), "Referer": product.url}
    assert viewer.request("PATCH", own["url"], b'{"name": "Mine"}', headers).status == 403
    assert viewer.request("POST", "/api/v1/labs/", b'{"name": "Mine"}', headers).status == 403
    assert viewer.request("POST", own["url"] + "leave/", b"", headers).status == 204
    assert "leaving-viewer@example.org" in lab.owner.get("/lab/audit/").text
    assert viewer.get("/").status == 403


def test_the_rest_interface_makes_renames_and_changes_members(product: Product) -> None:
    lab = product.make_lab("Scripted")
    admin = product.client(lab.make_token("admin"))
    [own] = admin.get("/api/v1/labs/").json()["results"]
    assert own["slug"] == "scripted"
    assert admin.send("POST", "/api/v1/labs/", {"name": "Scripted too"}).status == 400  # whose would it be?
    made = admin.send("POST", "/api/v1/labs/", {"name": "Scripted too", "owner": "scripted-too@example.org"})
    assert made.status == 201
    assert _labs(product.join(made.json()["invitation"]["link"])) == ["Scripted too"]
    assert admin.get(made.json()["url"]).status == 404  # a token reaches its own lab
    assert admin.send("POST", "/api/v1/labs/", {"name": "Scripted too", "owner": "a@example.org"}).status == 409
    renamed = admin.send("PATCH", own["url"], {"name": "Scripted anew"})
    assert (renamed.json()["name"], renamed.json()["slug"]) == ("Scripted anew", "scripted")
    product.join(lab.invite("changed@example.org", "viewer"))
    member = next(
        one for one in admin.get(own["members_url"]).json()["results"] if one["email"] == "changed@example.org"
    )
    assert admin.send("PATCH", member["url"], {"role": "engineer"}).json()["role"] == "engineer"
    assert admin.send("DELETE", member["url"]).status == 204
    assert admin.send("DELETE", member["url"]).status == 404
    only = next(one for one in admin.get(own["members_url"]).json()["results"] if one["role"] == "owner")
    assert admin.send("DELETE", only["url"]).status == 409
    assert admin.send("PATCH", only["url"], {"role": "viewer"}).status == 409
    assert admin.send("POST", own["url"] + "leave/").status == 400
    reader = product.client(lab.make_token("read"))
    assert reader.send("PATCH", own["url"], {"name": "x"}).status == 403
    assert reader.get(own["members_url"]).status == 403  # addresses of people are not for wikis


def test_another_lab_is_not_there(product: Product) -> None:
    ours, theirs = product.make_lab("Ours alone"), product.make_lab("Theirs alone")
    [lab] = theirs.owner.get("/api/v1/labs/").json()["results"]
    [member] = theirs.owner.get(lab["members_url"]).json()["results"]
    token = product.client(ours.make_token("admin"))
    for client in (ours.owner, token):
        for address in (lab["url"], lab["members_url"], lab["invitations_url"]):
            assert client.get(address).status == 404
    for method, address in (
        ("PATCH", lab["url"]), ("PATCH", member["url"]), ("DELETE", member["url"]), ("POST", member["url"] + "renew/"),
        ("POST", lab["invitations_url"]),
    ):  # fmt: skip
        body = {"name": "x", "role": "viewer", "email": "a@example.org"}
        assert token.send(method, address, body).status == 404, address
    assert _labs(theirs.owner) == ["Theirs alone"]


def test_the_description_names_every_resource_of_labs(product: Product, admin: Client) -> None:
    paths = set(json.loads(admin.get("/api/schema/?format=json").body)["paths"])
    assert {"/api/v1/labs/", "/api/v1/labs/{id}/", "/api/v1/labs/{id}/invitations/"} <= paths or {
        "/api/v1/labs/", "/api/v1/labs/{pk}/", "/api/v1/labs/{pk}/invitations/"
    } <= paths  # fmt: skip


def test_the_first_lab_is_named_at_the_first_start_and_who_may_make_more_is_a_setting(
    own_product: Callable[..., Product],
) -> None:
    options = ("--lab", "Speicherlabor «Süd»", "--owner", "Ada@Example.org")
    product = own_product(*options, like=None, env={"SPINDLE_LABS_BY": "command"})
    assert product.email == "ada@example.org"
    owner = product.owner()
    assert _labs(owner) == ["Speicherlabor «Süd»"]
    assert "Speicherlabor «Süd»" in owner.get("/").text
    assert owner.post("/labs/new/", {"name": "Mine"}).status == 403
    admin = product.client(product.make_token("admin", "Speicherlabor «Süd»"))
    refused = admin.send("POST", "/api/v1/labs/", {"name": "Mine", "owner": "a@example.org"})
    assert refused.status == 403
    assert "create_lab" in refused.json()["detail"]
    assert product.make_lab("Commanded", by_command=True).owner.get("/").status == 200
    assert product.client().sign_in("owner-of-commanded@example.org", PASSWORD).status == 302
