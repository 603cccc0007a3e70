"""The usual upload of a script, in raw ASGI: a token, one small file, the answer as JSON. Django's middleware and REST framework would take
longer with it than reading and storing it takes.

What is not usual (a session, a large file or several, an archive, a cold reader, anything wrong) changes nothing here and goes on to the
view, which knows the reason. Every rule is the view's own: the token's look-up and scope, the rate, what may stand beside a file, how it is
taken, read and kept, and the fields of the answer.
"""

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Lock
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError, close_old_connections
from django.http import HttpResponse
from django.utils.datastructures import MultiValueDict
from rest_framework.exceptions import APIException

from apps.inventory.editing.authors import by
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Token, digest
from apps.lib.asgi import Receive, Scope, Send, headers, read_body, replayed, send_response
from apps.lib.later import Act, answer_first
from apps.lib.sql import trust_if_quiet
from apps.lib.uploads import upload_too_large
from apps.publishing.authentication import find_token, name_of, note_use, secret_of, still_living
from apps.publishing.form_data import parts
from apps.publishing.past_django import UnusualError, answer, is_let_through
from apps.publishing.sending import Beside, read_here, take_here
from apps.publishing.throttling import TokenThrottle
from apps.publishing.uploaded import shown_upload
from apps.publishing.views.uploads import uploads as view_of_uploads
from apps.runs.artefact_store import SMALL, ArtefactStoreError
from apps.uploads.at_once import reading_here
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.receiving import UploadError
from apps.uploads.small_file import NotGivenError

LARGEST = SMALL + (8 << 10)  # with what stands around the file
REMEMBERED = 1000
remembered: dict[str, Token] = {}  # by SHA-256 of the secret
VIEW: Any = getattr(view_of_uploads, "cls")  # noqa: B009  (REST framework's class of the view)
ALLOW = ", ".join(VIEW().allowed_methods)
_thread = ThreadPoolExecutor(1, thread_name_prefix="upload")  # the reader answers one question at a time
_one = Lock()  # who comes meanwhile goes on: the view calls a worker
# Of what is looked at before the file is taken.
UNUSUAL = (UnusualError, UploadError, ArtefactStoreError, APIException, SuspiciousOperation, DatabaseError)
Answer = tuple[HttpResponse | None, Act]  # and what is to be done after it


async def upload(scope: Scope, receive: Receive, send: Send, view: Any) -> None:
    """`view` is the ASGI application that answers when this one does not."""
    if not _is_usual(scope):
        await view(scope, receive, send)
        return
    raw = await read_body(receive)
    response, rest = await _answer(ASGIRequest(scope, io.BytesIO(raw)), raw)
    if response is None:
        await view(scope, replayed(raw, receive), send)
        return
    try:
        await send_response(send, response)
    finally:
        _thread.submit(rest)


async def _answer(request: ASGIRequest, raw: bytes) -> Answer:
    if not _one.acquire(blocking=False):
        return None, _nothing
    try:
        return await asyncio.get_running_loop().run_in_executor(_thread, _answered, request, raw)
    finally:
        _one.release()


def _nothing() -> None:
    pass


def _is_usual(scope: Scope) -> bool:
    given = headers(scope)
    length = given.get("content-length", "")
    return (
        scope["query_string"] in (b"", b"keep=true", b"keep=1", b"keep=yes")
        and length.isdecimal()
        and int(length) <= LARGEST
        and given.get("accept", "*/*") in ("*/*", "application/json")
        and "cookie" not in given
    )


def _answered(request: ASGIRequest, raw: bytes) -> Answer:
    close_old_connections()
    trust_if_quiet()
    with answer_first() as rest, ExitStack() as held:
        try:
            if not is_let_through(request):
                raise UnusualError
            token, data, taken = _taken(request, raw, held)
        except UNUSUAL:
            return None, rest
        upload, files = read_here(*taken, data)
        note_use(token)
        return answer(request, shown_upload(request, upload, files), status=202, allow=ALLOW), rest


def _taken(request: ASGIRequest, raw: bytes, held: ExitStack) -> tuple[Token, bytes, tuple[Upload, UploadedFile]]:
    """Stored for the token's lab, in whose scope this thread is until `held` ends; so long the reader is this thread's."""
    found = parts(request.META.get("CONTENT_TYPE", ""), raw)
    if found is None or not found[1] or upload_too_large(request):
        raise UnusualError
    name, data, words = found
    if not held.enter_context(reading_here([data])):
        raise UnusualError
    token = _token(secret_of(request) or "")
    held.enter_context(lab_scope(token.lab_id))
    held.enter_context(by(Author.TOKEN, token.name, id=token.pk))
    beside = Beside.of(MultiValueDict({key: [word] for key, word in words.items()}), request.GET)
    if not TokenThrottle().allows(token):  # last: what goes on is counted by the view
        raise UnusualError
    try:
        return token, data, take_here(token.lab, name_of(token), beside, name, data, given=still_living(token))
    except NotGivenError:
        remembered.pop(token.secret_sha256, None)
        raise UnusualError from None


def _token(secret: str) -> Token:
    """What is remembered is asked again by the statement that takes the file."""
    who = digest(secret)
    token = remembered.get(who) or find_token(secret)
    if token is None or not token.allows(VIEW.needed_scope):
        raise UnusualError
    if len(remembered) >= REMEMBERED:
        remembered.clear()
    remembered[who] = token
    return token
