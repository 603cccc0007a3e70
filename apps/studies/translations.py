"""A study's own texts in another language than the one they were written in: claims, remarks, questions, captions.

What is kept is a text, or a phrase that several texts share, with its translation (`Wording`).
"""

import re
from collections.abc import Callable, Mapping

from apps.studies.models import Study, Wording


def in_words(pairs: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces each text or phrase of `pairs`, the longest first, and no part of a word.

    >>> in_words({"RAM": "memoria", "4 x RAM": "4 volte la RAM"})("up to 4 x RAM, RAMDISK, RAM")
    'up to 4 volte la RAM, RAMDISK, memoria'
    """
    if not pairs:
        return lambda text: text
    phrases = sorted(pairs, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases))})(?!\w)")
    return lambda text: pairs[text] if text in pairs else pattern.sub(lambda match: pairs[match[0]], text)


def pairs_of(study: Study, language: str) -> dict[str, str]:
    return dict(study.wordings.filter(language=language).values_list("text", "said"))


def save_wording(study: Study, language: str, pairs: Mapping[str, str]) -> int:
    """Replace the study's translations in `language` by `pairs` and return how many were added, changed or removed."""
    held = pairs_of(study, language)
    changed = {text: words for text, words in pairs.items() if held.get(text) != words}
    gone = held.keys() - pairs.keys()
    rows = study.wordings.filter(language=language)
    rows.filter(text__in=[*gone, *changed]).delete()
    Wording.objects.bulk_create(
        Wording(study=study, language=language, text=text, said=changed[text]) for text in changed
    )
    return len(changed) + len(gone)
