"""The report in a browser: sorting, filters, dark mode, phones, keyboard."""

import re

import numpy as np
import pytest
from browser import CONTRAST, DESK, PHONE, axe_findings, complaints, open_browser

from sketchforest import RandomForestClassifier
from sketchforest.datasets import make_multilabel
from sketchforest.report import make_report

N_LABELS = 120
LONG = "a-label-with-a-very-long-name-that-no-line-of-a-phone-can-hold-in-one-piece"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    data = make_multilabel(500, 40, N_LABELS, labels_per_row=4, features_per_row=8, random_state=0)
    forest = RandomForestClassifier(20, random_state=0, threshold="f1", oob_score=True)
    forest.fit(data.X[:300], data.Y[:300])
    names = np.array([f"label {at}" for at in range(N_LABELS)], dtype=object)
    names[7], names[8] = "<script>document.title = 'taken'</script>", LONG
    forest.attach(label_names=names.astype(str))
    path = tmp_path_factory.mktemp("report") / "report.html"
    make_report(forest, data.X[300:], data.Y[300:], title="A forest").save(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def desk():
    with open_browser(DESK) as driver:
        yield driver


@pytest.fixture
def page(desk, address):
    desk.get(address)
    yield desk
    assert complaints(desk) == []


def find(driver, selector):
    return driver.find_elements("css selector", selector)


def column(driver, at):
    """Return a column of the table of labels."""
    script = """
    const rows = document.querySelectorAll("#all tbody tr");
    return [...rows].map((row) => row.cells[arguments[0]].textContent);
    """
    return driver.execute_script(script, at)


def numbers(texts):
    return [float(text.replace(",", "")) for text in texts if text != "–"]


def head(driver, name):
    (found,) = [b for b in find(driver, "#all thead button") if b.text.startswith(name)]
    return found


def test_the_page_loads_nothing_and_runs_no_names(page):
    assert page.title == "A forest – report"
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_column_headers_sort_the_table_both_ways(page):
    assert numbers(column(page, 1)) == sorted(numbers(column(page, 1)), reverse=True)
    head(page, "F1").click()
    first = numbers(column(page, 5))
    assert first == sorted(first, reverse=True)
    assert [e.text for e in find(page, "#all th[aria-sort=descending]")] == ["F1"]
    head(page, "F1").click()
    lowest = numbers(column(page, 5))
    assert lowest == sorted(lowest)
    assert lowest[0] <= first[0]
    head(page, "label").click()  # numerically: 2 before 10
    at = [int(name.split()[1]) for name in column(page, 0) if re.fullmatch(r"label \d+", name)]
    assert at == sorted(at)
    assert len(at) >= 48


def test_labels_are_found_by_part_of_their_name(page):
    (box,) = find(page, "#find")
    box.send_keys("LABEL 11")
    assert sorted(column(page, 0)) == sorted(["label 11", *(f"label 11{at}" for at in range(10))])
    assert find(page, "#count")[0].text == "1 to 11 of 11"
    assert not find(page, ".pager")[0].is_displayed()
    box.send_keys(" none")
    assert column(page, 0) == []
    assert find(page, "#count")[0].text == "No matches."


def test_the_table_filters_labels_that_are_never_predicted(page):
    def show(kind):
        find(page, f"#which option[value={kind}]")[0].click()
        said = find(page, "#count")[0].text
        return 0 if said == "No matches." else int(said.split()[-1])

    counts = {kind: show(kind) for kind in ("all", "predicted", "never", "absent")}
    assert counts["all"] == N_LABELS
    assert 0 < show("never") < N_LABELS
    assert set(column(page, 2)) <= {"0"}
    assert "0" not in column(page, 1)
    n_elsewhere = counts["predicted"] + counts["never"]
    assert n_elsewhere <= N_LABELS <= n_elsewhere + counts["absent"]


def test_paging_shows_every_label_once(page):
    seen = column(page, 0)
    previous, following = find(page, ".pager button")
    assert not previous.is_enabled()
    while following.is_enabled():
        following.click()
        seen += column(page, 0)
    assert len(seen) == len(set(seen)) == N_LABELS
    assert find(page, "#count")[0].text == f"101 to {N_LABELS} of {N_LABELS}"
    previous.click()
    assert find(page, "#count")[0].text == f"51 to 100 of {N_LABELS}"


def test_the_keyboard_is_enough(page):
    from selenium.webdriver.common.keys import Keys

    def press(*keys):
        for key in keys:
            page.switch_to.active_element.send_keys(key)
        return page.switch_to.active_element

    def outline():
        active = page.switch_to.active_element
        return page.execute_script("return getComputedStyle(arguments[0]).outlineStyle", active)

    find(page, "body")[0].send_keys(Keys.TAB)
    assert page.switch_to.active_element.text == "Skip to content"
    assert outline() == "solid"
    press(Keys.ENTER)
    assert page.current_url.endswith("#content")
    seen = []
    while page.switch_to.active_element.get_attribute("id") != "find":
        press(Keys.TAB)
        seen.append(page.switch_to.active_element.tag_name)
        assert outline() == "solid"
        assert len(seen) < 30
    press("label 1", Keys.TAB)
    assert page.switch_to.active_element.get_attribute("id") == "which"
    press(Keys.TAB, Keys.TAB)  # past the scrollable table to its first header
    assert page.switch_to.active_element.text.startswith("label")
    press(Keys.ENTER)
    assert column(page, 0)[:3] == ["label 1", "label 10", "label 11"]
    press(Keys.ENTER)
    assert column(page, 0)[0] == "label 119"
    assert page.switch_to.active_element.text.startswith("label")  # focus is kept


TEXTS = "h1, p.quiet, .tile .quiet, .note, td, th, figcaption, dt, dd, a, label span, svg text"


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_text_contrast_suffices_in_light_and_dark(address, scheme):
    with open_browser(DESK, scheme) as driver:
        driver.get(address)
        colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        is_dark = sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 128
        assert is_dark == (scheme == "dark")
        texts = [each for each in find(driver, TEXTS) if each.is_displayed()][:150]
        assert min(driver.execute_script(CONTRAST, each) for each in texts) >= 4.5
        lines = driver.execute_script(
            "const lines = [...document.querySelectorAll('svg .first')];"
            "return lines.map((e) => getComputedStyle(e).stroke)"
        )
        expected = driver.execute_script(
            "const e = document.createElement('a'); e.href = '#'; document.body.append(e);"
            "return getComputedStyle(e).color"
        )
        assert set(lines) == {expected}


def test_a_phone_shows_the_report_without_scrolling_sideways(address):
    with open_browser(PHONE) as driver:
        driver.get(address)
        assert driver.execute_script("return innerWidth") == PHONE[0]
        assert driver.execute_script("return document.documentElement.scrollWidth") == PHONE[0]
        outside = """
        return [...document.querySelectorAll("main *, header *, footer *")].filter((element) => {
          const box = element.getBoundingClientRect();
          return box.width && box.right > innerWidth + 1 && !element.closest(".wide, .hidden");
        }).map((element) => element.outerHTML.slice(0, 200));
        """
        assert driver.execute_script(outside) == []
        small = """
        return [...document.querySelectorAll(".button, input, select")]
          .filter((element) => element.offsetParent && element.offsetHeight < 36).length;
        """
        assert driver.execute_script(small) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_no_serious_barrier_in_a_report(address, size, scheme):
    with open_browser(size, scheme) as driver:
        driver.get(address)
        for details in find(driver, "details"):
            driver.execute_script("arguments[0].open = true", details)
        assert axe_findings(driver) == []
