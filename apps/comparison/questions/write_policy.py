"""Write-back against write-through."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import RANDOM_WRITES_FIRST, Factor, Facts, named

WORDS = {
    "write-back": "write-back", "write back": "write-back", "writeback": "write-back", "wb": "write-back",
    "write-through": "write-through", "write through": "write-through", "writethrough": "write-through",
    "wt": "write-through", "none": "write-through",
}  # fmt: skip


def level_of(facts: Facts) -> str | None:
    """Return `write-back` or `write-through`, however the controller's tool spells it."""
    value = facts.get("write_policy") or facts.get("cache_policy") or ""
    return WORDS.get(value.strip().lower().replace("_", "-"))


FACTOR = Factor(
    name="write_policy",
    fact="write_policy",
    title=_("Write cache: write-back against write-through"),
    question=_("Is write-back faster than write-through?"),
    level_of=level_of,
    asks=RANDOM_WRITES_FIRST,
    own=("write_policy", "cache_policy"),
    implied=("cache_protection",),
    first=("write-through",),
    name_of=named({"write-back": _("write-back"), "write-through": _("write-through")}),
)
