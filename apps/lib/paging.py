"""Pages of lists that may have hundreds of thousands of rows."""

from functools import cached_property
from typing import Any

from django.core.paginator import Paginator

MOST = 10_000


class CappedPaginator(Paginator):  # type: ignore[type-arg]  # not subscriptable at run time
    """Counts no further than `MOST` rows, because to count all of them takes longer than to show a page. Those after them are found by
    narrowing the list; `is_capped` says that there are some.
    """

    @cached_property
    def _counted(self) -> int:
        found: Any = self.object_list
        return int(found.order_by()[: MOST + 1].count())

    @cached_property
    def count(self) -> int:
        return min(self._counted, MOST)

    @property
    def is_capped(self) -> bool:
        return self._counted > MOST
