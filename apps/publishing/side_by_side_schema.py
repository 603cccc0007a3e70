"""The shape of `compare/side-by-side/` in the REST interface's description."""

from typing import Any

from rest_framework import serializers as s


class SideColumn(s.Serializer[Any]):
    id = s.IntegerField(help_text="of the target, or of the study's configuration")
    name = s.CharField()
    ram = s.FloatField(allow_null=True, help_text="of the host in its last run, bytes")


class SideCell(s.Serializer[Any]):
    column = s.IntegerField()
    n = s.IntegerField()
    without = s.IntegerField(help_text="samples that are no number")
    mean = s.FloatField(allow_null=True)
    stdev = s.FloatField(allow_null=True)
    half_interval = s.FloatField(allow_null=True, help_text="half of the mean's 95 % interval")
    minimum = s.FloatField(allow_null=True)
    maximum = s.FloatField(allow_null=True)
    low = s.FloatField(allow_null=True, help_text="lower bound of those that are a range")
    high = s.FloatField(allow_null=True)
    in_ram = s.BooleanField(help_text="the file is no larger than RAM and went through the page cache")
    partly_in_ram = s.BooleanField(help_text="it is larger than RAM, and smaller than the plan asks")
    ratio = s.FloatField(allow_null=True, help_text="to the baseline, of geometric means")
    ratio_low = s.FloatField(allow_null=True)
    ratio_high = s.FloatField(allow_null=True)
    p = s.FloatField(allow_null=True, help_text="before Holm's correction, which the verdict follows")
    verdict = s.CharField(allow_null=True)


class SideRow(s.Serializer[Any]):
    operation = s.CharField()
    metric = s.CharField()
    unit = s.CharField()
    higher_is_better = s.BooleanField()
    file_size = s.IntegerField(allow_null=True)
    block_size = s.IntegerField(allow_null=True)
    threads = s.IntegerField(allow_null=True)
    iodepth = s.IntegerField(allow_null=True)
    section = s.IntegerField(help_text="part of the tool's output, such as a job")
    parts = s.ListField(child=s.CharField(), help_text="what the cells' runs call it, where they have several")
    cells = SideCell(many=True, help_text="of the columns that were measured here")


class SideBySide(s.Serializer[Any]):
    columns = SideColumn(many=True)
    baseline = s.IntegerField(allow_null=True, help_text="id of a column")
    last = s.IntegerField(help_text="runs of each target that count; all of a study's")
    rows = SideRow(many=True)
    permalink = s.URLField()
