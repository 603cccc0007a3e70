"""The harness itself: what the other tests of this folder stand on."""

from collections.abc import Callable

import pytest

from tests.outside.product import Client, Product

pytestmark = pytest.mark.outside


def test_a_stranger_is_asked_to_sign_in_and_the_owner_is_let_in(product: Product, owner: Client) -> None:
    stranger = product.client().get("/")
    assert "/accounts/login/" in stranger.url
    assert owner.get("/").status == 200
    assert owner.get("/").url == product.url


def test_a_script_reads_and_uploads_with_a_token(product: Product, admin: Client) -> None:
    assert admin.get("/api/v1/runs/").json()["results"] is not None
    sent = admin.upload("/api/v1/uploads/", {"dd.txt": b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2 s, 537 MB/s\n"})
    assert sent.status == 202
    upload = product.read_in(sent.json()["url"], admin)
    assert upload["files"][0]["format"] == "dd"


def test_a_stopped_product_goes_on_with_what_its_first_start_has_made(product: Product, owner: Client) -> None:
    """The fixture `prepared` starts and stops the first one, and this one begins with a copy of its data folder."""
    assert "with the password" not in product.output
    assert f"Sign in as {product.email}." in product.output
    assert owner.get("/").status == 200


def test_every_process_can_be_found(product: Product) -> None:
    assert (
        len({product.pid(name) for name in ("web", "worker", "dispatcher", "beat", "agent", "valkey", "postgres")}) == 7
    )


@pytest.mark.long
def test_a_product_of_ones_own_can_be_stopped_and_started_again(own_product: Callable[..., Product]) -> None:
    mine = own_product()
    mine.stop()
    mine.start()
    assert mine.owner().get("/").status == 200
