"""Four runs of a minute: sequential and random, reading and writing."""

from apps.plans.presets.preset import KIB, MIB, PlanPointData, Preset, PresetOptions, make_point, words_of

KINDS = (("read", MIB, 8), ("write", MIB, 8), ("randread", 4 * KIB, 32), ("randwrite", 4 * KIB, 32))


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return the four points; the first file size counts for all."""
    size = options.file_sizes[0]
    return [
        make_point(f"{rw} {words_of(size)}", rw, size, block, runtime=options.runtime or 60, iodepth=depth)
        for rw, block, depth in KINDS
    ]


PRESET = Preset(
    name="quick-check",
    title="Quick check",
    text="Sequential and random speed of a target in some five minutes, direct.",
    file_sizes="4g",
    make_points=make_points,
    runtime=60,
    rule={"kind": "fixed", "rounds": 1},
)
