"""Every combination of the values that somebody lists."""

from apps.core.units import size as size_words
from apps.plans.presets.preset import PlanPointData, Preset, PresetOptions, make_point, words_of


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return a point for each combination, direct; a label names what varies."""
    lists = (options.file_sizes, options.block_sizes, options.iodepths, options.numjobs)
    varies = [len(values) > 1 for values in lists]
    points = []
    for rw in options.patterns:
        for size in options.file_sizes:
            for block in options.block_sizes:
                for depth in options.iodepths:
                    for jobs in options.numjobs:
                        words = (words_of(size), f"by {size_words(block)}", f"depth {depth}", f"{jobs} jobs")
                        label = " ".join(
                            [rw, *(word for word, is_shown in zip(words, varies, strict=True) if is_shown)]
                        )
                        points.append(
                            make_point(label, rw, size, block, runtime=options.runtime, numjobs=jobs, iodepth=depth)
                        )
    return points


PRESET = Preset(
    name="matrix",
    title="Matrix of my own values",
    text="Every combination of the patterns, sizes, depths and job counts that you list.",
    file_sizes="4g",
    make_points=make_points,
    runtime=30,
    options={"patterns": "randread, randwrite", "block_sizes": "4k..1m", "iodepths": "1,16", "numjobs": "1"},
)
