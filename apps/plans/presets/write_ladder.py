"""Writes from small to large files, each synced: where a controller's cache is full."""

from apps.plans.presets.preset import MIB, PlanPointData, Preset, PresetOptions, make_point, words_of


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return a synced write for each file size in blocks of 1 MiB."""
    return [
        make_point(f"write {words_of(size)}", "write", size, MIB, direct=False, end_fsync=True)
        for size in options.file_sizes
    ]


PRESET = Preset(
    name="write-ladder",
    title="Small-to-large write ladder",
    text="At which amount of data a write cache is full, and what the disks do then (the ladder of the SAS and SATA report).",
    file_sizes="16m..8g",
    make_points=make_points,
)
