"""The shapes of studies, their tables and charts in the REST interface's description."""

from typing import Any

from rest_framework import serializers as s


class StudyOwn(s.Serializer[Any]):
    id = s.IntegerField()
    url = s.URLField()
    page = s.URLField()
    slug = s.CharField()
    title = s.CharField()
    title_english = s.CharField()
    question = s.CharField()
    site = s.CharField()
    year = s.CharField(help_text="as known: 2008, or `not before 2004`")
    language = s.CharField()
    source = s.CharField()  # type: ignore[assignment]
    notes = s.CharField()
    lab = s.CharField()
    is_published = s.BooleanField()


class StudySummary(StudyOwn):
    configuration_count = s.IntegerField()
    run_count = s.IntegerField()
    claim_count = s.IntegerField()


class StudyConfiguration(s.Serializer[Any]):
    name = s.CharField()
    label = s.CharField()  # type: ignore[assignment]
    position = s.IntegerField()
    host = s.IntegerField(allow_null=True)
    host_name = s.CharField(allow_null=True)
    target = s.IntegerField(allow_null=True)
    runs = s.IntegerField()


class StudyTableLink(s.Serializer[Any]):
    name = s.CharField()
    title = s.CharField()
    source_lines = s.CharField()
    url = s.URLField()


class StudyChartLink(s.Serializer[Any]):
    name = s.CharField()
    title = s.CharField()
    is_drawn = s.BooleanField()
    not_drawn = s.CharField(help_text="why it cannot be drawn")
    report = s.DictField(help_text="the report's own words: kind, axes, series")
    url = s.URLField()


class StudyPlan(s.Serializer[Any]):
    id = s.IntegerField()
    name = s.CharField()


class StudyClaims(s.Serializer[Any]):
    count = s.IntegerField()
    verdicts = s.DictField(child=s.IntegerField())
    url = s.URLField()


class Study(StudyOwn):
    configurations = StudyConfiguration(many=True)
    tables = StudyTableLink(many=True)
    charts = StudyChartLink(many=True)
    claims = StudyClaims()
    plan = StudyPlan(many=True)
    caveats = s.ListField(child=s.DictField())
    links = s.DictField(child=s.URLField())


class TableSample(s.Serializer[Any]):
    sample = s.IntegerField()
    run = s.IntegerField()
    value = s.FloatField(allow_null=True, help_text="in base units")
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)
    quality = s.CharField()


class TableCell(s.Serializer[Any]):
    text = s.CharField(help_text="as the report prints it")
    kind = s.CharField(
        help_text="empty, repaired, approximate, from the text, bound, range, not readable, not available, not measured"
    )
    remark = s.CharField()
    span = s.IntegerField()
    samples = TableSample(many=True)


class TableHead(s.Serializer[Any]):
    text = s.CharField()
    span = s.IntegerField()
    down = s.IntegerField()


class TableRow(s.Serializer[Any]):
    head = s.CharField()
    cells = TableCell(many=True)


class Table(s.Serializer[Any]):
    name = s.CharField()
    title = s.CharField()
    source_lines = s.CharField()
    unit = s.CharField()
    notes = s.ListField(child=s.CharField())
    heads = s.ListField(child=s.ListField(child=TableHead()))
    columns = s.ListField(child=s.CharField(), help_text="headings above each other as one")
    rows = TableRow(many=True)


class Chart(s.Serializer[Any]):
    kind = s.CharField()
    title = s.CharField()
    description = s.CharField()
    caption = s.CharField()
    unit = s.CharField()
    baseUnit = s.CharField()  # noqa: N815 (as the page's script reads it)
    x = s.DictField()
    y = s.DictField()
    z = s.DictField(allow_null=True)
    series = s.ListField(child=s.DictField())
    named = s.IntegerField(help_text="how many series a legend names")
    unnamed = s.CharField(help_text="a legend's last entry, where there are more")
    lines = s.ListField(child=s.DictField())
    regions = s.ListField(child=s.DictField())
    tiles = s.ListField(child=s.DictField())
    ramp = s.ListField(child=s.CharField())
