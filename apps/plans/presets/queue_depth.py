"""Random reads with more and more I/Os in flight."""

from apps.plans.presets.preset import KIB, PlanPointData, Preset, PresetOptions, make_point, words_of


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return a point for each pattern and depth; the first file size counts for all."""
    size = options.file_sizes[0]
    return [
        make_point(
            f"{rw} {words_of(size)} depth {depth}", rw, size, 4 * KIB, runtime=options.runtime or 30, iodepth=depth
        )
        for rw in options.patterns
        for depth in options.iodepths
    ]


PRESET = Preset(
    name="queue-depth",
    title="Queue depth ladder",
    text="How IOPS and latency grow with the I/Os in flight, 4 KiB random, direct.",
    file_sizes="4g",
    make_points=make_points,
    runtime=30,
    options={"patterns": "randread", "iodepths": "1,2,4..256"},
)
