"""The shapes of the REST interface, for its OpenAPI description. `shown.py` and `rows.py` make what is described
here.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers as s

from apps.inventory.models import Host
from apps.publishing.renderers import DOCUMENT, PICTURES
from apps.publishing.resource import View
from apps.runs.states import State

PROBLEM_TYPE = "application/problem+json"


class Problem(s.Serializer[Any]):
    type = s.CharField()
    title = s.CharField()
    status = s.IntegerField()
    detail = s.CharField(help_text="One sentence: what was found, what was expected.")
    field = s.CharField(required=False)
    found = s.JSONField(required=False)
    expected = s.CharField(required=False)


class Caveat(s.Serializer[Any]):
    rule = s.CharField()
    title = s.CharField()
    text = s.CharField()
    arithmetic = s.ListField(child=s.CharField())
    runs = s.ListField(child=s.IntegerField())
    cells = s.ListField(child=s.DictField())
    series = s.ListField(child=s.CharField())


class HostShape(s.ModelSerializer[Host]):
    class Meta:
        model = Host
        fields = (
            "id", "name", "fqdn", "cpu_model", "cpu_count", "cpu_sockets", "cpu_cache_bytes", "ram_bytes", "ram_type",
            "board", "os", "kernel", "architecture", "environment", "hypervisor", "role", "is_in_maintenance", "labels",
            "absent", "updated_at",
        )  # fmt: skip
        read_only_fields = fields


class Target(s.Serializer[Any]):
    id = s.IntegerField()
    host = s.IntegerField()
    host_name = s.CharField()
    name = s.CharField()
    kind = s.CharField()
    path = s.CharField(allow_null=True)
    filesystem = s.IntegerField(allow_null=True)
    array = s.IntegerField(allow_null=True)
    disk = s.IntegerField(allow_null=True)
    takes_runs = s.BooleanField(help_text="the directory that the host's agent offers")
    labels = s.DictField()


class Snapshot(s.Serializer[Any]):
    id = s.IntegerField()
    sha256 = s.CharField()
    created_at = s.DateTimeField()
    facts = s.DictField()
    content = s.DictField()


class RunStart(s.Serializer[Any]):
    target = s.IntegerField(help_text="id of a target with `takes_runs`")
    workload = s.DictField(
        help_text="`{tool, jobs: [{rw, block_size, file_size, …}]}`, or one job's options by themselves"
    )
    repetitions = s.IntegerField(default=1, min_value=1, max_value=100)


class Section(s.Serializer[Any]):
    number = s.IntegerField(help_text="the `section` of samples, series and histograms")
    name = s.CharField()
    options = s.DictField(help_text="of the job, in the tool's words, where an uploaded output shows them")


class Run(s.Serializer[Any]):
    id = s.IntegerField()
    url = s.URLField()
    page = s.URLField()
    tool = s.CharField()
    tool_version = s.CharField()
    origin = s.CharField()
    state = s.CharField()
    problem = s.CharField()
    progress = s.FloatField()
    repetition = s.IntegerField()
    study = s.CharField(allow_null=True)
    configuration = s.CharField(allow_null=True)
    host = s.IntegerField(allow_null=True)
    host_name = s.CharField(allow_null=True)
    target = s.IntegerField(allow_null=True)
    target_name = s.CharField(allow_null=True)
    snapshot = s.IntegerField(allow_null=True)
    labels = s.DictField()
    facts = s.DictField()
    workload = s.DictField()
    sections = Section(many=True, help_text="jobs, streams or clients that have figures of their own")
    created_by = s.CharField()
    created_at = s.DateTimeField()
    started_at = s.DateTimeField(allow_null=True)
    finished_at = s.DateTimeField(allow_null=True)
    samples_url = s.URLField()
    series_url = s.URLField()
    histograms_url = s.URLField()
    artefacts_url = s.URLField()
    caveats = Caveat(many=True)


class StartedRun(Run):
    runs = s.ListField(child=s.IntegerField(), help_text="ids of all repetitions; the rest of the body is the first")


class UploadStart(s.Serializer[Any]):
    file = s.ListField(child=s.FileField(), help_text="one or more files or archives; the part may come several times")
    path = s.ListField(
        child=s.CharField(),
        required=False,
        help_text="each file's path, in the order of the files; without it, the file name of its part counts, with its folders",
    )
    study = s.CharField(required=False, help_text="id or slug")
    host = s.CharField(required=False, help_text="id or name")
    target = s.CharField(required=False, help_text="id or name")
    labels = s.CharField(required=False, help_text="`kernel=6.1, cable=old`")
    keep = s.BooleanField(required=False)


class FileError(s.Serializer[Any]):
    message = s.CharField()
    line = s.IntegerField(allow_null=True)
    found = s.CharField()
    expected = s.CharField()


class UploadedFile(s.Serializer[Any]):
    id = s.IntegerField()
    name = s.CharField()
    sha256 = s.CharField(allow_null=True)
    size = s.IntegerField(help_text="bytes")
    state = s.CharField(help_text="waiting, unpacked, parsed, partly, failed, refused, known")
    format = s.CharField()
    confidence = s.FloatField(help_text="0 to 1")
    tool = s.CharField()
    tool_version = s.CharField()
    runs = s.IntegerField(help_text="how many were recognised")
    samples = s.IntegerField()
    warnings = s.ListField(child=s.CharField())
    error = FileError(allow_null=True)
    broken = FileError(many=True, help_text="each run that could not be read")
    known_as = s.IntegerField(allow_null=True, help_text="the file that brought the same bytes before")
    is_kept = s.BooleanField()
    left_out = s.IntegerField(help_text="runs that somebody left out when the others were kept")
    run_ids = s.ListField(child=s.IntegerField())
    host = s.IntegerField(allow_null=True, help_text="that its runs have; null where each has its own, or none")
    target = s.IntegerField(allow_null=True)
    guessed = s.CharField(help_text="why this host, where nobody said so")
    printed_hosts = s.ListField(child=s.CharField(), help_text="the host names that stand in the text")
    page = s.URLField()


class Upload(s.Serializer[Any]):
    id = s.IntegerField()
    state = s.CharField(help_text="queued, parsing, parsed, partly, failed")
    url = s.URLField()
    page = s.URLField()
    name = s.CharField()
    study = s.CharField(allow_null=True)
    host = s.IntegerField(allow_null=True)
    target = s.IntegerField(allow_null=True)
    labels = s.DictField()
    problem = s.CharField()
    joined = s.CharField(
        help_text="what became of the earlier runs of files that were kept before, where a study was named; else empty"
    )
    created_by = s.CharField()
    created_at = s.DateTimeField()
    finished_at = s.DateTimeField(allow_null=True)
    file_count = s.IntegerField(required=False)
    next = s.URLField(allow_null=True, required=False, help_text="the next page of `files`")
    previous = s.URLField(allow_null=True, required=False)
    files = UploadedFile(
        many=True, required=False, help_text="in the answer for one upload: a page, of 1,000 unless `limit`"
    )


class Sample(s.Serializer[Any]):
    id = s.IntegerField()
    run = s.IntegerField()
    operation = s.CharField()
    metric = s.CharField()
    value = s.FloatField(allow_null=True, help_text="in base units; null with a missing_reason or a bound")
    unit = s.CharField(allow_null=True, help_text="B/s, 1/s, ns, B or fraction")
    printed = s.CharField(help_text="the tool's own text with its unit")
    quality = s.CharField()
    missing_reason = s.CharField(allow_null=True)
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)
    file_size = s.IntegerField(allow_null=True)
    block_size = s.IntegerField(allow_null=True)
    threads = s.IntegerField(allow_null=True)
    iodepth = s.IntegerField(allow_null=True)
    repetition = s.IntegerField()
    cpu = s.FloatField(allow_null=True, help_text="fraction of one core")
    source_line = s.IntegerField(allow_null=True)
    section = s.IntegerField()
    run_state = s.ChoiceField(State.choices, help_text="comparisons count samples of finished runs alone")
    note = s.CharField(help_text="what else is to be said of the value: of which disk it is, for one")
    section_name = s.CharField(help_text="of the job, stream or client that the section is, where it has a name")
    facts = s.DictField()


class Series(s.Serializer[Any]):
    id = s.IntegerField(allow_null=True, help_text="null while the run goes on: nothing is saved yet")
    operation = s.CharField()
    metric = s.CharField()
    unit = s.CharField(allow_null=True)
    section = s.IntegerField()
    source = s.CharField()  # type: ignore[assignment]
    count = s.IntegerField()
    overview = s.ListField(child=s.ListField(child=s.FloatField()), help_text="[seconds, min, mean, max, count]")
    points = s.ListField(
        child=s.ListField(child=s.FloatField()), required=False, help_text="[seconds, value], with ?full=1"
    )
    window = s.ListField(
        child=s.ListField(child=s.FloatField()), required=False, help_text="as overview, of ?start=…&end=… alone"
    )


class Histogram(s.Serializer[Any]):
    operation = s.CharField()
    kind = s.CharField()
    section = s.IntegerField()
    bins = s.ListField(child=s.ListField(child=s.FloatField()), help_text="[ns, count], ascending")


class Artefact(s.Serializer[Any]):
    name = s.CharField()
    kind = s.CharField()
    sha256 = s.CharField()
    size = s.IntegerField(help_text="bytes")
    url = s.URLField()


PAGING = [
    OpenApiParameter("cursor", str, description="from `next` and `previous`"),
    OpenApiParameter("limit", int, description="rows on a page, at most 1,000"),
]
ANY_FACT = (
    "Any other name is a fact, a label or a point's dimension: `raid_level=5`. The same name twice means either value."
)


BASE = OpenApiParameter(
    "base",
    enum=["1000", "1024"],
    default="1000",
    description="of people's units in sentences, documents and pictures: MB/s or MiB/s",
)


def described(
    shape: Any,
    *,
    errors: tuple[int, ...] = (),
    paged: bool = False,
    many: bool = False,
    documents: bool = False,
    pictures: bool = False,
    status: int = 200,
    **more: Any,
) -> Callable[[View], View]:
    """`extend_schema` with what all resources share: pages, problem details, documents and pictures beside JSON."""
    name = more.pop("of", getattr(shape, "__name__", ""))
    body = _page(name, shape, paged) if paged or many else shape
    responses: dict[Any, Any] = {(status, "application/json"): body}
    if documents:
        responses |= {(200, str(form.media_type)): OpenApiTypes.STR for form in DOCUMENT[1:]}
        responses[304] = None
    if pictures:
        responses |= {(200, str(form.media_type)): OpenApiTypes.BINARY for form in PICTURES}
        responses[304] = None
    responses |= {(code, PROBLEM_TYPE): Problem for code in sorted({*errors, 401, 403, 406, 429})}
    parameters = [*more.pop("parameters", []), *(PAGING if paged else [])]
    return extend_schema(responses=responses | more.pop("also", {}), parameters=parameters, filters=False, **more)


@cache
def _page(name: str, shape: Any, paged: bool) -> Any:
    links = {key: s.URLField(allow_null=True) for key in ("next", "previous")} if paged else {}
    return inline_serializer(f"{name}{'Page' if paged else 'List'}", {**links, "results": shape(many=True)})
