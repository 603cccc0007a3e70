"""Host and target as one choice: a target says its host, so that the two never contradict each other."""

from typing import Any

from django import forms

from apps.inventory.models import Host, Target
from apps.labs.models import Lab

Place = tuple[Host | None, Target | None]
NOWHERE = "not said"


class PlaceField(forms.ChoiceField):
    """`host-3` or `target-7` of one lab; cleans to (host, target)."""

    def __init__(self, lab: Lab | None = None, **options: Any) -> None:
        super().__init__(**{"required": False, "label": "Host and target", **options})
        self.lab = lab

    def of(self, lab: Lab, hosts: list[Host]) -> None:
        self.lab = lab
        self.choices = place_choices(hosts)

    def clean(self, value: Any) -> Any:
        return found_place(self.lab, super().clean(value))


def hosts_with_targets(lab: Lab) -> list[Host]:
    return list(Host.objects.filter(lab=lab).order_by("name").prefetch_related("targets"))


def place_choices(hosts: list[Host]) -> list[Any]:
    choices: list[Any] = [("", NOWHERE)]
    for host in hosts:
        targets = [(f"target-{one.pk}", f"{host}: {one.name}") for one in host.targets.all()]
        choices.append((host.name, [(f"host-{host.pk}", f"{host}, no target"), *targets]))
    return choices


def place_value(host_id: int | None, target_id: int | None) -> str:
    return f"target-{target_id}" if target_id else f"host-{host_id}" if host_id else ""


def found_place(lab: Lab | None, value: str) -> Place:
    kind, _, number = value.partition("-")
    if kind == "target":
        target = Target.objects.select_related("host").get(pk=int(number), lab=lab)
        return target.host, target
    return (Host.objects.get(pk=int(number), lab=lab), None) if kind == "host" else (None, None)
