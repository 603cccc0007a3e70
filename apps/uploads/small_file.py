"""One small file on its own comes in by one statement: its upload, its bytes, its row and the word in the trail, all or nothing."""

import hashlib
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from apps.lib.few_rows import put_one
from apps.lib.sql import ALWAYS, NOT_DURABLE_YET, Given, one_row
from apps.runs.artefact_store import KEEPING, KEPT, as_kept, to_keep
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.receiving import clean_name, in_trail

# `given` may speak of `target`, which here is nothing but the lab.
_TAKE = """
WITH allowed AS MATERIALIZED (
    SELECT {durability} AS durability FROM (SELECT %(lab)s::bigint AS lab_id) AS target WHERE {given}
), {keeping}, upload AS (
    {upload} FROM allowed, added RETURNING id
), file AS (
    {file} FROM upload, added RETURNING id
), trail AS (
    {trail} FROM upload
)
SELECT upload.id, file.id, {kept} FROM upload, file, added"""


class NotGivenError(Exception):
    """What was given is not so. Nothing was done."""


def take(
    upload: Upload, name: str, data: bytes, *, given: Given = ALWAYS, answers_after_more: bool = False
) -> UploadedFile:
    """Bytes, at most `SMALL` of them, as the only file of a new upload. `answers_after_more`: nobody hears of it before something
    else is committed, which then waits for the disk once for both. Raises `NotGivenError`.
    """
    file = UploadedFile(upload=upload, name=clean_name(name), size=len(data))
    parts = (
        put_one(upload),
        put_one(file, upload_id="upload.id", artefact_id="added.id"),
        put_one(in_trail(upload), detail="jsonb_build_object('upload', upload.id)"),
    )
    values: dict[str, Any] = to_keep(upload.lab_id, {hashlib.sha256(data).hexdigest(): data})
    for _, some in parts:
        values |= some
    sql = _taking(given.sql, NOT_DURABLE_YET if answers_after_more else "''", *(text for text, _ in parts))
    row = one_row(sql, {**values, **given.values})
    if row is None:
        raise NotGivenError
    upload.pk, file.pk, *kept = row
    file.upload, file.artefact = upload, as_kept(upload.lab_id, kept)
    for one in (upload, file):
        one._state.adding, one._state.db = False, DEFAULT_DB_ALIAS
    return file


@cache
def _taking(given: str, durability: str, upload: str, file: str, trail: str) -> str:
    return _TAKE.format(
        given=given, durability=durability, keeping=KEEPING.format(given="allowed, "), upload=upload, file=file,
        trail=trail, kept=KEPT,
    )  # fmt: skip
