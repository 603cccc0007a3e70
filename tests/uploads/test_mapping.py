"""A table of means: its columns are asked for, tried out, used, and remembered for the next table of the same look."""

from typing import Any

import pytest
from django.test import Client

from apps.parsers.core.source_text import SourceText
from apps.runs.models import Run, Sample
from apps.uploads.file_reader import FileReading, read_file
from apps.uploads.models import FileState, TableMapping, Upload
from apps.uploads.pipeline import parse
from apps.uploads.review.table_mapping import build_dialog, from_form
from apps.uploads.save_runs import keep
from tests.uploads.conftest import Bring, only_file

pytestmark = pytest.mark.django_db
TABLE = b"file size MB;sata 3ware;scsi zero channel\n100;177456,5;166733,9\n200;17456,5;16733,9\n"
NEXT = b"file size MB;sata 3ware;scsi zero channel\n100;99456,5;88733,9\n"
AMBIGUOUS = b"configuration;write\nalpha;177,456\nbeta;166,733\n"
ANSWERS = {
    "role-0": "file_size", "unit-0": "MB (1024)", "role-1": "value", "role-2": "value", "decimal": ",",
    "headings": "configuration", "fixed-operation": "write", "fixed-unit": "KB/s (1024)",
}  # fmt: skip


def mapping_page(upload: Upload) -> str:
    return f"{only_file(upload).get_absolute_url()}mapping/"


def read_on(upload: Upload) -> None:
    upload.refresh_from_db()
    assert upload.claim()
    parse(upload)


