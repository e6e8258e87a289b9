"""The figures: up to date, readable in light and dark, nothing clipped and nothing in the way."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from browser import chromium_page
from conftest import REPOSITORY

IMAGES = REPOSITORY.images
FIGURES = sorted(path.stem for path in IMAGES.glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"

NEEDED = """
    unrolled_rnn embedding_lookup gru_cell lstm_cell lstm_shapes
    bottleneck attention_steps_0 attention_steps_1 attention_steps_2 attention_steps_3 attention_steps_4
    attention_steps_5 attention_steps score_functions
    encoder_input decoder_input_forced decoder_input_one_step decoder_without_attention seq2seq_forced seq2seq_free
    decoder_with_attention seq2seq_attention decoder_concat_attention
    lstm_training_pass inference_step beam_tree
    additive_attention bahdanau_model sutskever_model translation_bottleneck alpha_over_sentence
    query_key_value self_attention four_positions transformer_block key_value_cache scratchpads
    letters_and_sounds speller
    readme_path readme_judge
""".split()


def draw(*arguments):
    return subprocess.run([sys.executable, IMAGES / "draw.py", *arguments], capture_output=True, text=True)


def test_every_figure_of_the_course_is_there():
    assert set(FIGURES) == set(NEEDED)


def test_the_files_are_what_the_scripts_draw():
    done = draw("--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def copy_of_images(tmp_path):
    return Path(shutil.copytree(IMAGES, tmp_path / "images", ignore=shutil.ignore_patterns("__pycache__")))


def draws_another_number(images):
    path = images / "tp4.py"
    text = path.read_text()
    assert "−2.7" in text
    path.write_text(text.replace("−2.7", "−2.6"))


@pytest.mark.parametrize("change, says", [
    (lambda images: (images / "gru_cell.svg").write_text("<svg/>"), "stale: images/gru_cell.svg"),
    (lambda images: (images / "beam_tree.svg").unlink(), "stale: images/beam_tree.svg"),
    (lambda images: (images / "left_over.svg").write_text("<svg/>"), "stale: images/left_over.svg"),
    (draws_another_number, "stale: images/README.md"),
])
def test_staleness_is_noticed(copy_of_images, change, says):
    change(copy_of_images)
    done = subprocess.run([sys.executable, copy_of_images / "draw.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 1 and says in done.stdout


@pytest.mark.parametrize("path", sorted(REPOSITORY.released.glob("*/figures/*.svg")),
                         ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_the_figures_beside_the_notebooks_are_the_same(path):
    assert path.read_bytes() == (IMAGES / path.name).read_bytes(), "make notebooks"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_in_words_what_it_shows(name):
    root = ET.parse(IMAGES / f"{name}.svg").getroot()
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("role") == "img" and root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert len(title.text) > 5 and len(description.text.split()) >= 12


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_stands_alone(name):
    """Its own background in both palettes, nothing loaded from elsewhere, colours only from the palettes."""
    text = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)
    _, _, width, height = root.get("viewBox").split()
    background = root.find(f"{SVG}rect")
    assert (background.get("width"), background.get("height"), background.get("class")) == (width, height, "f-page")
    assert "@media(prefers-color-scheme:dark)" in text
    assert not re.search(r"url\(|<image|<script|@import|href", text)
    assert not re.search(r'(fill|stroke)="|style="[^"]*(fill|stroke):', text)


# What a reader would see at once: text cut off, text on text, text across an edge, a line or an arrow
# head through a word. Every figure is looked at with two fonts, a narrow one and a wide one.
LOOK = """
() => {
  const svg = document.querySelector("svg"), found = [];
  const page = svg.getBoundingClientRect();
  const box = e => {
    const r = e.getBoundingClientRect();
    return {l: r.left - page.left, r: r.right - page.left, t: r.top - page.top, b: r.bottom - page.top};
  };
  const meet = (a, b) => a.l < b.r && b.l < a.r && a.t < b.b && b.t < a.b;
  const texts = [...svg.querySelectorAll("text")].filter(e => !e.closest(".caption:not(.c5)")).map(e => {
    const b = box(e), h = b.b - b.t;  // the line box is higher than its letters
    return {words: e.textContent, l: b.l, r: b.r, t: b.t + 0.18 * h, b: b.b - 0.2 * h};
  });
  texts.forEach((a, i) => {
    if (a.l < 6 || a.r > page.width - 6 || a.t < 6 || a.b > page.height - 4) found.push(`cut off: ${a.words}`);
    for (const b of texts.slice(i + 1)) if (meet(a, b)) found.push(`text on text: ${a.words} | ${b.words}`);
    for (const shape of svg.querySelectorAll("rect.shape, circle.shape")) {
      const s = box(shape);
      const inside = a.l > s.l && a.r < s.r && a.t >= s.t - 1 && a.b <= s.b + 1;
      if (meet(a, s) && !inside) found.push(`text across an edge: ${a.words}`);
    }
    for (const head of svg.querySelectorAll("polygon"))
      if (meet(a, box(head))) found.push(`arrow head on text: ${a.words}`);
  });
  for (const path of svg.querySelectorAll("path.line:not(.l-page)")) {
    const matrix = path.getCTM();
    for (let i = 0; i <= path.getTotalLength(); i += 3) {
      const p = path.getPointAtLength(i).matrixTransform(matrix);
      for (const a of texts)
        if (p.x > a.l && p.x < a.r && p.y > a.t && p.y < a.b) found.push(`line through text: ${a.words}`);
    }
  }
  return [...new Set(found)];
}
"""


@pytest.fixture(scope="module")
def page():
    with chromium_page(reduced_motion="reduce", viewport={"width": 1100, "height": 700}) as page:
        yield page


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_clipped_and_nothing_is_in_the_way(page, name):
    svg = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    for font in ("Liberation Sans", "DejaVu Sans"):
        page.set_content(f"{svg}<style>text:not(.mono):not(.math){{font-family:'{font}'}}</style>")
        assert page.evaluate(LOOK) == [], font


SHOWN = """
seconds => {
  for (const animation of document.getAnimations()) { animation.pause(); animation.currentTime = 1000 * seconds; }
  const seen = kind => [...document.querySelectorAll(kind)].filter(e => getComputedStyle(e).opacity > 0.5).length;
  return [document.getAnimations().length > 0, seen(".caption"), seen(".stage")];
}
"""


def test_the_animation_shows_one_step_after_the_other():
    svg = (IMAGES / "attention_steps.svg").read_text(encoding="utf-8")
    with chromium_page(reduced_motion="no-preference") as page:
        page.set_content(svg)
        for step in range(6):
            assert page.evaluate(SHOWN, 3 * step + 1.5) == [True, 1, step + 1]


def test_readers_who_want_no_motion_get_the_last_picture(page):
    page.set_content((IMAGES / "attention_steps.svg").read_text(encoding="utf-8"))
    assert page.evaluate(SHOWN, 0) == [False, 1, 6]
