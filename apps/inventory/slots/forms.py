"""Forms of the slot map: an enclosure's layout, a driver's listing, one disk into one slot."""

from typing import Any

from django import forms
from django.db import transaction

from apps.core.forms import SiteForm
from apps.inventory.models import Disk, Enclosure, Host
from apps.inventory.slots import layout as physical
from apps.inventory.slots.assignment import SlotWish
from apps.inventory.slots.driver_listing import Listing, read, read_slots
from apps.inventory.slots.driver_names import DISKS_PER_CONTROLLER
from apps.inventory.slots.names import SlotError, slot_named
from apps.inventory.vocabulary import EnclosureKind, NamingRule

PRESETS = [
    ("", "the rows as they stand below"),
    *((key, title) for key, (title, _) in physical.PRESETS.items()),
    ("grid", "rows × columns, as given here"),
    ("controllers", "controllers in the order given here"),
]
ORDERS = [("across", "across: each row from left to right"), ("down", "down: each column from top to bottom")]
MOST_TEXT = 500_000  # characters
TEXT = {"rows": 8, "spellcheck": "false", "autocomplete": "off", "class": "form-control mono"}


def _number(label: str, most: int, first: int = 1) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=first, max_value=most)


class EnclosureForm(SiteForm):
    """The form of an enclosure.

    `clean` leaves `layout` as JSON in `cleaned_data`; `filled` means that only the preset's rows were asked for.
    """

    name = forms.CharField(max_length=120, label="Name")
    kind = forms.ChoiceField(choices=[("", "not known"), *EnclosureKind.choices], required=False, label="Kind")
    vendor = forms.CharField(max_length=120, required=False)
    model = forms.CharField(max_length=200, required=False)
    preset = forms.ChoiceField(choices=PRESETS, required=False, label="Fill the rows from")
    rows = _number("Rows", physical.MOST_ROWS)
    columns = _number("Columns", physical.MOST_COLUMNS)
    order = forms.ChoiceField(choices=ORDERS, required=False, label="Counted")
    first = _number("First slot's number", 1, 0)
    controllers = forms.CharField(
        max_length=2000, required=False, label="Controllers, top to bottom", help_text="0, 1, 4, 5, 2, 3"
    )
    disks_per_controller = _number("Disks per controller", 256)
    descending = forms.BooleanField(required=False, label="Disk numbers fall from left to right")
    layout = forms.CharField(
        max_length=MOST_TEXT,
        widget=forms.Textarea(attrs={**TEXT, "rows": 14}),
        required=False,
        label="Rows, from top to bottom",
        help_text="One line for each row: <code>Ctrl 0: c0d3 c0d2 c0d1 c0d0</code>. <code>-</code> is a gap; the label may be missing.",
    )
    boot_slots = forms.CharField(max_length=2000, required=False, label="Boot slots", help_text="c3d0 c3d4")
    naming_rule = forms.ChoiceField(
        choices=[("", "none"), *NamingRule.choices], required=False, label="Rule that names devices"
    )
    version = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, host: Host, enclosure: Enclosure | None = None, data: object = None) -> None:
        self.host, self.enclosure = host, enclosure
        super().__init__(data, initial=_initial(enclosure))

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"]).strip()
        others = Enclosure.objects.filter(host=self.host, name=name).exclude(pk=self.enclosure and self.enclosure.pk)
        if others.exists():
            raise forms.ValidationError(f"This host has an enclosure “{name}” already; expected another name.")
        return name

    def clean_boot_slots(self) -> list[str]:
        words = self.cleaned_data["boot_slots"].replace(",", " ").split()
        return [str(_checked(slot_named, word)) for word in words]

    def clean_version(self) -> str:
        version, now = self.cleaned_data["version"], version_of(self.enclosure)
        if version and version != now:
            raise forms.ValidationError(
                "Somebody has changed this enclosure since you opened it. "
                "Your rows are kept below; open it anew to see theirs."
            )
        return str(version)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        try:
            rows = self.rows_wanted(data)
            data["rows_found"], data["layout"] = rows, physical.as_json(rows)
        except SlotError as error:
            raise forms.ValidationError({"layout": str(error)}) from None
        slots = {str(slot) for slot in physical.slots_in(rows)}
        if missing := [name for name in data["boot_slots"] if name not in slots]:
            raise forms.ValidationError(
                {"boot_slots": f"Found {', '.join(missing)}, expected slots of the rows below."}
            )
        return data

    def rows_wanted(self, data: dict[str, Any]) -> physical.Rows:
        preset = data.get("preset")
        if preset in physical.PRESETS:
            return physical.PRESETS[preset][1]
        if preset == "grid":
            return physical.grid(data["rows"] or 0, data["columns"] or 0, data["order"] or "across", data["first"] or 0)
        if preset == "controllers":
            disks = data["disks_per_controller"] or DISKS_PER_CONTROLLER
            return physical.by_controller(
                _controllers(data["controllers"]), disks, data["columns"] or disks, data["descending"]
            )
        return physical.from_text(data["layout"])

    def as_filled(self) -> "EnclosureForm":
        """Return the same form with the preset's rows as text, to look at before they are saved."""
        data: Any = self.data.copy()  # type: ignore[attr-defined]
        data["layout"], data["preset"] = physical.as_text(self.cleaned_data["rows_found"]), ""
        if self.cleaned_data["preset"] == "x4500":
            data["boot_slots"] = data.get("boot_slots") or " ".join(map(str, physical.X4500_BOOT))
            data["naming_rule"] = data.get("naming_rule") or str(NamingRule.DRIVER_ENTRY)
            data["disks_per_controller"] = data.get("disks_per_controller") or str(DISKS_PER_CONTROLLER)
        return EnclosureForm(self.host, self.enclosure, data)

    def save(self) -> Enclosure:
        """Save the enclosure; its disks stay in it when it is renamed."""
        data = self.cleaned_data
        row = self.enclosure or Enclosure(lab_id=self.host.lab_id, host=self.host)
        before = row.name
        for name in ("name", "kind", "vendor", "model", "layout", "boot_slots", "naming_rule", "disks_per_controller"):
            if getattr(row, name) != data[name]:
                setattr(row, name, data[name])
                row.sources = {**row.sources, name: "typed"}
        with transaction.atomic():
            row.save()
            row.take_along(before)
        return row


