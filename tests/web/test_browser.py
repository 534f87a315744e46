"""The workbench in a real browser: all seven steps, as a person walks them, wide and narrow, light and dark."""

import os
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from tests.web.conftest import Server

import shoal
from shoal.demo import hospital
from shoal.web.guard import ENTRANCE
from shoal.web.project import Project
from shoal.web.server import ADDRESS

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
)


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=FLAGS.split())
        yield started
        started.close()


class Walk:
    """A page that notes whatever goes wrong."""

    def __init__(self, browser, server, looks, pictures):
        """``looks``: the widths of the window, and whether it is dark; the first is the one that is walked in."""
        self.page, self.looks = browser.new_page(), looks
        self._dress(looks[0][0], dark=looks[0][1])
        self.page.set_default_timeout(60_000)
        self.wrong, self.server, self.pictures = [], server, pictures
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("response", lambda answer: answer.status >= 400 and self.wrong.append(answer.url))
        self.page.goto(f"{self._root}{ENTRANCE}?token={server.keys.token}")
        self.page.wait_for_url("**/load")

    @property
    def _root(self):
        return f"http://{ADDRESS}:{self.server.port}"

    def _asked(self, address):
        if not address.startswith((self._root, "data:", "blob:")):
            self.wrong.append(address)

    def at(self, step):
        self.page.goto(f"{self._root}/{step}")

    def press(self, name, **how):
        self.page.locator("[data-htmx-powered]").first.wait_for(state="attached")  # nobody is as quick as a test
        self.page.get_by_role("button", name=name, **how).click()

    def follow(self, name):
        self.page.get_by_role("link", name=name).click()

    def see(self, text):
        self.page.get_by_text(text).first.wait_for()

    def _dress(self, width, *, dark):
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme="dark" if dark else "light")

    def look(self, name):
        """Look at a page in every width."""
        self.page.wait_for_load_state("networkidle")
        for width, dark in reversed(self.looks):
            self._dress(width, dark=dark)
            self._look(f"{width}-{name}")

    def _look(self, name):
        """See that nobody is kept out: names, contrast, roles; and take a picture if somebody wants to see it."""
        if self.pictures is not None:
            self.page.screenshot(path=self.pictures / f"{name}.png", full_page=True)
        found = Axe().run(self.page).response["violations"]
        serious = [one["id"] for one in found if one["impact"] in {"serious", "critical"}]
        assert serious == [], name
        across = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert across <= 0, f"{name} is wider than the window"


@pytest.fixture(scope="module")
def pictures():
    """Return the folder for screenshots, if ``SHOAL_SCREENSHOTS`` names one: they are for a person to look at."""
    named = os.environ.get("SHOAL_SCREENSHOTS")
    if named is None:
        return None
    folder = Path(named)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


WIDE, NARROW = (1280, False), (400, True)


@pytest.fixture(params=[(WIDE,), (NARROW,)], ids=["wide", "narrow"])
def walk(request, browser, tmp_path, pictures):
    """Return a page on the demo's patients: wide and light, narrow and dark."""
    shoal.write(hospital(patients=500, seed=2).patients, tmp_path / "patients.csv")
    server = Server(Project.open(tmp_path / "project", tmp_path / "patients.csv"))
    held = Walk(browser, server, request.param, pictures)
    yield held
    held.page.close()
    server.close()
    assert held.wrong == []


BOTH = pytest.mark.parametrize("walk", [pytest.param((WIDE, NARROW), id="both")], indirect=True)


def decide(walk):
    """Choose roles."""
    walk.at("identify")
    walk.page.get_by_label("birth_date").wait_for()
    for name in ("height", "weight", "bmi", "insurance"):
        walk.page.get_by_label(name, exact=True).select_option("insensitive")
    walk.page.get_by_label("Purpose of the release").select_option("")
    walk.press("Confirm roles and assess")
    walk.see("unique on the quasi-identifiers")


def require(walk):
    walk.at("protect")
    walk.page.get_by_label("k", exact=True).fill("5")
    walk.press("Add requirement")
    walk.page.get_by_role("cell", name="k ≥ 5").wait_for()


