"""The levels on a question's page, each of which the others can be held against."""

from collections.abc import Callable

from django.test import Client

from apps.inventory.models import Host
from tests.comparison.like_for_like.test_missing_plan import FIVE, QUESTION, host, measure, offer

__all__ = ["host"]  # the fixture


def test_one_level_alone_is_not_offered_to_hold_others_against(sign_in: Callable[[str], Client], host: Host) -> None:
    measure(offer(host, "data", "ext4"), FIVE)
    client = sign_in("viewer")
    alone = client.get(f"{QUESTION}?operation=read&metric=bandwidth").content.decode()
    assert "<li>ext4: 5 runs</li>" in alone
    assert "hold others against it" not in alone
    measure(offer(host, "fast", "xfs"), [2.6e8])
    both = client.get(f"{QUESTION}?operation=read&metric=bandwidth").content.decode()
    assert both.count("hold others against it") == 2
