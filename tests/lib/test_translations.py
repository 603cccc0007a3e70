"""The words in other languages: complete, and compiled as they are written."""

import gettext
import io

import pytest

from bin._lib.translations import CONTEXT, PoError, compiled, messages, sources


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.parts[-3])
def test_what_is_compiled_is_what_is_written(path) -> None:
    found = messages(path.read_text(encoding="utf-8"), str(path))
    assert path.with_suffix(".mo").read_bytes() == compiled(found), "run python -m bin._lib.translations"


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.parts[-3])
def test_nothing_is_left_untranslated(path) -> None:
    text = path.read_text(encoding="utf-8")
    assert 'msgstr ""\n\n' not in text + "\n"
    assert "#, fuzzy" not in text
    assert len(messages(text)) > 150


def test_both_languages_have_the_same_messages() -> None:
    first, second = (set(messages(path.read_text(encoding="utf-8"))) for path in sources())
    assert first == second


def test_python_reads_what_was_compiled() -> None:
    text = "\n".join([
        'msgid ""', r'msgstr "Content-Type: text/plain; charset=UTF-8\n"', "",
        'msgctxt "why"', 'msgid "none"', 'msgstr "нет"', "",
        r'msgid "a\"b"', 'msgstr ""', '"uno "', '"due"',
    ])  # fmt: skip
    read = gettext.GNUTranslations(io.BytesIO(compiled(messages(text))))
    assert read.pgettext("why", "none") == "нет"
    assert read.gettext('a"b') == "uno due"
    assert messages(text)[f"why{CONTEXT}none"] == "нет"


def test_a_line_that_is_none_is_named() -> None:
    with pytest.raises(PoError, match=r"x\.po, line 2: found 'oops'"):
        messages('msgid "a"\noops\n', "x.po")