@BOTH
def test_the_whole_way(walk):
    walk.see("500 records × 27 columns")
    walk.look("1-load")
    walk.follow("Next: identify")
    walk.page.get_by_label("birth_date").wait_for()
    walk.look("2-identify")
    decide(walk)
    walk.press("Evaluate all combinations")
    walk.page.locator(".spotted rect[data-htmx-powered]").nth(30).click()
    walk.see("Rank 251 of 500")
    walk.see("disclosed by")
    walk.page.get_by_label("Smallest class size").fill("5")
    walk.see("k = 5, risk 1 in 5")
    walk.look("3-assess")
    walk.follow("Next: protect")
    require(walk)
    walk.press("Search", exact=True)
    walk.page.get_by_role("heading", name="Release", exact=True).wait_for()
    walk.look("4-protect")
    walk.follow("Next: compare")
    walk.see("The release meets the requirement of the policy")
    walk.page.get_by_label("Predict").select_option("hypertension")
    walk.press("Train and test")
    walk.see("trained on the release")
    walk.look("5-compare")
    walk.follow("Next: attack")
    for name in ("reconstruction", "attribute-inference"):
        walk.page.get_by_label(name).uncheck()
    walk.press("Run attacks")
    walk.see("Next: release")
    walk.look("6-attack")
    walk.follow("Next: release")
    walk.page.get_by_role("heading", name="Files to publish").wait_for()
    walk.look("7-release")
    with walk.page.expect_download() as taken:
        walk.page.get_by_role("link", name="report-external.html", exact=True).click()
    assert "External version" in Path(taken.value.path()).read_text(encoding="utf-8")
    with walk.page.expect_popup() as other:
        walk.page.get_by_role("link", name="View in another tab: report.html").click()
    other.value.get_by_role("heading", name="Anonymisation report").wait_for()
    walk.page.reload()
    walk.page.go_back()
    walk.see("Attacks on the release")


@BOTH
def test_exploring(walk):
    """The frontier and the lattice are pressed, a hierarchy is tried, weights and levels are set."""
    decide(walk)
    require(walk)
    walk.press("Compute loss for every k")
    walk.page.get_by_role("heading", name="Information loss for every k").wait_for()
    walk.press("Explore lattice")
    walk.page.get_by_role("heading", name="Generalisation lattice").wait_for()
    walk.page.locator("section", has_text="Generalisation lattice").locator(
        ".spotted rect[data-htmx-powered]"
    ).first.click()
    walk.see("Does not meet the requirements")
    walk.press("Change the hierarchy of postcode")
    walk.page.get_by_label("Characters kept", exact=True).fill("2")
    walk.page.get_by_label("Characters kept", exact=True).press("Tab")
    walk.page.get_by_alt_text("postcode: 125 values become 20, and *").wait_for()
    walk.look("4-protect-explored")
    walk.press("Use this hierarchy")
    walk.see("125 → 20 → *")
    walk.page.get_by_label("Weight of sex").fill("3")
    walk.page.get_by_label("Highest level of sex").fill("0")
    walk.press("Save weights and levels")
    walk.see("The search is restricted to levels: sex 0 to 0.")
    walk.press("Compute loss for every k")
    walk.page.locator('rect[data-htmx-powered][aria-label^="Use k = 100 with at most 2%"]').click()  # it lies on top
    walk.page.get_by_role("cell", name="k ≥ 100").wait_for()
    held = walk.server.project.now.policy
    assert (held.k, held.search.suppression, held.search.weights) == (100, 0.02, {"sex": 3})


@BOTH
def test_perturbing(walk):
    """A column is perturbed with the form, and all techniques are compared."""
    unused = "birth_date ethnicity marital_status occupation height weight bmi insurance ms_diagnosis_year"
    walk.server.decide(**dict.fromkeys(unused.split(), "insensitive"))
    require(walk)
    walk.page.get_by_text("Columns", exact=True).click()
    walk.press("Change the perturbation of edss")
    walk.page.get_by_label("Kind", exact=True).select_option("noise")
    walk.page.get_by_label("Amount of noise").fill("0.2")
    walk.look("4-protect-perturbed")
    walk.press("Save perturbation")
    walk.page.get_by_role("cell", name="noise").wait_for()
    walk.press("Compare techniques")
    walk.page.get_by_role("heading", name="Techniques", exact=True).wait_for()
    walk.look("4-protect-techniques")


def test_a_press_is_not_lost_while_a_preview_comes(walk):
    """Who types and then presses the button at once leaves the field with that: the button must stay where it is."""
    decide(walk)
    walk.at("protect")
    walk.press("Change the hierarchy of postcode")
    walk.page.get_by_label("Characters kept", exact=True).fill("3, 1")
    button = walk.page.get_by_role("button", name="Use this hierarchy")
    button.scroll_into_view_if_needed()
    with walk.page.expect_response("**/protect/hierarchy"):  # what the page shows looks the same before and after
        button.click(delay=400)
    assert walk.server.project.now.policy.columns["postcode"].hierarchy.keep == [3, 1]


