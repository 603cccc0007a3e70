"""Sequential writing and reading over file sizes up to four times the RAM, where the page cache no longer helps."""

from apps.plans.presets.preset import MIB, PlanPointData, Preset, PresetOptions, make_point, words_of


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return a write and a read for each file size, buffered, with an fsync at the end of writing."""
    return [
        make_point(f"{rw} {words_of(size)}", rw, size, MIB, direct=False, end_fsync=rw == "write")
        for size in options.file_sizes
        for rw in ("write", "read")
    ]


PRESET = Preset(
    name="size-sweep",
    title="File size sweep to 4 × RAM",
    text="From which file size on the page cache no longer helps, and what is left then (CRS4's procedure).",
    file_sizes="0.25x, 0.5x, 1x, 2x, 4x RAM",
    make_points=make_points,
)
