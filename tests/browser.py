"""A headless browser for tests of pages: Debian's chromium, driven by selenium."""

import importlib
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

PHONE, DESK = (390, 844), (1100, 900)


def unavailable(reason):
    """Skip a test, or fail it where SKETCHFOREST_BROWSER=required promises a browser."""
    if os.environ.get("SKETCHFOREST_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)


def import_selenium(name):
    """Import a module of Selenium; skips the calling test or module if it is not installed."""
    try:
        return importlib.import_module(f"selenium.webdriver{name}")
    except ImportError:
        unavailable("needs selenium")


@contextmanager
def open_browser(size=DESK, scheme="light"):
    """Open a browser of a window size, with the color scheme that the user's system prefers."""
    webdriver = import_selenium("")
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if None in programs:
        unavailable("needs a browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    # Allow running as root in a small container: the pages are our own.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(programs[1])
    driver = webdriver.Chrome(options=options, service=service)
    try:
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        yield driver
    finally:
        driver.quit()


def complaints(driver):
    """Return the console log: errors, and loads blocked by the content security policy."""
    return [entry["message"] for entry in driver.get_log("browser")]


# Contrast ratio of text and background, as defined by WCAG 2.
CONTRAST = """
const part = (value) => value <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
const light = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).map((value) => part(value / 255));
  return .2126 * r + .7152 * g + .0722 * b;
};
const behind = (element) => {
  const colour = getComputedStyle(element).backgroundColor;
  return /, 0\\)$/.test(colour) ? behind(element.parentElement) : colour;
};
const found = [light(getComputedStyle(arguments[0]).color), light(behind(arguments[0]))];
return (Math.max(...found) + .05) / (Math.min(...found) + .05);
"""


def axe_findings(driver):
    """Return serious and critical findings of axe-core, if the package that carries it is there."""
    package = pytest.importorskip("axe_playwright_python", reason="carries axe-core")
    driver.execute_script((Path(package.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    return [
        f"{each['id']}: {node['html'][:120]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
