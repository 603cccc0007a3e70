"""The questions that a lab asks, in the order of the page; a module for each."""

from apps.comparison.questions import (
    chunk_size,
    controller_cache,
    direct,
    disk,
    environment,
    file_against_ram,
    filesystem,
    firmware,
    host,
    interface,
    kernel,
    mount_options,
    raid_implementation,
    raid_level,
    write_policy,
)
from apps.comparison.questions.factor import Factor, Measure

FACTORS: tuple[Factor, ...] = tuple(
    module.FACTOR
    for module in (
        interface, raid_implementation, raid_level, chunk_size, filesystem, mount_options, controller_cache,
        write_policy, environment, file_against_ram, kernel, firmware, direct, host, disk,
    )
)  # fmt: skip
BY_NAME = {factor.name: factor for factor in FACTORS}
MEASURES: tuple[Measure, ...] = tuple(dict.fromkeys(measure for factor in FACTORS for measure in factor.asks))
