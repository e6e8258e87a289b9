"""The explorer: any function from a text to steps, by hand and by code, with widgets and without."""

import base64
import io
import re
import sys

import numpy as np
import pytest
import torch
from PIL import Image

import tp
from autograder.runtime import rich_output
from tp import explorer


def copier(with_attention=True, with_beam=False):
    """A decoder that copies its input, sure of itself to 0.7."""

    def steps(text):
        return [tp.Step(read=text[i - 1] if i else "=", written=token,
                        distribution={token: torch.tensor(0.7), "?": 0.2, "!": 0.1},
                        source=text if with_attention else (),
                        weights=torch.eye(len(text))[i] if with_attention else None,
                        context=torch.full((4,), 0.5 * i) if with_attention else None,
                        beam=[(text[:i + 1], -0.3 * i), ("?", -9.0)] if with_beam else ())
                for i, token in enumerate(text)]

    return steps


def test_it_starts_with_the_first_model_at_the_first_step():
    explored = tp.explore({"a": copier(), "b": copier(False)}, "94+8")
    assert (explored.model, explored.text, explored.step, len(explored.steps)) == ("a", "94+8", 0, 4)
    assert "Step 1 of 4: reads <b>=</b>, writes <b>9</b>" in explored.step_html()


def test_text_model_and_step_can_be_set_by_code():
    explored = tp.explore({"a": copier(), "b": copier(False)}, "94+8")
    explored.step = 2
    explored.model = "b"
    assert explored.step == 2 and "where it looks" not in explored.step_html()
    explored.step = 100
    assert explored.step == 3
    explored.text = "7"
    assert (explored.step, len(explored.steps)) == (0, 1)


def test_a_step_says_everything():
    explored = tp.explore(copier(with_beam=True), "1 2")
    explored.step = 1
    text = explored.step_html()
    for part in ("reads <b>1</b>", "writes <b>␣</b>", "length 1.000", "So far: <code>1␣</code>", ">0.700<", ">1.000<",
                 "the beam", ">-0.300<"):
        assert part in text
    assert "the beam" not in explored.step_html(with_beam=False)


def test_the_hypotheses_of_all_beams_are_a_tree():
    beams = [[("T", -0.1), ("TH", -2.0)], [("T S", -0.4), ("TH <b>", -2.1)], [("T S </s>", -0.5), ("T S AA", -1.5)]]
    text = explorer.beam_tree([tp.Step("", "", {}, beam=beam) for beam in beams])
    assert text.split("<ul>", 1)[1] == (
        "<li><code>T S</code> -0.40<ul><li><b><code>&lt;/s&gt;</code> -0.50</b></li><li><code>AA</code> -1.50</li></ul>"
        "</li><li><code>TH &lt;b&gt;</code> -2.10</li></ul>")
    shown = tp.explore(copier(with_beam=True), "1 2").picture()["text/html"]
    assert "<b><code>1 2</code> -0.60</b>" in shown and "as a tree" in shown
    assert "as a tree" not in tp.explore(copier(), "1 2").picture()["text/html"]


def test_words_are_kept_apart_and_characters_are_not():
    def translator(text):
        return [tp.Step(read="", written=word, distribution={word: 1.0}) for word in ("le", "chat")]

    explored = tp.explore(translator, "the cat")
    explored.step = 1
    assert "So far: <code>le chat</code>" in explored.step_html()


def test_the_still_picture_tells_the_whole_decoding():
    bundle = tp.explore(copier(), "1+2").picture()
    assert "1 attends most to 1 (1.00); + attends most to + (1.00)" in bundle["text/plain"]
    assert "image/png" in bundle and "1+2, step by step</caption>" in bundle["text/html"]
    without = tp.explore(copier(False), "1+2").picture()
    assert "image/png" not in without
    assert "attends most to" not in without["text/plain"] and "0.700" in without["text/plain"]


