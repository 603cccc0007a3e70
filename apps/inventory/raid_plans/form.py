"""What a RAID plan's address says: `?level=6&level=10&arrays=1&spares=1&chunk=524288&disks=3&disks=7`. Page and REST read it alike."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from apps.core.forms import SiteForm
from apps.inventory.raid_plans.rows import Offer
from apps.inventory.raid_plans.wish import CHUNK, FILESYSTEMS, LEVELS, MOST_ARRAYS, MOST_COMPARED, TITLES, RaidWish

KIB = 1024
CHUNKS = [
    (size * KIB, f"{size} KiB" if size < KIB else f"{size // KIB} MiB")
    for size in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
]


def _number(label: str, most: int, first: int = 1, **more: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=first, max_value=most, **more)


class RaidPlanForm(SiteForm):
    """Nothing but `level` is needed; `size` is in bytes."""

    level = forms.MultipleChoiceField(
        choices=[(level, TITLES[level]) for level in LEVELS],
        widget=forms.CheckboxSelectMultiple,
        label="Level, up to three",
    )
    arrays = _number("Arrays", MOST_ARRAYS)
    members = _number("Members in each", 4096, help_text="Without spares. Empty: as many as there are.")
    groups = _number("Groups of RAID 50 and 60", MOST_ARRAYS, 2)
    spares = _number("Spares in each group", 16, 0)
    chunk = forms.TypedChoiceField(choices=CHUNKS, coerce=int, required=False, label="Chunk")
    filesystem = forms.ChoiceField(choices=[(name, name) for name in FILESYSTEMS], required=False, label="Filesystem")
    name = forms.RegexField(
        r"\A[A-Za-z0-9][A-Za-z0-9_-]{0,30}\Z", required=False, label="Name", help_text="Of the array: /dev/md/name."
    )

    def __init__(self, query_dict: QueryDict) -> None:
        """Fill in defaults for what the address does not say; the level is then RAID 6."""
        data = query_dict.copy()
        for name, value in _initial().items():
            if name not in data:
                data[name] = str(value)
        if query_dict.getlist("level"):
            data.setlist(
                "level", [level for given in query_dict.getlist("level") for level in given.split(",") if level]
            )
        super().__init__(data)

    def clean_level(self) -> list[str]:
        levels: list[str] = self.cleaned_data["level"]
        if len(levels) > MOST_COMPARED:
            raise forms.ValidationError(f"Found {len(levels)} levels, expected at most {MOST_COMPARED} side by side.")
        return levels

    def wishes(self) -> list[RaidWish]:
        data = self.cleaned_data
        return [
            RaidWish(
                level,
                data["arrays"] or 1,
                data["members"],
                data["groups"] or 2,
                data["spares"] or 0,
                data["chunk"] or CHUNK,
                data["filesystem"] or FILESYSTEMS[0],
                data["name"] or "data",
            )
            for level in data["level"]
        ]


def _initial() -> dict[str, object]:
    return {
        "level": "6",
        "arrays": 1,
        "groups": 2,
        "spares": 0,
        "chunk": CHUNK,
        "filesystem": FILESYSTEMS[0],
        "name": "data",
    }


def chosen_disks(query_dict: QueryDict, offered: Sequence[Offer]) -> tuple[list[Offer], list[str]]:
    """Return the disks that `disks` names, else all offered ones, and sentences on what could not be used.

    `disks=3,7` and `disks=3&disks=7` are the same; `size` keeps only disks of that many bytes.
    """
    wanted = {word for given in query_dict.getlist("disks") for word in given.split(",") if word}
    by_id = {str(offer.disk.pk): offer for offer in offered}
    size = query_dict.get("size", "")
    results = [
        offer
        for offer in offered
        if (str(offer.disk.pk) in wanted or not wanted) and size in ("", str(offer.disk.capacity_bytes))
    ]
    unknown = sorted(word[:20] for word in wanted if word not in by_id)
    refused = [f"{offer.disk} is not proposed: {offer.why_not}." for offer in results if offer.why_not and wanted]
    if unknown:
        refused.append(f"Found {', '.join(unknown[:5])} in disks, expected numbers of this host's disks.")
    return results, refused
