"""What a plan's cell measured, as REST shows it: by operation, and of each job where several run at the same time."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.api.fields import NumberField
from apps.studies.plans.plan_page import CellValue, OperationValue

Json = dict[str, Any]


class CellValueSerializer(serializers.Serializer[CellValue]):
    """What the runs of a cell measured."""

    mean = NumberField(help_text="in base units: B/s, 1/s, ns")
    half_width = NumberField(allow_null=True, help_text="half of the 95 % interval; null with fewer than three runs")
    n = serializers.IntegerField(help_text="runs")


class CellJobSerializer(serializers.Serializer[Any]):
    """What one of several jobs of a point measured of an operation."""

    job = serializers.IntegerField(help_text="its place in the point's `jobs`, from 0")
    label = serializers.CharField()  # type: ignore[assignment]
    values = serializers.DictField(child=CellValueSerializer())


class CellOperationSerializer(serializers.Serializer[Any]):
    """What the runs of a cell measured of one operation."""

    operation = serializers.CharField()
    values = serializers.DictField(
        child=CellValueSerializer(),
        help_text="by metric. Of several jobs what they did together: rates are all bytes or I/Os over the longest run time, "
        "mean latencies those over all I/Os, percentiles the highest; rates of jobs that begin at different times are left out",
    )  # fmt: skip
    jobs = CellJobSerializer(many=True, help_text="each by itself, where the point has several")


def values_by_metric(values: Mapping[str, CellValue | None]) -> Json:
    """Return the values that there are, as REST shows them."""
    return {metric: CellValueSerializer(value).data for metric, value in values.items() if value}


def represent_operation(name: str, found: Mapping[str, OperationValue | None]) -> Json:
    """Return what a cell's runs measured of one operation; `found` by metric."""
    jobs: dict[int, Json] = {}
    for metric, entry in found.items():
        for of_job in entry.jobs if entry else ():
            known = jobs.setdefault(of_job.job, {"job": of_job.job, "label": of_job.words, "values": {}})
            known["values"] |= values_by_metric({metric: of_job.value})
    values = values_by_metric({metric: entry.value if entry else None for metric, entry in found.items()})
    return {"operation": name, "values": values, "jobs": [jobs[number] for number in sorted(jobs)]}
