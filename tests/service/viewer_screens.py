"""Pictures of the page at several sizes, and what a program can see on it."""

import base64
from contextlib import suppress

from selenium.common.exceptions import TimeoutException
from selenium.webdriver.support.ui import WebDriverWait

SIZES = {390: 844, 768: 1024, 1400: 900}
THEMES = ("light", "dark")

MISFITS = """
const wide = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
const isCut = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
  scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
const buttons = [...document.querySelectorAll("button, .stop, #status, output")].filter(isCut);
return [...wide, ...buttons.map((element) => `${element.id || element.className}: ${element.textContent}`)];
"""

FAINT = """
const parts = (colour) => {
  const values = colour.match(/[\\d.]+/g).map(Number);
  return colour.startsWith("color(") ? values.map((value, k) => (k < 3 ? 255 * value : value)) : values;
};
const light = (colour) => {
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = parts(colour).map((value) => linear(value / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  const { backgroundColor: colour } = getComputedStyle(element);
  return parts(colour)[3] === 0 && element.parentElement ? ground(element.parentElement) : colour;
};
const faint = (element) => {
  const [one, other] = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => a - b);
  return (other + 0.05) / (one + 0.05) < 4;
};
const kinds = "button:enabled, label, p, dt, dd, legend, summary, li, th, td, h1, #alert-text";
const isShown = (element) =>
  element.checkVisibility() && element.textContent.trim() && !element.querySelector("input:disabled");
const found = [...document.querySelectorAll(kinds)].filter((element) => isShown(element) && faint(element));
return found.map((element) => element.id || element.textContent);
"""


def resize(page, width, theme):
    values = {"width": width, "height": SIZES[width], "deviceScaleFactor": 1, "mobile": False}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", values)
    if page.js("return document.documentElement.dataset.theme") != theme:
        page.js("document.getElementById('theme').click()")
    # Not by requestAnimationFrame: a browser that is short of processor may give no frame for a long time.
    page.until("return innerWidth === arguments[0]", width)


def misfits(page):
    """What does not fit its place, once the page had time to lay itself out; texts may still arrive."""
    with suppress(TimeoutException):
        WebDriverWait(page.browser, 5.0, 0.1).until(lambda _: not page.js(MISFITS))
    return page.js(MISFITS)


def snap(page, path):
    """The whole page, also what would have to be scrolled to."""
    width, height = page.js("return [innerWidth, document.documentElement.scrollHeight]")
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    options = {"captureBeyondViewport": True, "clip": clip}
    picture = page.browser.execute_cdp_cmd("Page.captureScreenshot", options)
    path.write_bytes(base64.b64decode(picture["data"]))
