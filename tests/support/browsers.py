"""A driven Chromium (Debian's ``chromium`` and ``chromium-driver``), in which pages are used as a reader does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

THERE = CHROMIUM and DRIVER and find_spec("selenium") and find_spec("axe_selenium_python")

needs_chromium = pytest.mark.skipif(not THERE, reason="needs Chromium")
"""Chromium with its driver, and the extra ``browser``."""

WIDTHS = {"desk": 1280, "tablet": 768, "phone": 390}


@contextmanager
def opened(page: Path, width: int = 1280, dark: bool = False) -> Iterator[Any]:
    """The page in a window of so many pixels; at the end nothing was said on the console, and nothing asked for."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        yield driver
        said = [entry["message"] for entry in driver.get_log("browser")]
        assert said == [], said
    finally:
        driver.quit()


def violations(driver: Any) -> list[tuple[str, str]]:
    """What axe finds on the page: rule and element, of impact serious or above."""
    import axe_selenium_python

    script = Path(axe_selenium_python.__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
    driver.execute_script(script.read_text(encoding="utf-8"))
    found = driver.execute_async_script("const done = arguments[0]; axe.run().then(done)")
    grave = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
    return [(each["id"], each["nodes"][0]["html"][:120]) for each in grave]
