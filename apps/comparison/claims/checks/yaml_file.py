"""A study's claims.yaml: what a report concludes, with the checks of each conclusion.

```yaml
study: crs4-sata-scsi
claims:
- id: C07                      # a code, once per file
  statement: the best 8 GB block write belongs to SCSI software raid0
  source_lines: 118-122        # of the report
  checks: [{kind: ranking, chain: [{is: samples, …}, {is: samples, …}]}]
```

Optional: `language` of the statement (the file's `language`, else English), `statement_english`, `quote`, `comment`, and for tests
`expected`, the verdict that was worked out by hand, with `reason_for_difference` where ours differs.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import yaml

from apps.comparison.claims.checks.definition import ClaimDefinition, DefinitionError
from apps.comparison.claims.checks.validation import definition_of

CODE = 20  # characters


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    statement: str
    checks: list[Any]
    source_lines: str = ""
    quote: str = ""
    language: str = ""
    statement_english: str = ""
    comment: str = ""
    expected: str = ""
    reason_for_difference: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    study: str
    claims: list[_Entry]
    language: str = "en"


@dataclass(frozen=True)
class WrittenClaim:
    code: str
    statement: str
    definition: ClaimDefinition
    source_lines: str
    quote: str
    language: str
    statement_english: str
    comment: str
    expected: str
    reason_for_difference: str


def claims_of(text: str) -> list[WrittenClaim]:
    """Parse a claims.yaml, in the order of the file.

    Raises:
        DefinitionError: A claim does not fit; the error names claim and field.
    """
    try:
        content = msgspec.convert(yaml.safe_load(text), _File)
    except yaml.YAMLError as error:
        raise DefinitionError("claims.yaml", str(error).replace("\n", " "), "YAML") from None
    except msgspec.ValidationError as error:
        raise DefinitionError("claims.yaml", str(error), "study, and claims with id, statement and checks") from None
    codes: set[str] = set()
    for entry in content.claims:
        if not 0 < len(entry.id) <= CODE or entry.id in codes:
            raise DefinitionError("id", entry.id, f"a code of 1 to {CODE} characters that no other claim has")
        codes.add(entry.id)
    return [_claim(entry, entry.language or content.language) for entry in content.claims]


def _claim(entry: _Entry, language: str) -> WrittenClaim:
    try:
        definition = definition_of({"checks": entry.checks})
    except DefinitionError as error:
        raise DefinitionError(f"{entry.id}: {error.field}", error.found, error.expected) from None
    return WrittenClaim(
        entry.id, entry.statement, definition, entry.source_lines, entry.quote, language, entry.statement_english,
        entry.comment, entry.expected, entry.reason_for_difference,
    )  # fmt: skip
