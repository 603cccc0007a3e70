"""Pages of parts by kind and id: the pattern is looked up once, for drawings and trees name thousands."""

from functools import lru_cache

from django.urls import reverse

_NO_ID = 987654321


@lru_cache
def _pattern(route: str) -> tuple[str, str]:
    before, _, after = reverse(route, args=[_NO_ID]).partition(str(_NO_ID))
    return before, after


def page_of(kind: str, pk: int) -> str:
    """`/disks/7/` for (`disk`, 7)."""
    before, after = _pattern(kind)
    return f"{before}{pk}{after}"
