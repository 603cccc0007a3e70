"""The same write three times: no sync, one fdatasync at the end, and every block synchronous."""

from apps.plans.presets.preset import MIB, PlanPointData, Preset, PresetOptions, make_point, words_of


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return the three points for each file size, buffered, in blocks of 1 MiB."""
    points = []
    for size in options.file_sizes:
        words = words_of(size)
        points += [
            make_point(f"{words} without sync", "write", size, MIB, direct=False),
            make_point(f"{words} fsync at the end", "write", size, MIB, direct=False, end_fsync=True),
            make_point(f"{words} O_DSYNC", "write", size, MIB, direct=False, sync="dsync"),
        ]
    return points


PRESET = Preset(
    name="sync-trio",
    title="Sync trio",
    text="How much of a write speed is memory: without sync, with an fsync at the end, with O_DSYNC (the DTN report's dd trio).",
    file_sizes="10g",
    make_points=make_points,
)
