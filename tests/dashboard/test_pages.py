"""Every page, for every role: who sees what, in how many queries, and that empty pages say what to do next."""

import pytest
from django.urls import reverse

from apps.agents.models import Enrolment
from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab, Member, Role, User
from tests.dashboard import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def furnished(lab, settings, tmp_path):
    settings.ARTEFACT_DIR = tmp_path
    return world.furnish(lab)


def pages(furnished):
    host = furnished.host
    one = {
        "host": host.pk, "controller": host.controllers.first().pk, "disk": host.disks.first().pk,
        "array": host.arrays.first().pk,
        "filesystem": host.filesystems.first().pk, "target": furnished.target.pk,
        "snapshot": furnished.finished.snapshot_id,
        "run": furnished.finished.pk,
    }  # fmt: skip
    lists = [
        "hosts",
        "controllers",
        "disks",
        "arrays",
        "filesystems",
        "targets",
        "snapshots",
        "runs",
        "overview",
        "lab",
        "agents",
    ]
    return [reverse(name) for name in lists], [reverse(name, args=[pk]) for name, pk in one.items()]


@pytest.mark.slow
@pytest.mark.parametrize("role", ["viewer", "engineer", "owner"])
def test_members_read_every_page(furnished, sign_in, role):
    browser = sign_in(role)
    lists, details = pages(furnished)
    for address in [*lists, *details]:
        answer = browser.get(address)
        assert answer.status_code == 200, address
        assert "None" not in answer.content.decode().replace("None were kept", "").replace("None known", "").replace(
            "None yet", ""
        ), address


def test_a_stranger_sees_no_row_of_another_lab(furnished, sign_in):
    browser = sign_in("stranger")
    lists, details = pages(furnished)
    for address in lists:
        answer = browser.get(address)
        assert answer.status_code == 200
        assert "storage1" not in answer.content.decode()
    for address in details:
        assert browser.get(address).status_code == 404, address


def test_nobody_reads_without_signing_in(furnished, client):
    lists, details = pages(furnished)
    for address in [*lists, *details]:
        answer = client.get(address)
        assert answer.status_code == 302
        assert answer["Location"].startswith(reverse("account_login"))


def test_a_person_without_a_lab_is_told_whom_to_ask(cast, client):
    client.force_login(
        User.objects.create_user("new@example.org", "correct horse battery"),
        "allauth.account.auth_backends.AuthenticationBackend",
    )
    answer = client.get("/")
    assert answer.status_code == 403
    assert "not a member of a lab" in answer.content.decode()


@pytest.mark.parametrize("name", ["run-new", "agent-enrolment", "tokens", "audit"])
def test_a_viewer_is_told_which_role_a_page_needs(cast, sign_in, name):
    answer = sign_in("viewer").get(reverse(name))
    assert answer.status_code == 403
    assert "you are viewer" in answer.content.decode()


def queries_of(browser, address, django_assert_max_num_queries):
    with django_assert_max_num_queries(60) as found:
        assert browser.get(address).status_code == 200
    return len(found)


@pytest.mark.slow
def test_lists_and_pages_take_as_many_queries_for_a_large_lab(furnished, sign_in, django_assert_max_num_queries):
    browser = sign_in("engineer")
    lists, details = pages(furnished)
    before = {address: queries_of(browser, address, django_assert_max_num_queries) for address in [*lists, *details]}
    with lab_scope(furnished.lab.pk):
        for number in range(4):
            host = world.raid_host(furnished.lab, f"more{number}")
            world.agent_on(host)
            world.start(furnished.lab, Target.objects.get(host=host, is_agents_own=True), repetitions=5)
        for letter in "abc":
            world.start(furnished.lab, furnished.target)
            world.boot_disk(furnished.host, f"nvme{letter}", f"/{letter}")
    after = {address: queries_of(browser, address, django_assert_max_num_queries) for address in [*lists, *details]}
    assert after == before


def test_an_empty_lab_says_what_to_do_first(cast, sign_in):
    page = sign_in("owner").get("/").content.decode()
    assert "First steps" in page
    assert reverse("agent-enrolment") in page


def test_the_overview_answers_htmx_with_its_live_part_only(furnished, sign_in):
    page = sign_in("viewer").get("/", headers={"HX-Request": "true"}).content.decode()
    assert "Running now" in page
    assert "<html" not in page


@pytest.mark.parametrize(
    ("state", "seen", "expected"),
    [
        ("approved", 3, "idle"),
        ("approved", 300, "offline"),
        ("pending", None, "pending"),
        ("quarantined", 3, "quarantined"),
    ],
)
def test_a_hosts_state_is_one_word(lab, sign_in, state, seen, expected):
    host = world.raid_host(lab, "alone")
    world.agent_on(host, state, seen)
    assert f'chip-{expected}"' in sign_in("viewer").get(host.get_absolute_url()).content.decode()


def test_a_host_that_lost_its_lease_is_unknown_not_idle(furnished, sign_in):
    with lab_scope(furnished.lab.pk):
        world.attempt_at(furnished.queued, world.State.UNKNOWN)
    assert 'chip-unknown"' in sign_in("viewer").get(furnished.host.get_absolute_url()).content.decode()