def version_of(enclosure: Enclosure | None) -> str:
    return enclosure.updated_at.isoformat() if enclosure else ""


def _initial(row: Enclosure | None) -> dict[str, object]:
    if row is None:
        return {"order": "across", "version": ""}
    try:
        text = physical.as_text(physical.rows_of(row.layout))
    except SlotError:
        text = ""
    boot = " ".join(map(str, row.boot_slots)) if isinstance(row.boot_slots, list) else ""
    fields = ("name", "kind", "vendor", "model", "naming_rule", "disks_per_controller")
    return {name: getattr(row, name) for name in fields} | {
        "layout": text,
        "boot_slots": boot,
        "version": version_of(row),
    }


def _controllers(text: str) -> list[int]:
    words = text.replace(",", " ").split()
    if not words or not all(word.isascii() and word.isdigit() and len(word) <= 4 for word in words):
        raise SlotError(text, "controller numbers such as 0, 1, 4, 5, 2, 3")
    return list(map(int, words))


def _checked(reader: Any, *told: Any) -> Any:
    try:
        return reader(*told)
    except SlotError as error:
        raise forms.ValidationError(str(error)) from None


class PlaceForm(SiteForm):
    listing = forms.CharField(
        max_length=MOST_TEXT,
        widget=forms.Textarea(attrs={**TEXT, "rows": 12}),
        required=False,
        label="The driver's listing, or slots with device names",
        help_text="What <code>grep . /proc/scsi/mvSata/*</code> prints, in any order; or lines such as <code>c1d0 sda</code>. "
        "<code>...</code> says that lines are left out.",
    )
    inferred = forms.CharField(
        max_length=MOST_TEXT,
        widget=forms.Textarea(attrs={**TEXT, "rows": 3}),
        required=False,
        label="Slots that hold a disk by inference",
        help_text="Slots or entry numbers that nobody printed: <code>c2d1 c2d4 37</code>. They are marked as inferred.",
    )
    makes_new = forms.BooleanField(
        required=False, initial=True, label="Enter disks that the inventory does not have yet"
    )
    gives_names = forms.BooleanField(
        required=False, initial=True, label="Name devices by the rule, in ascending order of entries"
    )

    def __init__(self, enclosure: Enclosure, data: object = None) -> None:
        self.per = enclosure.disks_per_controller or DISKS_PER_CONTROLLER
        super().__init__(data)
        if not enclosure.naming_rule:  # then no name follows from a place
            del self.fields["gives_names"]

    def clean_listing(self) -> Listing:
        checked: Listing = _checked(read, self.cleaned_data["listing"], self.per)
        return checked

    def clean_inferred(self) -> Any:
        return _checked(read_slots, self.cleaned_data["inferred"], self.per)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if not self.errors and not data["listing"].entries and not data["inferred"]:
            raise forms.ValidationError("Found no slot, expected a listing or slots.")
        return data

    def wish(self) -> SlotWish:
        data = self.cleaned_data
        return SlotWish(data["listing"], data["inferred"], data["makes_new"], data.get("gives_names", False))


class SlotPutForm(SiteForm):
    """One disk of the host into one slot of the enclosure."""

    slot = forms.CharField(label="Slot", widget=forms.TextInput(attrs={"size": 8, "list": "slots-known"}))
    disk: "forms.ModelChoiceField[Disk]" = forms.ModelChoiceField(queryset=None, label="Disk", empty_label="choose …")

    def __init__(self, enclosure: Enclosure, data: object = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        field = self.fields["disk"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = Disk.objects.filter(host=enclosure.host_id, lab_id=enclosure.lab_id)

    def clean_slot(self) -> Any:
        return _checked(slot_named, self.cleaned_data["slot"])
