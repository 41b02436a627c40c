"""The charts of README and the documentation follow the colour scheme of the page around them."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from website.charts import CHARTS, IMAGES
from website.colours import DARK, INK, PAPER

SPEED = IMAGES.parent / "explanation" / "speed.svg"
PICTURES = [*(IMAGES / f"{name}.svg" for name in CHARTS), SPEED]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_is_as_light_or_dark_as_its_page(opened, tmp_path, picture, scheme):
    page = tmp_path / "page.html"
    meta = '<meta name="color-scheme" content="light dark">'
    page.write_text(f'{meta}<body style="margin: 0"><img src="{picture.as_uri()}">')
    with opened(page.as_uri(), color_scheme=scheme) as (shown, _):
        png = shown.locator("img").screenshot()
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).reshape(-1, 3)
    colours, times = np.unique(pixels, axis=0, return_counts=True)
    most = "#" + bytes(colours[times.argmax()].tolist()).hex()
    brightness = pixels.mean(axis=1)
    if scheme == "light":
        assert most == PAPER and brightness.min() < 80
    else:
        assert most == DARK[PAPER] and brightness.max() > 200
        assert not (pixels == 255).all(axis=1).any()  # nothing is left of the white


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_every_colour_of_a_chart_has_one_for_the_dark(picture: Path):
    drawn = picture.read_text(encoding="utf-8").partition("</style>")[2]
    found = set(re.findall(r"(?:fill|stroke): (#\w+)", drawn))
    assert found and found <= set(DARK) | {INK}
