from datetime import timedelta

from django.utils import timezone

from apps.agents.models import Agent, Enrolment
from apps.labs.isolation import lab_scope
from tests.agents.conftest import FakeAgent


def _token(lab, **fields) -> str:
    with lab_scope(lab.pk):
        return Enrolment.objects.issue(lab, "owner", **fields)[1]


def test_a_host_waits_for_an_owner(cast) -> None:
    fake = FakeAgent(cast.lab)
    answer = fake.enrol(_token(cast.lab))
    assert answer.json() == {"agent": fake.pk, "name": "bench1", "lab": "storage-lab", "state": "pending"}
    refused = fake.post("inventory/", outputs=[])
    assert refused.status_code == 403
    assert refused.json()["state"] == "pending"


def test_the_server_keeps_only_hashes(cast) -> None:
    fake, token = FakeAgent(cast.lab), _token(cast.lab)
    fake.enrol(token)
    with lab_scope(cast.lab.pk):
        rows = str(list(Enrolment.objects.values())) + str(list(Agent.objects.values()))
    assert fake.secret not in rows
    assert token not in rows


def test_a_token_is_good_once(cast) -> None:
    token = _token(cast.lab)
    FakeAgent(cast.lab).enrol(token)
    assert FakeAgent(cast.lab).enrol(token).status_code == 401


def test_a_lost_answer_may_be_asked_for_again(cast) -> None:
    fake, token = FakeAgent(cast.lab), _token(cast.lab)
    assert fake.enrol(token).json() == fake.enrol(token).json()
    with lab_scope(cast.lab.pk):
        assert Agent.objects.count() == 1


def test_an_old_token_is_refused(cast) -> None:
    token = _token(cast.lab)
    with lab_scope(cast.lab.pk):
        Enrolment.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert FakeAgent(cast.lab).enrol(token).status_code == 401


def test_the_same_machine_enrolled_again_keeps_its_host(cast) -> None:
    fake = FakeAgent(cast.lab)
    fake.enrol(_token(cast.lab, trusted=True))
    host, old = fake.row.host, fake.headers
    fake.secret = "b" * 64
    fake.enrol(_token(cast.lab, trusted=True))
    assert fake.row.host == host
    fresh, fake_headers = fake.headers, old
    assert fresh != fake_headers


def test_two_machines_of_one_name_are_two_hosts(cast) -> None:
    one, two = FakeAgent(cast.lab), FakeAgent(cast.lab)
    one.enrol(_token(cast.lab))
    two.enrol(_token(cast.lab))
    assert [one.row.host.name, two.row.host.name] == ["bench1", "bench1 (2)"]


def test_nonsense_is_refused_in_words(cast) -> None:
    fake = FakeAgent(cast.lab, machine="x")
    answer = fake.enrol(_token(cast.lab))
    assert answer.status_code == 400
    assert "64 hexadecimal digits" in answer.json()["detail"]


def test_a_hosts_name_is_one_line_without_control_characters(cast) -> None:
    fake = FakeAgent(cast.lab)
    fake.enrol(_token(cast.lab), hostname="bench\n\x1b[2J\u202e9 ")
    assert fake.row.host.name == "bench\ufffd\ufffd[2J\ufffd9"
