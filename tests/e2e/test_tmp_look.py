from typing import Any
import pytest
from apps.comparison.claims.models import Claim
from apps.dashboard.published.load import load_study
from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.studies.models import Study
from apps.studies.lookup import published_lab
from tests.comparison.claims.test_matched import write
from tests.comparison.like_for_like.simulated_labs import old_machine
from tests.comparison.like_for_like.stored_labs import store
from tests.comparison.like_for_like.test_missing_plan import FIVE, GIB, measure, offer
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

def test_look(signed_in: Any, cast: Any, tmp_path, settings) -> None:
    settings.ARTEFACT_DIR = tmp_path
    for slug in ("crs4-sata-scsi", "thumper-x4500", "tristan-sas-sata"):
        load_study(slug, published_lab()[0])
    with lab_scope(cast.lab.pk):
        study = Study.objects.create(lab=cast.lab, slug="disks", title="Disks of our lab")
        store(cast.lab, old_machine(7))
        a = write(study, size=1.5)
        b = write(study, "Q2", factor="kernel", level="6.1", against="2.6")
        c = write(study, "Q3", factor="raid_implementation", level="hardware", against="software", direction="not_higher")
        host = Host.objects.create(lab=cast.lab, name="bench", ram_bytes=8 * GIB, kernel="6.1.0", cpu_model="C")
        measure(offer(host, "data", "ext4"), FIVE)
        measure(offer(host, "fast", "xfs"), [2.6e8])
    for width, scheme in ((1280, "light"), (390, "dark")):
        page = signed_in("engineer", width=width, color_scheme=scheme)
        for name, path in {
            "question": "/compare/questions/raid_level/?operation=write&metric=bandwidth",
            "missing": "/compare/questions/filesystem/?operation=read&metric=bandwidth&host=bench",
            "form": "/claims/about/raid_level/?operation=write&metric=bandwidth&against=single&level=5",
            "claim": f"/claims/{a.pk}/", "claim-open": f"/claims/{b.pk}/", "claim-not": f"/claims/{c.pk}/",
            "study": "/studies/disks/#claims", "published": "/compare/?published=yes", "crs4": "/studies/crs4-sata-scsi/#questions",
        }.items():
            page.goto(path)
            page.wait_for_timeout(300)
            if name in ("study", "crs4"):
                page.locator("#claims" if name == "study" else "#questions").screenshot(path=f"/tmp/claims/{name}-{width}.png")
            else:
                page.screenshot(path=f"/tmp/claims/{name}-{width}.png", full_page=True)
        if width == 1280:
            for slug in ("crs4-sata-scsi", "thumper-x4500", "tristan-sas-sata"):
                page.goto(f"/studies/{slug}/")
                print(page.locator("#questions").inner_text())
            page.goto("/compare/questions/file_against_ram/?study=crs4-sata-scsi")
            page.screenshot(path=f"/tmp/claims/ram-{width}.png", full_page=True)
