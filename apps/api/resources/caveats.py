"""Caveats, which runs, comparisons and studies show."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.comparison.caveats.rule import Caveat
from apps.comparison.like_for_like.set_caveats.findings import SetCaveat, SetCaveats, by_level
from apps.core.quantities import all_written
from apps.core.unit_base import base


class CaveatSerializer(serializers.Serializer[Any]):
    """A rule's finding about a run or a comparison, with its arithmetic in the units that the address asks for."""

    rule = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    arithmetic = serializers.SerializerMethodField()
    runs = serializers.ListField(child=serializers.IntegerField())
    cells = serializers.SerializerMethodField()
    series = serializers.ListField(child=serializers.CharField())

    def get_arithmetic(self, caveat: Caveat) -> list[str]:
        return list(all_written(caveat.arithmetic, base()))

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_cells(self, caveat: Caveat) -> list[dict[str, object]]:
        return [{"x": x, "series": series} for x, series in caveat.cells]


class SetCaveatSerializer(serializers.Serializer[SetCaveat]):
    """A rule's finding about the runs in matched sets."""

    rule = serializers.CharField()
    title = serializers.CharField(source="caveat.title")
    text = serializers.CharField(source="caveat.text")
    arithmetic = serializers.SerializerMethodField()
    runs = serializers.ListField(child=serializers.IntegerField(), help_text="ids of the runs that it is true of")
    sets = serializers.SerializerMethodField(help_text="matched sets that have such runs")
    levels = serializers.SerializerMethodField(help_text="those whose runs have it, with their number of such runs")
    whole_levels = serializers.SerializerMethodField(help_text="those all of whose runs have it in some set")

    def get_arithmetic(self, one: SetCaveat) -> list[str]:
        return list(all_written(one.caveat.arithmetic, base()))

    def get_sets(self, one: SetCaveat) -> int:
        return len(one.sets)

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_levels(self, one: SetCaveat) -> dict[str, int]:
        return {level: len(runs) for level, runs in by_level(one.concerned).items()}

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_whole_levels(self, one: SetCaveat) -> list[str]:
        return sorted({level for _number, level in one.whole})


class LookedAtSerializer(serializers.Serializer[SetCaveats]):
    """In how many runs caveats were looked for."""

    runs = serializers.IntegerField(source="looked", help_text="at most 400")
    of = serializers.IntegerField(source="total", help_text="runs in the sets")
