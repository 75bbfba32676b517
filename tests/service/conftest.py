"""Chromium for the tests of the page."""

import os
import shutil
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from viewer_page import Page

FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000")


def can_install():
    return shutil.which("apt-get") is not None and os.geteuid() == 0


@pytest.fixture(scope="session")
def screens(tmp_path_factory):
    """Where pictures of the page go: the folder that CHRONOFOREST_SCREENS names, or a temporary one."""
    named = os.environ.get("CHRONOFOREST_SCREENS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screens")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser without a screen; `downloads` is the folder it saves to."""
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if None in programs:
        message = (
            "no chromium and chromedriver here; `make browser` installs them where apt-get is allowed to"
        )
        (pytest.fail if can_install() else pytest.skip)(message)
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for flag in FLAGS:
        options.add_argument(flag)
    downloads = tmp_path_factory.mktemp("downloads")
    # On a loaded machine a file may come so late after its click that Chromium would ask whether it may.
    allowed = {"profile.default_content_setting_values.automatic_downloads": 1}
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads), **allowed})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(programs[1]))
    browser.downloads = downloads
    yield browser
    browser.quit()


@pytest.fixture
def page(chromium, service):
    """The page of a module's `service`, opened; nothing in it may have gone wrong by the end."""
    page = Page(chromium, service)
    page.open()
    yield page
    assert page.severe() == []
