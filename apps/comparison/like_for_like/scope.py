"""Whose runs a question is asked of: the lab's own, and those of published reports where the address asks for them."""

from collections.abc import Collection

from apps.comparison.like_for_like.selection import FactorSelection
from apps.labs.isolation import visible_labs
from apps.labs.models import Lab


def labs_of(own: int, selection: FactorSelection) -> Collection[int]:
    """Return the ids of the labs whose runs count, all of which the request may read.

    A study is named by its address alone, so its question goes to every lab that may be read.
    """
    if not selection.published and not selection.study:
        return [own]
    visible = visible_labs()
    if visible is None:
        return [own, *Lab.objects.filter(is_published=True).values_list("pk", flat=True)]
    return visible
