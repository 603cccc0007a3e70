"""Files × records in IOzone's way: every file size with every block size, writing and reading."""

from apps.core.units import size as size_words
from apps.plans.presets.preset import PlanPointData, Preset, PresetOptions, make_point, words_of


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return a point for each pattern, file size and block size, buffered, with an fsync at the end of writing."""
    return [
        make_point(
            f"{rw} {words_of(size)} by {size_words(block)}", rw, size, block, direct=False, end_fsync="write" in rw
        )
        for rw in options.patterns
        for size in options.file_sizes
        for block in options.block_sizes
        if size.bytes is None or block <= size.bytes
    ]


PRESET = Preset(
    name="file-record-matrix",
    title="File × record matrix",
    text="How throughput depends on file size and block size together (IOzone's -a, the Thumper report's matrix).",
    file_sizes="64m, 1g, 8g",
    make_points=make_points,
    options={"patterns": "write, read", "block_sizes": "4k, 64k, 1m, 16m"},
)
