"""A NUL in an address is told, and nothing is looked up by it."""

from tests.sampling import for_each


@for_each(
    "page",
    [
        "/runs/",
        "/switches/",
        "/uploads/",
        "/search/",
        "/compare/",
        "/compare/free/",
        "/compare/questions/host/",
        "/studies/",
        "/trends/",
        "/lab/",
    ],
)
def test_a_nul_in_a_query_is_named(cast, sign_in, page):
    answer = sign_in("owner").get(f"{page}?q=a%00b&label=%00")
    assert answer.status_code == 400
    assert "NUL character (%00) in &#x27;q&#x27;, expected text" in answer.content.decode()


def test_a_nul_in_a_path_or_a_name_is_named(cast, sign_in):
    viewer = sign_in("viewer")
    assert "in the address" in viewer.get("/runs/1/artefacts/a%00b").content.decode()
    assert viewer.get("/runs/?%00=1").status_code == 400
    assert viewer.get("/runs/?q=%2500").status_code == 200


@for_each("kind", ["hosts", "arrays", "runs", "uploads", "studies"])
def test_the_rest_interface_answers_with_a_problem(cast, token, client, kind):
    answer = client.get(f"/api/v1/{kind}/?label=%00", headers={"authorization": f"Bearer {token('read')}"})
    assert answer.status_code == 400
    assert {"field": "label", "found": "%00", "expected": "text"}.items() <= answer.json().items()
