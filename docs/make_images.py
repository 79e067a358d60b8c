"""Make the pictures in ``docs/images``: screenshots of the pages of two commands.

Run ``python docs/make_images.py`` where veridical is installed, after a change of what
pages say or show. It needs Chromium or Chrome.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

IMAGES = Path(__file__).parent / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: Verb, run on its embedded source, to width and height of the picture in pixels.
PICTURES = {"audit": (1100, 1120), "compare": (900, 1300)}


def find_browser() -> str:
    """Return the path of a browser that takes screenshots."""
    for name in BROWSERS:
        path = shutil.which(name)
        if path is not None:
            return path
    raise SystemExit(f"There is no browser; install one of {', '.join(BROWSERS)}.")


def make_picture(verb: str, width: int, height: int, browser: str) -> Path:
    """Run a verb without data and take a screenshot of its page."""
    picture = IMAGES / f"{verb}.png"
    with TemporaryDirectory() as folder:
        page = Path(folder) / f"{verb}.html"
        command = [sys.executable, "-m", "veridical", verb, "--out", str(page)]
        # An audit that finds something ends with status 1.
        subprocess.run(command, check=False)
        subprocess.run(
            [
                browser,
                "--headless",
                "--disable-gpu",
                "--no-sandbox",  # the page is our own and loads nothing
                "--hide-scrollbars",
                f"--user-data-dir={folder}/profile",
                f"--window-size={width},{height}",
                f"--screenshot={picture}",
                page.as_uri(),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
    return picture


def main() -> None:
    """Make all pictures."""
    browser = find_browser()
    for verb, (width, height) in PICTURES.items():
        print(make_picture(verb, width, height, browser))


if __name__ == "__main__":
    main()
