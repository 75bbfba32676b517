"""The page in a browser, as a person uses it."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 60.0
"""Seconds; a loaded machine takes as many times what a free one does."""


class Page:
    """What a person does with the page, in one word each."""

    def __init__(self, browser, service):
        self.browser, self.service = browser, service

    def open(self, fragment=""):
        """Load the page anew, with its first plan; at the same address but for its fragment the browser would
        not."""
        self.browser.get("about:blank")
        self.browser.get(self.service.address + fragment)
        self.until("return Boolean(window.viewer)")
        self.planned()

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def until(self, script, *arguments):
        return WebDriverWait(self.browser, PATIENCE, 0.05).until(lambda _: self.js(script, *arguments))

    def __getitem__(self, name):
        return self.browser.find_element(By.ID, name)

    def field(self, label):
        """An input of the list of places, which is filled a moment after it is opened."""
        script = "return document.querySelector(`[aria-label='${arguments[0]}']`)"
        return self.until(script, label)

    @property
    def map(self):
        return self.browser.find_element(By.CSS_SELECTOR, "#map canvas")

    def text(self, name):
        return self[name].text

    def click(self, name):
        self.js("arguments[0].scrollIntoView({block: 'center'})", self[name])
        self[name].click()

    def keys(self, *keys):
        """Press keys on the map."""
        self.js("arguments[0].focus()", self.map)
        ActionChains(self.browser).send_keys(*keys).perform()

    def problem(self):
        return self.js("return viewer.problem.toJSON()")

    def offset(self, place):
        """A place of the world, relative to the middle of the map, as the mouse wants it."""
        x, y = self.js("return viewer.map.toScreen(arguments[0])", place)
        size = self.map.size
        return round(x - size["width"] / 2), round(y - size["height"] / 2)

    def drag(self, source, target):
        (x0, y0), (x1, y1) = self.offset(source), self.offset(target)
        actions = ActionChains(self.browser, duration=20).move_to_element_with_offset(self.map, x0, y0)
        actions.click_and_hold().move_by_offset((x1 - x0) // 2, (y1 - y0) // 2)
        actions.move_by_offset(x1 - x0 - (x1 - x0) // 2, y1 - y0 - (y1 - y0) // 2).release().perform()

    def planned(self):
        """Wait until the problem as it is has been planned, or refused."""
        self.until("return viewer.run?.isOver && !viewer.run.isStale && viewer.run.state !== 'cancelled'")

    def set(self, name, value, event="input"):
        self.js(
            f"arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('{event}'))",
            self[name],
            value,
        )

    def severe(self):
        """Errors on the console, but for those that answer a refused request."""
        logs = self.browser.get_log("browser")
        return [
            log["message"] for log in logs if log["level"] == "SEVERE" and "status of 4" not in log["message"]
        ]

    def download(self, name):
        path = self.browser.downloads / name
        WebDriverWait(self.browser, PATIENCE, 0.05).until(
            lambda _: path.is_file() and path.stat().st_size > 0
        )
        return path
