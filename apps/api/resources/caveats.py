"""Caveats, which runs, comparisons and studies show."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.comparison.caveats.rule import Caveat
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