def test_explanations_stand_beside_the_weights():
    def steps(text):
        return [tp.Step(read="=", written=token, distribution={token: 1.0}, source=text,
                        weights=torch.eye(len(text))[i],
                        explanations={"gradient": torch.arange(len(text)) - 1.0, "effect": [6.0, -2.0, 3.0]})
                for i, token in enumerate(text)]

    explored = tp.explore(steps, "abc")
    said = explored.step_html()
    assert re.findall(r"<caption[^>]*>([^<]*)", said)[:3] == ["where it looks", "gradient", "effect"]
    assert "-2.000" in said and "width:100px" in said and "width:50px" in said and "width:-" not in said
    picture = explorer.weights_picture(explored.steps, "abc")
    assert [ax.get_title() for ax in picture.figure.axes[:3]] == ["attention weight", "gradient", "effect"]
    assert "effect: a attends most to a (1.00)" in picture.alt


def test_an_input_the_model_cannot_read_is_a_message():
    def picky(text):
        return [{"1": copier()("1")[0]}[c] for c in text]

    explored = tp.explore(picky, "1")
    explored.text = "x<y"
    assert explored.steps == [] and "KeyError" in explored.error
    for text in (explored.step_html(), explored.picture()["text/html"]):
        assert "cannot read" in text and "<y" not in text
    explored.text = "11"
    assert len(explored.steps) == 2 and explored.error == ""


def test_a_model_that_writes_nothing():
    explored = tp.explore(lambda text: [], "1")
    assert "wrote nothing" in explored.step_html() and "wrote nothing" in explored.picture()["text/plain"]


@pytest.fixture
def watched():
    """An explorer with its widgets, as where somebody sits at the notebook."""
    pytest.importorskip("ipywidgets")
    explored = tp.explore({"a": copier(with_beam=True), "b": copier(False)}, "94+8")
    explored.controls = explorer.make_controls(explored)
    return explored, explored.controls


def test_widgets_move_the_explorer(watched):
    explored, controls = watched
    controls.slider.value = 3
    assert explored.step == 2 and "writes <b>+</b>" in controls.step.value
    controls.next.click()
    controls.next.click()
    assert (explored.step, controls.slider.value) == (3, 4)
    controls.back.click()
    assert explored.step == 2
    controls.model.value = "b"
    assert explored.model == "b" and controls.beam.layout.display == "none"
    controls.text.value = "12"
    assert (explored.text, controls.slider.max, controls.slider.value) == ("12", 2, 1)


def test_code_moves_the_widgets(watched):
    explored, controls = watched
    explored.text, explored.step = "123456", 4
    assert (controls.text.value, controls.slider.max, controls.slider.value) == ("123456", 6, 5)
    explored.model = "b"
    assert controls.model.value == "b"


def test_what_is_wrong_is_said_once(watched):
    explored, controls = watched
    controls.text.value = ""
    assert "wrote nothing" in controls.step.value and explored.picture()["text/html"] == ""


def test_the_beam_is_shown_if_asked(watched):
    _, controls = watched
    assert "the beam" in controls.step.value
    controls.beam.value = False
    assert "the beam" not in controls.step.value


def test_without_widgets_there_is_still_the_picture(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    explored = tp.explore(copier(), "1+2")
    assert explorer.make_controls(explored) is None and "image/png" in explored.picture()


# An attention map that changes while a model learns


def test_evolution_moves_and_rests(monkeypatch):
    shown = []
    monkeypatch.setattr(rich_output, "ipython_kernel", lambda: object())
    monkeypatch.setattr(rich_output, "present", lambda bundle, alt: shown.append(bundle))
    rng = np.random.default_rng(3)
    maps = {f"step {i}": rng.dirichlet(np.ones(4), size=3) for i in range(7)}
    picture = tp.attention_evolution(maps, "abcd", "xyz")
    assert [ax.get_title() for ax in picture.figure.axes[:4]] == ["step 0", "step 2", "step 4", "step 6"]
    bundle, = shown
    data = re.search(r'src="data:image/gif;base64,([^"]+)"', bundle["text/html"])[1]
    assert Image.open(io.BytesIO(base64.b64decode(data))).n_frames == 7
    assert '(prefers-reduced-motion: reduce)" srcset="data:image/png' in bundle["text/html"]
    assert "image/png" in bundle and bundle["text/plain"].startswith("How attention changes")
