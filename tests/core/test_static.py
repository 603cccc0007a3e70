"""Static files as a server in use sends them: each named by its content, those that modules import too."""

import re
from pathlib import Path

import pytest
from django.core.files.storage import FileSystemStorage

from apps.core.server.static import PlainStaticFiles, StaticFiles

MODULES = {
    "js/page.js": 'import { draw } from "./part.js";\nimport "./tips.js";\ndraw();\n',
    "js/part.js": 'import { significant } from "./quantities.js";\nexport const draw = () => significant(1);\n',
    "js/quantities.js": "export const significant = (value) => value;\n",
    "js/tips.js": "document.title;\n",
    "library/js/odd.js": 'import "./what-it-did-not-bring.js";\n',
}


@pytest.fixture
def collected(tmp_path: Path) -> Path:
    source, target = tmp_path / "source", tmp_path / "target"
    for name, text in MODULES.items():
        for folder in (source, target):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    storage = StaticFiles(location=str(target), base_url="/static/")
    done = list(storage.post_process({name: (FileSystemStorage(str(source)), name) for name in MODULES}))
    assert not [one for one in done if isinstance(one[2], Exception)]
    return target


def test_a_module_imports_others_by_names_that_tell_their_content(collected: Path) -> None:
    (page,) = collected.glob("js/page.*.js")
    imported = re.findall(r'"\./([^"]+)"', page.read_text())
    assert [re.sub(r"\.[0-9a-f]{12}\.", ".", name) for name in imported] == ["part.js", "tips.js"]
    assert all((collected / "js" / name).exists() and re.search(r"\.[0-9a-f]{12}\.js$", name) for name in imported)
    (part,) = collected.glob("js/part.*.js")
    assert re.search(r'from "\./quantities\.[0-9a-f]{12}\.js"', part.read_text())


def test_a_librarys_modules_are_left_as_they_came(collected: Path) -> None:
    (odd,) = collected.glob("library/js/odd.*.js")
    assert odd.read_text() == MODULES["library/js/odd.js"]


def test_the_address_of_a_file_is_worked_out_once(collected: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = StaticFiles(location=str(collected), base_url="/static/")
    first = storage.url("js/page.js")
    assert re.fullmatch(r"/static/js/page\.[0-9a-f]{12}\.js", first)
    monkeypatch.setattr(storage, "_url", None)
    assert storage.url("js/page.js") == first
    assert PlainStaticFiles(location=str(collected), base_url="/static/").url("js/page.js") == "/static/js/page.js"
