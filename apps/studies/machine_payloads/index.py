"""The index of a report's machines: hosts, controllers and disks, which the report joins by names."""

from apps.studies.machine_payloads.part_text import NOT_PRINTED, Entry


class MachineIndex:
    """A study.yaml with its entries by name, and the keys of the disks that have been described so far."""

    def __init__(self, study: Entry) -> None:
        self.study = study
        self.host_entries: list[Entry] = list(study.get("hosts") or [])
        self.controller_entries = {controller["id"]: controller for controller in study.get("controllers") or []}
        self.disk_entries = {disk["id"]: disk for disk in study.get("disks") or []}
        self.array_entries: list[Entry] = list(study.get("arrays") or [])
        self.slot_map: Entry = study.get("slot_map") or {}
        self.by_device: dict[tuple[str, str], str] = {}  # (host, sda) → key
        self.by_kind: dict[tuple[str, str], list[str]] = {}  # (host, kind of disk) → keys

    def host_of(self, entry: Entry) -> str:
        """Return the host of an entry: by a configuration, its controller, or a common word; else the study's first host."""
        names = [host["name"] for host in self.host_entries]
        names_given = [
            configuration.get("host")
            for configuration in self.study.get("configurations") or []
            if configuration.get("array") == entry["name"]
        ]
        controller = self.controller_entries.get(entry.get("controller") or entry["name"], {})
        alike = [name for name in names if set(name.split("-")) & set(str(entry["name"]).split("-"))]
        matches = [name for name in [*names_given, controller.get("host"), *alike] if name in names]
        return str(matches[0] if matches else names[0])

    def controllers_of(self, host: Entry) -> list[Entry]:
        named = [name for name in host.get("controllers") or [] if name in self.controller_entries]
        words = [
            key
            for key, entry in self.controller_entries.items()
            if host["name"] in str(entry.get("host") or "").split(", ") and key not in named
        ]
        return [self.controller_entries[name] for name in [*named, *words]]

    def controller_key(self, host: str, entry: Entry) -> str:
        return f"controller {host} {entry['id']}"

    def controller_name(self, entry: Entry) -> str:
        model = entry.get("model")
        return str(entry["id"] if model is None or NOT_PRINTED.match(str(model)) else model)

    def has_slots(self, host: str) -> bool:
        return bool(self.slot_map) and any(entry["name"] == host and entry.get("slots") for entry in self.host_entries)

    def slot_numbers(self, host: str) -> list[int]:
        return list(range(int(self.slot_map.get("controllers") or 0))) if self.has_slots(host) else []


def is_zero_channel(entry: Entry) -> bool:
    return "zero-channel" in str(entry.get("bus"))
