"""Labels as people type them, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.uploads.labels import UploadError, labels_from_text, labels_to_text


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("", {}),
        (" kernel = 6.1, cable=old;\n room=B ,", {"kernel": "6.1", "cable": "old", "room": "B"}),
        ('configuration="RAID 5, sw", cable=old', {"configuration": "RAID 5, sw", "cable": "old"}),
        ('said="the ""good"" one; really", empty=""', {"said": 'the "good" one; really', "empty": ""}),
        ('disk=3.5" SAS, opt=a=b', {"disk": '3.5" SAS', "opt": "a=b"}),
    ],
)
def test_labels_are_read(text: str, labels: dict[str, str]) -> None:
    assert labels_from_text(text) == labels


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("configuration=RAID 5, sw", "sw", 'in "quotes"'),
        ("kernel", "kernel", "name=value"),
        ("=6.1", "=6.1", "name=value"),
        ("cable=old, cable=new", "cable=old, cable=new", "one value for cable"),
        (f"{'n' * 61}=v", f"{'n' * 61}=v", "at most 60 and 200 characters"),
    ],
)
def test_what_is_no_label_is_refused(text: str, found: str, expected: str) -> None:
    with pytest.raises(UploadError) as told:
        labels_from_text(text)
    assert told.value.found == found
    assert expected in told.value.expected


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=40)
NAMES = st.text("abz_-. é", min_size=1, max_size=20)


@given(st.dictionaries(NAMES.map(str.strip).filter(bool), WORDS.map(str.strip), max_size=5))
def test_what_is_shown_is_read_back(labels: dict[str, str]) -> None:
    assert labels_from_text(labels_to_text(labels)) == labels


def test_very_many_marks_are_read_in_time() -> None:
    with pytest.raises(UploadError):
        labels_from_text('"' * 200_001)