def test_names_of_columns_do_nothing(browser, tmp_path, pictures):
    """A name that is markup is shown, also in an error, and asks for nothing."""
    evil = "<b hx-post='/protect/policy' hx-trigger='load' hx-vals='{\"text\":\"version = 1\"}'>x</b>"
    shoal.write(shoal.read({evil: [1, 2] * 30, "age": list(range(60))}), tmp_path / "evil.csv")
    server = Server(Project.open(tmp_path / "project", tmp_path / "evil.csv"))
    held = Walk(browser, server, (WIDE,), pictures)
    try:
        server.decide(**{evil: "quasi", "age": "quasi", f"{evil}_nobody": True})
        held.at("protect")
        held.page.locator("#weights input[name^='low:<b']").fill("1")
        held.page.locator("#weights input[name^='high:<b']").fill("0")
        held.press("Save weights and levels")
        held.see("reversed")
        held.page.wait_for_load_state("networkidle")
        assert evil in server.project.now.policy.columns
        assert [one for one in held.wrong if "/protect/policy" in one] == []
    finally:
        held.page.close()
        server.close()


def test_by_keyboard(walk):
    walk.page.get_by_text("500 records × 27 columns").wait_for()
    walk.page.keyboard.press("Tab")
    assert walk.page.evaluate("document.activeElement.textContent") == "Skip to content"
    walk.page.keyboard.press("Enter")
    walk.page.keyboard.press("Tab")
    walk.page.keyboard.press("Tab")
    assert walk.page.evaluate("document.activeElement.textContent") == "Next: identify"
    walk.page.keyboard.press("Enter")
    walk.see("Roles of the columns")


@pytest.mark.parametrize("name", ["visits.xlsx", "besuche.csv"])
def test_files_that_are_uploaded(browser, tmp_path, pictures, name):
    """A file is loaded and released as a file of the same kind."""
    data = {
        "größe": [1.5, 2.5, 1.5] * 20,
        "geschlecht": ["w", "m", "w"] * 20,
        "diagnose": ["Erkältung", "Gicht", "MS"] * 20,
    }
    if name.endswith(".xlsx"):
        shoal.write(shoal.read(data), tmp_path / name)
    else:
        lines = [
            ";".join(data),
            *(";".join(str(cell).replace(".", ",") for cell in row) for row in zip(*data.values(), strict=True)),
        ]
        (tmp_path / name).write_bytes("\n".join(lines).encode("latin-1"))
    server = Server(Project.open())
    walk = Walk(browser, server, (WIDE,), pictures)
    try:
        walk.page.get_by_label("Load a file").set_input_files(tmp_path / name)
        walk.press("Load", exact=True)
        walk.see("60 records × 3 columns")
        walk.see("größe")
        walk.page.get_by_text("First rows").click()
        walk.press("Show 10 rows")
        walk.see("Erkältung")
        walk.look(f"upload-{name}")
        walk.follow("Next: identify")
        walk.page.get_by_label("größe").select_option("quasi")
        walk.page.get_by_label("geschlecht").select_option("quasi")
        walk.page.get_by_label("diagnose").select_option("sensitive")
        walk.page.get_by_label("Purpose of the release").select_option("")
        walk.press("Confirm roles and assess")
        walk.see("Re-identification risk")
        walk.follow("Next: protect")
        walk.page.get_by_label("k", exact=True).fill("3")
        walk.press("Add requirement")
        walk.page.get_by_role("cell", name="k ≥ 3").wait_for()
        walk.press("Search", exact=True)
        walk.page.get_by_role("heading", name="Release", exact=True).wait_for()
        walk.follow("Next: compare")
        walk.see("The release meets the requirement of the policy")
        walk.follow("Next: attack")
        walk.press("Run attacks")
        walk.see("Next: release")
        walk.follow("Next: release")
        walk.page.get_by_role("heading", name="Files to publish").wait_for()
        with walk.page.expect_download() as taken:
            walk.page.get_by_role("link", name=f"release{Path(name).suffix}", exact=True).click()
        released = tmp_path / f"released{Path(name).suffix}"
        taken.value.save_as(released)
        assert set(shoal.read(released).names) == set(data)
        assert walk.wrong == []
    finally:
        walk.page.close()
        server.close()


def test_two_tabs_see_the_same(browser, tmp_path, pictures):
    shoal.write(shoal.read({"age": list(range(20, 80)), "sex": ["f", "m"] * 30}), tmp_path / "d.csv")
    server = Server(Project.open(tmp_path / "project", tmp_path / "d.csv"))
    context = browser.new_context()
    try:
        one, two = context.new_page(), context.new_page()
        one.goto(f"http://{ADDRESS}:{server.port}{ENTRANCE}?token={server.keys.token}")
        one.wait_for_url("**/load")
        one.goto(f"http://{ADDRESS}:{server.port}/identify")
        one.get_by_label("age").select_option("quasi")
        one.locator("[data-htmx-powered]").first.wait_for(state="attached")
        one.get_by_role("button", name="Confirm roles and assess").click()
        one.get_by_text("Risk of the original table").wait_for()
        two.goto(f"http://{ADDRESS}:{server.port}/identify")
        assert two.get_by_label("age").input_value() == "quasi"
    finally:
        context.close()
        server.close()
