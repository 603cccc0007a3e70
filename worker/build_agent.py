"""Build agent.pyz: `python worker/build_agent.py OUT`. The same sources give the same bytes, so a host can compare what it was given."""

import sys
import zipfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "agent"
SHEBANG = b"#!/usr/bin/env python3\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can say


def build(path: Path) -> None:
    members = {"__main__.py": (SOURCES.parent / "__main__.py").read_text()}
    members.update({f"agent/{source.relative_to(SOURCES)}": source.read_text() for source in SOURCES.rglob("*.py")})
    with open(path, "wb") as target:
        target.write(SHEBANG)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(members):
                entry = zipfile.ZipInfo(name, LONG_AGO)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, members[name])
    path.chmod(0o755)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
