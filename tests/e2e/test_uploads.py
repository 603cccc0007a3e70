"""Uploads in a real browser: files dropped, sent with a bar each, recognised while one looks, previewed and kept."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.parsers.core.models import Broken
from apps.runs.models import Run
from apps.uploads import services
from apps.uploads.models import FoundInventory, FoundWorkload, Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.services import add_file, open_upload
from tests.e2e.looking import faults
from tests.sampling import sample
from tests.uploads.conftest import OTHER, REPORT, children, variant  # noqa: F401  (ends the readers that these tests start)
from tests.uploads.test_mapping import TABLE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Worker = Callable[[], None]
LONG_AGO = 1_000_000_000  # seconds since 1970


@pytest.fixture
def worker(furnished: Any, monkeypatch: pytest.MonkeyPatch) -> Worker:
    """`worker()` reads all that waits; until then nobody does."""
    monkeypatch.setattr(services.parse_upload, "delay", lambda *_: None)

    def work() -> None:
        with lab_scope(furnished.lab.pk):
            for upload in Upload.objects.filter(state="queued"):
                assert upload.claim()
                parse(upload)

    return work


@pytest.fixture
def filled(furnished: Any, worker: Worker) -> Upload:
    """An upload with something of every kind."""
    with lab_scope(furnished.lab.pk):
        upload = open_upload(furnished.lab, "old results", door="page", actor="engineer@example.org")
        files = {"storage1/run.json": REPORT, "notes.txt": b"bring milk\n", "means.csv": TABLE, "x.json": OTHER}
        for number, (name, data) in enumerate(files.items()):
            add_file(upload, name, data)
            add_file(upload, f"same{number}.txt", data)
        worker()
        file = UploadedFile.objects.get(name="storage1/run.json")
        broken = Broken("no such row", 3, "x", "a number")
        file.broken = [{"message": broken.message, "line": 3, "found": "x", "expected": "a number"}]
        file.warnings = ["line 2: something odd"]
        file.save()
        FoundInventory.objects.create(file=file, tool="mdstat", summary="md0: raid5 of 4 devices", content={}, line=1)
        jobs = [{"name": "a", "rw": "randread", "block_size": 4096, "file_size": 1 << 30}]
        FoundWorkload.objects.create(file=file, name="mine", jobs=jobs)
        upload.refresh_from_db()
    return upload


def addresses(upload: Upload) -> list[str]:
    with lab_scope(upload.lab_id):
        files = {file.name: file.get_absolute_url() for file in upload.files.all()}
    own = upload.get_absolute_url()
    return ["/uploads/", own, f"{own}discard/", *files.values(), f"{files['means.csv']}mapping/"]


def choose(page: Page, *names: str, data: bytes = REPORT) -> None:
    page.goto("/uploads/")
    files = [{"name": name, "mimeType": "text/plain", "buffer": data + name.encode()} for name in names]
    page.get_by_label("Choose files").set_input_files(files)  # type: ignore[arg-type]


def test_files_are_sent_recognised_before_ones_eyes_and_kept(signed_in: Any, furnished: Any, worker: Worker) -> None:
    page = signed_in()
    page.goto("/uploads/")
    page.get_by_label("Choose files").set_input_files({"name": "run.json", "mimeType": "text/plain", "buffer": REPORT})
    expect(page.get_by_role("progressbar", name="Sent of run.json")).to_be_visible()
    page.get_by_role("button", name="Upload 1 file").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/$"))
    expect(page.get_by_text("0 / 1")).to_be_visible()
    worker()
    expect(page.get_by_role("button", name="Keep all 1 run")).to_be_visible()
    page.get_by_role("link", name="run.json").click()
    row = page.locator("tr", has_text="Bandwidth").first
    line = row.get_by_role("link").inner_text()
    row.get_by_role("link").click()
    expect(page.locator(f"#L{line}")).to_be_focused()
    expect(page.locator(f"#L{line}")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(row.get_by_role("link")).to_be_focused()
    page.get_by_role("button", name="Keep 1 run").click()
    expect(page.get_by_text("1 run kept.")).to_be_visible()
    page.get_by_role("link", name=re.compile(r"^run \d+$")).first.click()
    expect(page.get_by_role("heading", name=re.compile(r"Run \d+"))).to_be_visible()


def test_a_folder_keeps_its_paths(signed_in: Any, furnished: Any, worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "host3" / "raid").mkdir(parents=True)
    (tmp_path / "host3" / "raid" / "run.json").write_bytes(REPORT)
    (tmp_path / "host3" / "notes.txt").write_text("bring milk\n")
    page = signed_in()
    page.goto("/uploads/")
    page.get_by_label("or a folder").set_input_files(tmp_path / "host3")
    page.get_by_role("button", name="Upload 2 files").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/$"))
    with lab_scope(furnished.lab.pk):
        assert set(UploadedFile.objects.values_list("name", flat=True)) == {"host3/raid/run.json", "host3/notes.txt"}
        assert Upload.objects.get().name == "host3"


def test_dropped_files_and_pasted_text_become_one_upload(signed_in: Any, furnished: Any, worker: Worker) -> None:
    page = signed_in()
    page.goto("/uploads/")
    transfer = page.evaluate_handle(
        "() => { const data = new DataTransfer(); for (const n of [1, 2]) data.items.add(new File([`words ${n}`], `${n}.txt`)); return data; }"
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})
    expect(page.get_by_role("button", name="Upload 2 files")).to_be_visible()
    page.get_by_label("Or paste text").fill("105 MB copied")
    page.get_by_label("Labels").fill("kernel=6.1")
    page.get_by_role("button", name="Upload 2 files").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/$"))
    with lab_scope(furnished.lab.pk):
        upload = Upload.objects.get()
        assert upload.labels == {"kernel": "6.1"}
        assert sorted(upload.files.values_list("name", flat=True)) == ["1.txt", "2.txt", "pasted.txt"]


@pytest.mark.long
def test_files_that_miss_the_frame_are_taken_all_the_same(signed_in: Any, furnished: Any) -> None:
    page = signed_in()
    page.goto("/uploads/")
    transfer = page.evaluate_handle(
        "() => { const data = new DataTransfer(); data.items.add(new File(['x'.repeat(1023)], '1.txt')); return data; }"
    )
    page.dispatch_event("h1", "dragover", {"dataTransfer": transfer})
    expect(page.locator("#drop")).to_have_class(re.compile("is-over"))
    page.dispatch_event("h1", "drop", {"dataTransfer": transfer})
    expect(page.get_by_role("button", name="Upload 1 file")).to_be_visible()
    expect(page.locator("#drop")).not_to_have_class(re.compile("is-over"))


@pytest.mark.long
def test_sizes_are_written_as_on_the_other_pages(signed_in: Any, furnished: Any) -> None:
    page = signed_in()
    choose(page, "a.txt", data=b"x" * (1023 * 1024 - 5))
    expect(page.locator("#sending-files")).to_contain_text("1.05\u00a0MB")
    page.evaluate("document.documentElement.dataset.base = 1024")
    page.get_by_label("Choose files").set_input_files(
        {"name": "b.txt", "mimeType": "text/plain", "buffer": b"x" * 1023 * 1024}
    )
    expect(page.locator("#sending-files")).to_contain_text("1023\u00a0KiB")


def test_a_file_that_fails_says_why_and_the_others_arrive(signed_in: Any, furnished: Any, worker: Worker) -> None:
    page = signed_in()
    choose(page, "a.txt", "b.txt")
    page.route(
        "**/add/",
        lambda route: route.fulfill(status=507, json={"error": "No space left on device."})
        if b'filename="b.txt"' in (route.request.post_data_buffer or b"") else route.continue_(),
    )  # fmt: skip
    page.get_by_role("button", name="Upload 2 files").click()
    expect(page.locator("#sending-files")).to_contain_text("No space left on device.")
    expect(page.get_by_role("status").filter(has_text="1 of 2 files sent")).to_be_visible()
    page.unroute("**/add/")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/$"))
    with lab_scope(furnished.lab.pk):
        assert Upload.objects.get().files.count() == 2


@pytest.mark.long
def test_a_file_that_was_changed_after_it_was_chosen_is_called_so(
    signed_in: Any, furnished: Any, worker: Worker, tmp_path: Path
) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(REPORT)
        os.utime(tmp_path / name, (LONG_AGO, LONG_AGO))  # Chromium sees a change only of a second or more
    page = signed_in()
    page.goto("/uploads/")
    page.get_by_label("Choose files").set_input_files([tmp_path / "a.json", tmp_path / "b.json"])
    (tmp_path / "b.json").write_bytes(OTHER * 2)
    page.get_by_role("button", name="Upload 2 files").click()
    expect(page.locator("#sending-files")).to_contain_text("changed or removed since it was chosen")
    expect(page.get_by_role("status").filter(has_text="1 of 2 files sent")).to_be_visible()


@pytest.mark.long
def test_of_many_files_several_go_together_and_one_that_is_gone_stops_no_other(
    signed_in: Any, furnished: Any, worker: Worker, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    for number in range(100):
        (results / f"{number:02}.json").write_bytes(variant(number))
    page = signed_in()
    page.goto("/uploads/")
    page.get_by_label("Choose files").set_input_files(sorted(results.iterdir()))
    (results / "07.json").unlink()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url) if request.url.endswith("/add/") else None)
    page.get_by_role("button", name="Upload 100 files").click()
    expect(page.get_by_role("status").filter(has_text="99 of 100 files sent")).to_be_visible()
    expect(page.locator("#sending-files tr").nth(7)).to_contain_text("changed or removed since it was chosen")
    expect(page.locator("#sending-files")).not_to_contain_text("connection broke")
    assert 25 <= len(requests) <= 80
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("status").filter(has_text="Nothing here can be sent.")).to_be_visible()
    with lab_scope(furnished.lab.pk):
        sizes = dict(UploadedFile.objects.values_list("name", "size"))
    assert sizes == {f"{number:02}.json": len(REPORT) + number for number in range(100) if number != 7}


@pytest.mark.long
def test_who_signs_in_again_meanwhile_goes_on_with_the_rest(
    signed_in: Any, furnished: Any, worker: Worker, sign_in: Any, live_server: Any
) -> None:
    page = signed_in()
    names = [f"{number}.json" for number in range(5)]
    choose(page, *names)
    arrived: list[str] = []

    def sign_out_after_two(route: Any) -> None:
        arrived.append(route.request.url)
        if len(arrived) == 3:
            page.context.clear_cookies()
        route.continue_()

    page.route("**/add/", sign_out_after_two)
    page.get_by_role("button", name="Upload 5 files").click()
    expect(page.get_by_text("Your sign-in has ended.")).to_be_visible()
    expect(page.get_by_role("link", name="Sign in in another tab")).to_have_attribute("href", "/accounts/login/")
    session = sign_in("engineer").cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page.get_by_role("button", name=re.compile(r"Upload \d files?")).click()
    page.wait_for_url(re.compile(r"/uploads/\d+/$"))
    with lab_scope(furnished.lab.pk):
        assert sorted(UploadedFile.objects.values_list("name", flat=True)) == names
        assert Upload.objects.count() == 1


@pytest.mark.long
def test_a_page_that_looks_again_by_itself_leads_to_the_sign_in_when_that_has_ended(
    signed_in: Any, furnished: Any, worker: Worker
) -> None:
    page = signed_in()
    choose(page, "run.json")
    page.get_by_role("button", name="Upload 1 file").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/$"))
    address = page.url.removeprefix(page.url.partition("/uploads/")[0])
    page.context.clear_cookies()
    page.wait_for_url(re.compile(r"/accounts/login/\?next="))
    assert page.url.endswith(address)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.long
def test_the_list_moves_along_with_what_is_sent(signed_in: Any, furnished: Any, worker: Worker) -> None:
    page = signed_in()
    choose(page, *(f"{number:02}.txt" for number in range(30)))
    page.route("**/add/", lambda route: route.fulfill(status=507, json={"error": "No space left on device."}))
    page.get_by_role("button", name="Upload 30 files").click()
    expect(page.get_by_role("status").filter(has_text="30 failed")).to_be_visible()
    expect(page.locator("#sending-files tr").last).to_be_visible()
    assert page.get_by_role("region", name="Files to upload").evaluate("list => list.scrollTop") > 0


def test_wrong_labels_are_said_before_anything_is_sent(signed_in: Any, furnished: Any, worker: Worker) -> None:
    page = signed_in()
    choose(page, "a.txt")
    page.get_by_label("Labels").fill("nonsense")
    page.get_by_role("button", name="Upload 1 file").click()
    expect(page.get_by_role("status").filter(has_text="Labels: Found 'nonsense'")).to_be_visible()
    page.get_by_label("Labels").fill("a=b")
    page.get_by_role("button", name="Upload 1 file").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/$"))


def test_without_javascript_files_are_uploaded_previewed_and_kept(
    open_browser: Any, furnished: Any, worker: Worker
) -> None:
    page = open_browser(java_script_enabled=False)
    page.goto("/accounts/login/?next=/uploads/")
    page.get_by_label("E-mail address").fill("engineer@example.org")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Choose files").set_input_files({"name": "run.json", "mimeType": "text/plain", "buffer": REPORT})
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("0 / 1")).to_be_visible()
    worker()
    page.reload()
    page.get_by_role("link", name="run.json").click()
    page.locator('tbody input[name="run"]').uncheck()
    page.get_by_role("button", name="Keep only selected runs").click()
    expect(page.get_by_text("left out")).to_be_visible()
    page.locator('tbody input[name="run"]').check()
    page.get_by_role("button", name="Keep only selected runs").click()
    page.get_by_role("button", name="Keep 1 run").click()
    expect(page.get_by_text("1 run kept.")).to_be_visible()
    with lab_scope(furnished.lab.pk):
        assert Run.objects.filter(origin="uploaded").count() == 1


@pytest.mark.long
def test_a_tick_leaves_a_run_out_at_once(signed_in: Any, filled: Upload) -> None:
    page = signed_in()
    with lab_scope(filled.lab_id):
        page.goto(filled.files.get(name="x.json").get_absolute_url())
    box = page.locator('tbody input[name="run"]')
    box.focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("left out")).to_be_visible()
    expect(box).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_text("left out")).to_be_hidden()


def test_the_mapping_shows_its_result_while_one_answers(signed_in: Any, filled: Upload, worker: Worker) -> None:
    page = signed_in()
    page.goto(addresses(filled)[-1])
    expect(page.get_by_text("Still open:")).to_be_visible()
    page.get_by_label("Unit of file size MB").select_option("MB (1024)")
    page.get_by_label("All values: operation").select_option("write")
    page.get_by_label("All values: unit").select_option("KB/s (1024)")
    result = page.get_by_role("region", name="What is read", exact=True)
    expect(result).to_contain_text("182\u00a0MB/s")
    page.get_by_role("button", name="Use this mapping").click()
    expect(page.get_by_text("The file is being parsed")).to_be_visible()
    worker()
    expect(page.get_by_role("button", name="Keep 2 runs")).to_be_visible()


@pytest.mark.long
def test_a_machines_description_is_taken_to_its_host(signed_in: Any, filled: Upload) -> None:
    page = signed_in()
    page.goto(filled.get_absolute_url())
    page.get_by_label("Host that md0").select_option("storage1")
    page.get_by_role("button", name="Take").click()
    expect(page.get_by_text("is kept beside storage1")).to_be_visible()
    with lab_scope(filled.lab_id):
        assert Host.objects.get(name="storage1").found_inventory.count() == 1


@pytest.mark.long
def test_all_files_of_a_page_are_selected_at_once(signed_in: Any, filled: Upload) -> None:
    page = signed_in()
    page.goto(filled.get_absolute_url())
    page.get_by_label("Select all on this page").check()
    expect(page.get_by_label("Select x.json")).to_be_checked()
    page.get_by_label("Host and target of the selected files").select_option(label="storage1, no target")
    page.get_by_role("button", name="Set host").click()
    expect(page.get_by_text("2 files of storage1")).to_be_visible()


UNDER_THE_BAR = """() => {
  const [one, bar] = [document.activeElement, document.querySelector(".selected-bar")];
  return !bar.contains(one) && one.getBoundingClientRect().bottom > bar.getBoundingClientRect().top;
}"""


@pytest.mark.long
def test_what_has_the_focus_is_not_under_the_bar_of_acts(signed_in: Any, furnished: Any, worker: Worker) -> None:
    with lab_scope(furnished.lab.pk):
        upload = open_upload(furnished.lab, "many", door="page", actor="engineer@example.org")
        for number in range(25):
            add_file(upload, f"{number:02}.json", variant(number))
        worker()
    page = signed_in()
    page.goto(upload.get_absolute_url())
    expect(
        page.get_by_role("button", name="Set host")
    ).to_be_in_viewport()  # though there is more than a window of files
    expect(page.get_by_label("Select 24.json")).not_to_be_in_viewport()
    page.get_by_label("Select 00.json").focus()
    for _ in range(45):
        page.keyboard.press("Tab")
        assert not page.evaluate(UNDER_THE_BAR), page.evaluate("document.activeElement.outerHTML")


def test_the_keyboard_alone_uploads_and_keeps(signed_in: Any, furnished: Any, worker: Worker) -> None:
    page = signed_in()
    page.goto("/uploads/")
    page.get_by_label("Choose files").focus()
    for label in ("or a folder", "Or paste text"):
        page.keyboard.press("Tab")
        expect(page.get_by_label(label)).to_be_focused()
    page.keyboard.insert_text(REPORT.decode())
    while not page.get_by_role("button", name="Upload").evaluate("one => one === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/uploads/\d+/$"))
    worker()
    expect(page.get_by_role("button", name="Keep all 1 run")).to_be_visible()
    page.get_by_role("button", name="Keep all 1 run").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 run kept.")).to_be_visible()


@pytest.mark.parametrize("half", [0, 1])
def test_every_page_is_for_everybody_light_dark_and_on_a_phone(
    signed_in: Any, filled: Upload, complaints: list[str], half: int
) -> None:
    assert faults(signed_in(), sample(addresses(filled)[half::2], 2), complaints) == {}