def test_a_table_that_says_too_little_waits_for_its_mapping(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": TABLE})
    file = only_file(upload)
    assert (file.state, file.format, file.run_count) == (FileState.FAILED, "table", 0)
    shown = engineer.get(upload.get_absolute_url()).content.decode()
    assert "needs a mapping" in shown
    assert mapping_page(upload) in shown


def test_the_dialog_asks_what_the_table_does_not_say(engineer: Client, bring: Bring) -> None:
    shown = engineer.get(mapping_page(bring({"means.csv": TABLE}))).content.decode()
    assert "177456,5" in shown
    assert "MB&#x27; can be MB (1000) or MB (1024)" in shown
    assert "Which operation is" in shown


def test_an_unanswered_question_is_never_guessed(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": TABLE})
    some = {name: word for name, word in ANSWERS.items() if name != "fixed-unit"}
    answer = engineer.post(mapping_page(upload), {**some, "act": "use"})
    assert answer.status_code == 422
    assert "Which unit is that of the values" in answer.content.decode()
    assert only_file(upload).mapping is None


def test_the_answers_are_tried_out_before_they_are_used(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": TABLE})
    answer = engineer.post(mapping_page(upload), ANSWERS, headers={"HX-Request": "true"})
    shown = answer.content.decode()
    assert "182\u00a0MB/s" in shown  # 177456.5 KiB/s
    assert "Still open" not in shown
    assert "<html" not in shown
    assert only_file(upload).state == FileState.FAILED


def test_a_used_mapping_gives_runs_with_exact_values(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": TABLE})
    engineer.post(mapping_page(upload), {**ANSWERS, "act": "use"})
    read_on(upload)
    assert keep(upload) == 2
    values = Sample.objects.order_by("id").values_list("run__labels__configuration", "point__file_size", "value")
    assert list(values) == [
        ("sata 3ware", 100 << 20, 177456.5 * 1024), ("sata 3ware", 200 << 20, 17456.5 * 1024),
        ("scsi zero channel", 100 << 20, 166733.9 * 1024), ("scsi zero channel", 200 << 20, 16733.9 * 1024),
    ]  # fmt: skip


def test_the_next_table_of_this_look_is_read_the_same_way(engineer: Client, bring: Bring) -> None:
    engineer.post(mapping_page(bring({"means.csv": TABLE})), {**ANSWERS, "act": "use"})
    upload = bring({"next.csv": NEXT})
    file = only_file(upload)
    assert (file.state, file.run_count) == (FileState.PARSED, 2)
    assert file.mapping is not None
    assert not Run.objects.exists()  # it is shown first, as always
    shown = engineer.get(file.get_absolute_url()).content.decode()
    assert "as mapped by engineer@example.org" in shown
    assert "the answers are those of engineer@example.org" in engineer.get(mapping_page(upload)).content.decode()


def test_each_lab_remembers_for_itself(engineer: Client, bring: Bring, cast: Any) -> None:
    upload = bring({"means.csv": TABLE})
    engineer.post(mapping_page(upload), {**ANSWERS, "act": "use"})
    TableMapping.objects.update(signature="0" * 64)
    assert only_file(bring({"next.csv": NEXT})).state == FileState.FAILED


def test_a_comma_that_can_be_either_is_asked(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": AMBIGUOUS})
    shown = engineer.get(mapping_page(upload)).content.decode()
    assert "can be either in line 2, write: 177,456" in shown
    said = {"role-0": "configuration", "role-1": "value", "column-1-operation": "write", "unit-1": "KB/s (1000)"}
    for decimal, thousands, value in ((",", "", "177\u00a0kB/s"), (".", ",", "177\u00a0MB/s")):
        answers = {**said, "decimal": decimal, "thousands": thousands}
        assert value in engineer.post(mapping_page(upload), answers).content.decode()
    unsaid = engineer.post(mapping_page(upload), {**said, "act": "use"})
    assert unsaid.status_code == 422
    assert "decimal or a thousands mark" in unsaid.content.decode()


def test_words_that_mean_nothing_known_are_asked_and_explained(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": b"configuration;operation;value\nalpha;Lr;10.5\nalpha;write;20.5\nbeta;Lr;30.5\n"})
    said = {"role-0": "configuration", "role-1": "operation", "role-2": "value", "unit-2": "MB/s (1000)"}
    shown = engineer.post(mapping_page(upload), said).content.decode()
    assert "“Lr” is" in shown
    words = {"kind-0": "operation", "word-0": "Lr", "is-0": "read"}
    shown = engineer.post(mapping_page(upload), {**said, **words}).content.decode()
    assert "10.5\u00a0MB/s" in shown
    assert "2 runs" in shown


def test_what_is_no_table_has_no_dialog(engineer: Client, bring: Bring) -> None:
    answer = engineer.get(mapping_page(bring({"notes.txt": b"bring milk\n"})), follow=True)
    assert "cannot be read as a table" in answer.content.decode()


def test_kept_runs_are_not_mapped_anew(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": TABLE})
    engineer.post(mapping_page(upload), {**ANSWERS, "act": "use"})
    read_on(upload)
    keep(upload)
    answer = engineer.post(mapping_page(upload), {**ANSWERS, "act": "use"}, follow=True)
    assert "It was not read again" in answer.content.decode()


@pytest.mark.parametrize(
    "field", ["role-0", "unit-0", "decimal", "headings", "fixed-operation", "quality", "fixed-file_size"]
)
def test_a_word_that_the_form_does_not_offer_is_refused_in_words(engineer: Client, bring: Bring, field: str) -> None:
    upload = bring({"means.csv": TABLE})
    answer = engineer.post(mapping_page(upload), {**ANSWERS, field: "<nonsense>", "act": "use"})
    assert answer.status_code == 422
    assert "&lt;nonsense&gt;" in answer.content.decode()
    assert not TableMapping.objects.exists()


def test_control_characters_in_an_answer_do_no_harm(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": TABLE})
    engineer.post(mapping_page(upload), {**ANSWERS, "tool": "bon\0nie", "act": "use"})
    assert TableMapping.objects.get().mapping["tool"] == "bonnie"


def test_a_file_without_bytes_has_nothing_to_map_or_read(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": TABLE})
    upload.files.update(artefact=None, state=FileState.REFUSED)
    assert "its bytes are not here" in engineer.get(mapping_page(upload), follow=True).content.decode()
    engineer.post(f"{only_file(upload).get_absolute_url()}again/")
    assert only_file(upload).state == FileState.REFUSED


def reading(data: bytes, answers: dict[str, str]) -> FileReading:
    columns = read_file(SourceText(data), "table").table["columns"]
    return read_file(SourceText(data), "", from_form(answers, columns))


def test_the_form_and_the_mapping_say_the_same() -> None:
    columns = read_file(SourceText(TABLE), "table").table["columns"]
    said = from_form({**ANSWERS, "fixed-block_size": "64k", "fill_down": "1", "tool": "bonnie++"}, columns)
    dialog = build_dialog(read_file(SourceText(TABLE), "", said), said)
    shown = {one.name: one.chosen for column in dialog.columns for one in (column.role, *column.more)}
    shown |= {one.name: one.chosen for one in (*dialog.marks, *dialog.headings, *dialog.everywhere)}
    shown |= {name: text for name, _, text, _ in dialog.typed}
    assert {name: shown[name] for name in ANSWERS} == ANSWERS
    assert (shown["fixed-block_size"], shown["tool"], dialog.fill_down) == ("64k", "bonnie++", True)


def test_tables_of_the_same_look_in_one_text_are_read_together_and_others_named() -> None:
    other = b"host;seconds;comment\na;1,5;fine\nb;2,5;fine\nc;3,5;fine\n"
    found = reading(
        TABLE + b"\nsome words between\n\n" + TABLE.replace(b"100;", b"800;").replace(b"200;", b"900;"), ANSWERS
    )
    assert sorted({s.file_size for one in found.runs for s in one.run.samples}) == [
        n << 20 for n in (100, 200, 800, 900)
    ]
    mixed = reading(TABLE + b"\nsome words between\n\n" + other, ANSWERS)
    assert any("another table, of other columns" in one for one in mixed.warnings)


def test_a_first_row_of_fewer_cells_does_not_stop_the_questions() -> None:
    found = read_file(SourceText(b"1| 1| S5\n51 177456\n5 51 S5\n"))
    assert found.error
    assert "needs a mapping" in str(found.error)


TITLED = b"Writing (KiB/s)\nMB;ext3;xfs\n100;97,5;72,25\n200;95,5;68\n"
TITLED_ANSWERS = {
    "role-0": "file_size", "unit-0": "MB (1024)", "role-1": "value", "role-2": "value", "headings": "configuration",
    "fixed-operation": "write", "fixed-unit": "KB/s (1024)",
}  # fmt: skip


def test_the_same_columns_under_another_title_are_not_read_as_the_first(engineer: Client, bring: Bring) -> None:
    engineer.post(mapping_page(bring({"may.csv": TITLED})), {**TITLED_ANSWERS, "act": "use"})
    other = only_file(bring({"june.csv": TITLED.replace(b"Writing", b"Reading")}))
    assert (other.state, other.mapping) == (FileState.FAILED, None)
    assert only_file(bring({"july.csv": TITLED.replace(b"97,5", b"98,5")})).state == FileState.PARSED


def test_a_file_named_after_another_operation_is_not_read_as_the_first(engineer: Client, bring: Bring) -> None:
    engineer.post(mapping_page(bring({"seq_write.csv": TABLE})), {**ANSWERS, "act": "use"})
    assert only_file(bring({"seq_read.csv": NEXT})).mapping is None
    assert only_file(bring({"may/seq_write.csv": NEXT})).mapping is not None


def test_tables_of_another_title_in_one_text_are_named_and_not_mixed() -> None:
    other = TITLED.replace(b"Writing", b"Reading").replace(b"97,5", b"1097,5").replace(b"200;95,5;68\n", b"")
    found = reading(TITLED + b"\n" + other, TITLED_ANSWERS)
    assert {s.value for one in found.runs for s in one.run.samples} == {n * 1024 for n in (97.5, 72.25, 95.5, 68)}
    assert any("another table, under “Reading (KiB/s)”, is not read" in one for one in found.warnings)


def test_how_many_rows_are_headings_can_be_said(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": b"disks;1;2;4\nwrite;10,5;20,5;30,5\nread;11;21;31\n"})
    shown = engineer.get(mapping_page(upload)).content.decode()
    assert "Is line 1 (disks, 1, 2, 4) a row of headings, or of values?" in shown
    said = {"role-0": "operation", **{f"role-{n}": "value" for n in (1, 2, 3)}, "fixed-unit": "MB/s (1000)"}
    answers = {**said, "headings": "threads", "heading_rows": "1"}
    shown = engineer.post(mapping_page(upload), answers).content.decode()
    assert "10.5\u00a0MB/s" in shown
    assert "Still open" not in shown
    assert "rows of headings: found &#x27;many&#x27;" in engineer.post(
        mapping_page(upload), {**answers, "heading_rows": "many"}
    ).content.decode().replace("Rows of", "rows of")


def test_each_column_may_say_its_configuration() -> None:
    data = b"size (MiB);ext3 write;xfs write\n100;10,5;11,5\n200;12,5;13,5\n"
    said = {
        "role-0": "file_size", "unit-0": "MB (1024)", **{f"role-{n}": "value" for n in (1, 2)}, "fixed-unit": "MB/s (1000)",
        "fixed-operation": "write", "column-1-configuration": "ext3", "column-2-configuration": "xfs",
    }  # fmt: skip
    found = reading(data, said)
    assert [one.run.labels for one in found.runs] == [{"configuration": "ext3"}, {"configuration": "xfs"}]
    columns = read_file(SourceText(data), "table").table["columns"]
    dialog = build_dialog(found, from_form(said, columns))
    assert [text for column in dialog.columns for _, _, text in column.typed] == ["ext3", "xfs"]
