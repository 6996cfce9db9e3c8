"""The page of the service in a real browser."""

import pytest
from browser import DESK, PHONE, axe_findings, complaints, import_selenium, open_browser

By, Keys = import_selenium(".common.by").By, import_selenium(".common.keys").Keys

SOUP = "How long does soup keep in the fridge?"


@pytest.fixture(scope="module")
def desk():
    with open_browser(DESK) as driver:
        yield driver


@pytest.fixture
def browser(desk):
    complaints(desk)  # of an earlier page
    yield desk
    assert complaints(desk) == []


def wait(browser, found):
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(browser, 30).until(lambda _: found())


def find(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def find_all(browser, selector):
    return browser.find_elements(By.CSS_SELECTOR, selector)


def texts(browser, selector):
    """Read all at once: the page may replace a list while it is read."""
    script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
    return browser.execute_script(script, selector)


def type_text(browser, service, text=SOUP, page="/"):
    browser.get(service.url + page)
    find(browser, "#ask textarea").send_keys(text)
    wait(browser, lambda: find(browser, "#explanation").is_displayed())


def test_typing_shows_labels_words_and_similar_rows(browser, service):
    type_text(browser, service)
    _, answer = service.ask("/suggest", {"row": SOUP, "k": 30})
    predicted = [label["label"] for label in answer["labels"] if label["predicted"]]
    wait(browser, lambda: texts(browser, "#labels .predicted .name") == predicted)
    assert texts(browser, "#marked mark")
    assert "".join(texts(browser, "#marked")) == SOUP
    assert texts(browser, "#similar .tags")
    assert predicted[0] in find(browser, "#why-title").text
    box = find(browser, "#ask textarea")
    box.clear()
    box.send_keys("x", Keys.BACKSPACE)  # empty again: no labels, no error
    wait(browser, lambda: not texts(browser, "#labels li"))
    assert not find(browser, "#explanation").is_displayed()


def test_labels_are_explained_by_click_or_by_name(browser, service):
    type_text(browser, service)
    wait(browser, lambda: len(find_all(browser, "#labels button")) > 1)
    second = find_all(browser, "#labels button")[1]
    name = second.get_attribute("data-label")
    second.click()
    wait(browser, lambda: name in find(browser, "#why-title").text)
    assert texts(browser, "#labels [aria-pressed=true] .name") == [name]
    find(browser, "#other").send_keys("equipment", Keys.ENTER)
    wait(browser, lambda: "equipment" in find(browser, "#why-title").text)


def test_tables_have_input_fields_and_wide_rows_a_list(browser, service):
    browser.get(f"{service.url}/?model=posts")
    find(browser, "[data-field=title]").send_keys("My soup")
    find(browser, "[data-field=year]").send_keys("2010")
    find(browser, "[data-field=site]").send_keys("home")
    wait(browser, lambda: "soup" in texts(browser, "#labels .predicted .name"))
    year = find(browser, "[data-field=year]")
    year.send_keys("x")
    wait(browser, lambda: find(browser, "#error").text == "year must be a number.")
    browser.get(f"{service.url}/?model=matrix")
    find(browser, "#ask textarea").send_keys("word3, word10=2, wor")
    wait(browser, lambda: texts(browser, "#labels .name"))
    assert find(browser, "#unknown").text.endswith(": wor")


def test_dark_and_light_follow_the_system(service):
    brightness = {}
    for scheme in ("light", "dark"):
        with open_browser(DESK, scheme) as driver:
            type_text(driver, service)
            color = find(driver, "body").value_of_css_property("background-color")
        brightness[scheme] = sum(map(int, color.strip("rgba()").split(",")[:3]))
    assert brightness["light"] > 600
    assert brightness["dark"] < 200


def test_a_phone_does_not_scroll_sideways(service):
    with open_browser(PHONE) as driver:
        for page in ("/", "/?model=posts", "/docs"):
            if page == "/docs":
                driver.get(service.url + page)
            else:
                type_text(driver, service, "soup " + "w" * 80, page)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= PHONE[0]


def test_the_keyboard_alone_is_enough(browser, service):
    from selenium.webdriver import ActionChains

    browser.get(service.url)

    def press(*keys):
        ActionChains(browser).send_keys(*keys).perform()

    def tab_to(matches):
        for _ in range(30):
            press(Keys.TAB)
            if matches(browser.switch_to.active_element):
                return
        raise AssertionError("not reached by the keyboard")

    tab_to(lambda element: element.tag_name == "textarea")
    press(SOUP)
    wait(browser, lambda: find(browser, "#explanation").is_displayed())
    tab_to(lambda element: element.get_attribute("data-label") == "soup")
    focused = browser.switch_to.active_element
    assert focused.value_of_css_property("outline-style") == "solid"
    press(Keys.ENTER)
    wait(browser, lambda: "soup" in find(browser, "#why-title").text)
    assert texts(browser, "#labels [aria-pressed=true] .name") == ["soup"]
    tab_to(lambda element: element.get_attribute("id") == "other")
    press("cake", Keys.ENTER)
    wait(browser, lambda: "cake" in find(browser, "#why-title").text)


def test_the_api_page_sends_its_examples(browser, service):
    browser.get(f"{service.url}/docs")
    for form in find_all(browser, "form.try"):
        form.find_element(By.TAG_NAME, "button").click()
        shown = form.find_element(By.TAG_NAME, "pre")
        wait(browser, lambda shown=shown: shown.text.startswith("200"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_no_serious_barrier_in_the_service(service, size, scheme):
    with open_browser(size, scheme) as driver:
        type_text(driver, service)
        wait(driver, lambda: texts(driver, "#labels .name"))
        assert axe_findings(driver) == []
        driver.get(service.url + "/docs")
        assert axe_findings(driver) == []
