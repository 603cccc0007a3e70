"""Each report in its own language: no text of its wiki page is left in English."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.studies.models import Study
from apps.studies.source import DATA
from apps.wiki.documents.document import document_of
from apps.wiki.documents.translation import texts_of
from tests.wiki.test_study_pages import PLACE

ENGLISH = {
    "the", "of", "and", "is", "not", "with", "for", "are", "by", "than", "an", "at", "as", "from", "was", "were",
    "which", "but", "its", "has", "between", "only", "each",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(DATA.glob("*/wording.yaml")), ids=lambda path: path.parent.name)
def test_a_report_is_wholly_in_its_own_language(path: Path, published: Any) -> None:
    study = Study.objects.get(slug=path.parent.name)
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["language"] == study.language
    texts = [text for text in texts_of(document_of(study, study.language, PLACE)) if study.title_english not in text]
    left = [text for text in texts if _is_english(text)]
    assert left == []
    assert any(_is_english(text) for text in texts_of(document_of(study, "en", PLACE)))


def _is_english(text: str) -> bool:
    """Two words that only English has, outside of what is quoted."""
    return len(ENGLISH & set(text.split())) >= 2


def test_every_report_that_is_not_in_english_has_its_words(published: Any) -> None:
    foreign = set(Study.objects.exclude(language="en").values_list("slug", flat=True))
    assert foreign == {path.parent.name for path in DATA.glob("*/wording.yaml")}
