"""The run's folder lies on the filesystem that the plan is for, mounted with the options that were recorded of it."""

from typing import Any, Dict, Set

from .. import mount
from .evidence import FAILED, NOT_CHECKED, PASSED, HostFinding, RunSite

KIND, LABEL = "filesystem", "filesystem as planned"
RENAMED_AT_WILL = ("subvolid",)  # numbers of which the name is an option of its own


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Compare the mount of the open folder with what the server recorded: type, source or UUID, options."""
    expected = asked.get("expected")
    if type(expected) is not dict or not expected.get("type"):
        return HostFinding(
            NOT_CHECKED, "the server has not recorded what the directory lies on", _facts(site.place), {}
        )
    place, limits = site.place, _facts(expected)
    if not mount.is_same(expected, place):
        text = f"found {mount.words(place)}, expected {mount.words(expected)}"
        return HostFinding(FAILED, text, _facts(place), limits)
    if not expected.get("options"):
        text = f"{mount.words(place)}, as planned; the server has no mount options of it"
        return HostFinding(NOT_CHECKED, text, _facts(place), limits)
    now, before = _options(place.get("options")), _options(expected.get("options"))
    if now != before:
        text = "; ".join(
            f"{word} {', '.join(sorted(options))}"
            for word, options in (("new options", now - before), ("missing options", before - now))
            if options
        )
        return HostFinding(FAILED, text, _facts(place), limits)
    return HostFinding(PASSED, f"{mount.words(place)}, {place['options']}", _facts(place), limits)


def _options(text: Any) -> Set[str]:
    words = text.split(",") if type(text) is str else []
    return {word for word in words if word.split("=")[0] not in RENAMED_AT_WILL}


def _facts(place: Dict[str, Any]) -> Dict[str, Any]:
    return {name: str(place[name])[:1000] for name in ("type", "source", "uuid", "options") if place.get(name)}