def test_a_host_shows_its_stack_once_and_refers_where_it_meets_an_array_again(furnished, sign_in):
    page = sign_in("viewer").get(furnished.host.get_absolute_url()).content.decode()
    tree = page[page.index('<ul class="tree">') :]
    assert tree.count('<span class="what">in <a href="/arrays/') == 1
    assert tree.count(">/srv/data</a>") == 1
    assert "4 × Seagate ST4000NM0023" in page


def test_not_printed_unknown_and_none_differ_on_the_page(furnished, sign_in):
    page = sign_in("viewer").get(furnished.host.get_absolute_url()).content.decode()
    for word in ("not_printed", "unknown", "none"):
        assert f'absent-{word}"' in page


def test_arrays_without_disks_and_loose_filesystems_are_drawn_too(lab, sign_in):
    host = Host.objects.create(lab=lab, name="old report")
    host.arrays.create(lab=lab, name="md7", level="5", implementation="software", member_count=6)
    host.filesystems.create(lab=lab, type="tmpfs", mount_point="/tmp")
    page = sign_in("viewer").get(host.get_absolute_url()).content.decode()
    assert "6 members" in page
    assert ">/tmp</a>" in page


def test_tool_outputs_are_attachments_and_never_pages(furnished, sign_in):
    with lab_scope(furnished.lab.pk):
        pk = furnished.host.tool_outputs.get().pk
    answer = sign_in("viewer").get(reverse("tool-output", args=[pk]))
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]
    assert sign_in("stranger").get(reverse("tool-output", args=[pk])).status_code == 404


def test_parts_of_a_published_lab_can_be_read_and_are_marked(cast, sign_in):
    published = Lab.objects.create(name="Reports", slug="reports", is_published=True)
    with lab_scope(published.pk):
        host = world.raid_host(published, "alodda2")
    answer = sign_in("viewer").get(host.get_absolute_url())
    assert answer.status_code == 200
    assert ">published</span>" in answer.content.decode()
    assert "Start a run" not in sign_in("engineer").get(host.get_absolute_url()).content.decode()


def test_a_404_says_what_it_may_mean(cast, sign_in):
    answer = sign_in("viewer").get("/hosts/999999/")
    assert answer.status_code == 404
    assert "belongs to another lab" in answer.content.decode()


@pytest.mark.slow
def test_no_page_holds_an_inline_style_or_handler(furnished, sign_in):
    browser = sign_in("owner")
    lists, details = pages(furnished)
    for address in [*lists, *details, reverse("run-new"), reverse("tokens")]:
        page = browser.get(address).content.decode()
        assert " style=" not in page, address
        assert " onclick=" not in page, address
        assert "http://" not in page.replace("http://testserver", "").replace("http://127.0.0.1", "").replace(
            "http://www.w3.org", ""
        ), address


def test_an_agent_is_approved_by_an_owner_only(furnished, sign_in):
    with lab_scope(furnished.lab.pk):
        agent = world.agent_on(world.raid_host(furnished.lab, "new"), "pending")
    address = reverse("agent-decide", args=[agent.pk, "approve"])
    assert sign_in("engineer").post(address).status_code == 403
    assert sign_in("stranger").post(address).status_code == 404
    assert sign_in("owner").get(address).status_code == 405
    assert sign_in("owner").post(address, follow=True).status_code == 200
    with lab_scope(furnished.lab.pk):
        agent.refresh_from_db()
    assert agent.state == "approved"
    assert sign_in("owner").post(reverse("agent-decide", args=[agent.pk, "explode"])).status_code == 404


def test_quarantine_and_revocation_are_written_down(furnished, sign_in):
    owner = sign_in("owner")
    for act in ("quarantine", "revoke"):
        owner.post(reverse("agent-decide", args=[furnished.agent.pk, act]))
    page = owner.get(reverse("audit")).content.decode()
    assert "agent quarantined" in page
    assert "agent revoked" in page


def test_enrolment_shows_the_line_once_and_turns_green_when_the_agent_is_there(cast, sign_in):
    owner = sign_in("owner")
    page = owner.post(reverse("agent-enrolment")).content.decode()
    assert "| SPINDLE_ENROL_TOKEN=spe_" in page
    assert "Waiting for the host" in page
    with lab_scope(cast.lab.pk):
        enrolment = Enrolment.objects.get()
        enrolment.agent = world.agent_on(world.raid_host(cast.lab, "fresh"), "pending")
        enrolment.save()
    later = owner.get(reverse("agent-awaited", args=[enrolment.pk])).content.decode()
    assert "fresh is here" in later
    assert "hx-get" not in later


def test_the_lab_is_switched_only_to_ones_own(cast, sign_in):
    browser = sign_in("viewer")
    assert browser.post(reverse("lab-switch"), {"lab": cast.other_lab.pk}).status_code == 404
    Member.objects.create(lab=cast.other_lab, user=cast.viewer, role=Role.VIEWER)
    assert browser.post(reverse("lab-switch"), {"lab": cast.other_lab.pk}, follow=True).context["lab"] == cast.other_lab
