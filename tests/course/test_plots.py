"""Pictures and tables: what is drawn is what was given, and it is said in words too."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import tp
from autograder.runtime import colours, rich_output
from browser import chromium_page
from tp import plots


def random_weights(rng, *shape):
    e = np.exp(3 * rng.normal(size=shape))
    return e / e.sum(-1, keepdims=True)


def tokens(n):
    return [f"w{i}" for i in range(n)]


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.mark.parametrize("n_target, n_source", [(1, 1), (3, 3), (4, 7), (30, 29)])
def test_heatmap_shows_the_weights_on_the_true_scale(n_target, n_source):
    weights = random_weights(np.random.default_rng(n_source), n_target, n_source)
    picture = tp.attention_heatmap(torch.tensor(weights, requires_grad=True), tokens(n_source), tokens(n_target)[::-1])
    image, = picture.ax.images
    np.testing.assert_allclose(image.get_array(), weights)
    assert image.get_clim() == (0, 1)
    assert labels(picture.ax.xaxis) == tokens(n_source)
    assert labels(picture.ax.yaxis) == tokens(n_target)[::-1]


def test_heatmap_turns_neither_axis():
    weights = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    picture = tp.attention_heatmap(weights, "abc", "xy")
    assert picture.alt.endswith("x attends most to a (1.00); y attends most to c (1.00).")
    left, right = picture.ax.get_xlim()
    bottom, top = picture.ax.get_ylim()
    assert left < right and bottom > top  # first source token on the left, first target token on top


def test_spaces_and_ends_of_line_can_be_seen():
    picture = tp.attention_heatmap(np.eye(3), " \n1", [" ", "\n", ""])
    assert labels(picture.ax.xaxis) == ["␣", "⏎", "1"]
    assert labels(picture.ax.yaxis) == ["␣", "⏎", "∅"]


@pytest.mark.parametrize("n, asked, shown", [(3, None, True), (30, None, False), (30, True, True), (3, False, False)])
def test_numbers_on_demand(n, asked, shown):
    weights = random_weights(np.random.default_rng(n), n, n)
    picture = tp.attention_heatmap(weights, tokens(n), tokens(n), numbers=asked)
    assert [text.get_text() for text in picture.ax.texts] == ([f"{w:.2f}" for w in weights.ravel()] if shown else [])


def test_a_map_that_does_not_fit_its_tokens_is_refused_with_both_sizes():
    with pytest.raises(ValueError, match=r"\(3, 5\) do not fit 5 target tokens \(rows\) and 3 source tokens"):
        tp.attention_heatmap(np.zeros((3, 5)), tokens(3), tokens(5))


def test_heatmap_draws_into_a_given_panel():
    _, right = Figure().subplots(1, 2)
    assert tp.attention_heatmap(np.eye(2), "ab", "ab", ax=right, title="here").figure is right.figure
    assert right.get_title() == "here" and len(right.images) == 1


def test_small_multiples_share_scale_and_name_their_panels():
    rng = np.random.default_rng(5)
    maps = {f"head {i}": random_weights(rng, 4, 3) for i in range(5)}
    picture = tp.attention_heatmaps(maps, tokens(3), tokens(4))
    panels = picture.figure.axes[:5]
    assert [ax.get_title() for ax in panels] == list(maps)
    for ax, weights in zip(panels, maps.values(), strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), weights)
        assert ax.images[0].get_clim() == (0, 1)
    assert len(picture.data[1]) == 5 * 4


@pytest.mark.parametrize("names", [
    ["47+38, question and answer written backwards"],
    ["step 0", "free running, after two thousand steps"],
])
def test_long_titles_stay_in_their_panels(names):
    figure = tp.attention_heatmaps({name: np.eye(3) for name in names}, "abc", "xyz").figure
    titles = [ax.title.get_window_extent() for ax in figure.axes[:len(names)]]
    assert all(0 <= title.x0 and title.x1 <= figure.bbox.width and title.y1 <= figure.bbox.height for title in titles)
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(titles))


def test_difference_keeps_its_sign():
    rng = np.random.default_rng(6)
    first, second = random_weights(rng, 3, 4), random_weights(rng, 3, 4)
    picture = tp.attention_difference(first, second, tokens(4), tokens(3))
    np.testing.assert_allclose(picture.ax.images[0].get_array(), first - second)
    assert picture.ax.images[0].get_clim() == (-1, 1)


def test_every_map_comes_with_its_numbers_as_a_table():
    weights = random_weights(np.random.default_rng(7), 3, 4)
    bundle = tp.attention_heatmap(weights, tokens(4), tokens(3)).bundle()
    for weight in weights.ravel():
        assert f"{weight:.2f}</td>" in bundle["text/html"]
    assert 'alt="Attention weights. w0 attends most to' in bundle["text/html"]


@given(st.tuples(*[st.floats(0, 1)] * 3))
def test_numbers_can_be_read_on_every_colour(colour):
    ink = colours.luminance(to_rgb(colours.ink_on(colour)))
    light, dark = sorted((ink, colours.luminance(colour)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_more_weight_is_always_darker():
    """So that a map can be read in grey, and with every kind of colour vision."""
    shades = [colours.luminance(plots.WEIGHT_MAP(weight)) for weight in np.linspace(0, 1, 50)]
    assert all(a > b for a, b in itertools.pairwise(shades))


def test_difference_is_darker_the_further_from_zero():
    for sign in (-1, 1):
        shades = [colours.luminance(plots.DIFFERENCE_MAP(0.5 + sign * x)) for x in np.linspace(0, 0.5, 25)]
        assert all(a > b for a, b in itertools.pairwise(shades))


@pytest.mark.parametrize("light, shown", [("true", "none"), ("false", "invert(1) hue-rotate(180deg)")])
def test_pictures_are_dark_in_a_dark_theme_and_scroll_on_a_narrow_screen(light, shown):
    weights = np.full((4, 40), 1 / 40)
    bundle = plots.attention_heatmap(weights, tokens(40), tokens(4)).bundle()
    with chromium_page(viewport={"width": 390, "height": 800}) as page:
        page.set_content(f'<body data-jp-theme-light="{light}">{bundle["text/html"]}</body>')
        style = page.eval_on_selector("img", "one => getComputedStyle(one).filter")
        width = page.eval_on_selector("img", "one => one.clientWidth / one.getAttribute('width')")
        beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert style == shown and width >= 0.66 and beyond <= 0


# Tables


def test_table_in_a_plain_script_is_text_in_line(capsys):
    tp.table([["GRU", 0.123456, 7], ["a longer name", 12.0, 1000]], ["model", "loss", "n"], "Two runs")
    assert capsys.readouterr().out.splitlines() == [
        "Two runs",
        "model            loss     n",
        "---------------------------",
        "GRU            0.1235     7",
        "a longer name      12  1000",
    ]


def test_table_as_html_escapes_and_names_rows_and_columns():
    text = rich_output.html_table([["<b>", torch.tensor(0.5)]], ["a", "b"], "c & d")
    assert ">c &amp; d</caption>" in text
    assert '<th scope="row" style="text-align:left">&lt;b&gt;</th>' in text
    assert 'scope="col"' in text and ">0.5</td>" in text


def test_table_takes_any_rows(capsys):
    tp.table(zip("ab", (1, 2), strict=True), ("name", "n"))
    tp.table([], ("nothing", "here"))
    tp.table([[None, ""]])
    assert "None" in capsys.readouterr().out


def test_effects_are_shown_by_site_and_position_and_said_in_words():
    effects = np.array([[0.0, 1.0, 0.1], [0.9, 0.2, -1.4]])
    picture = plots.effects_heatmap(effects, ["encoder.embedding", "encoder.norm"], tokens(3), title="la against le")
    image, = picture.ax.images
    np.testing.assert_allclose(image.get_array(), effects)
    assert image.get_clim() == (-1, 1)
    assert labels(picture.ax.xaxis) == tokens(3) and labels(picture.ax.yaxis) == ["encoder.embedding", "encoder.norm"]
    assert picture.alt == ("Effects: la against le. The largest of each site: encoder.embedding at w1 (+1.00); "
                           "encoder.norm at w0 (+0.90).")
    assert picture.data[1][1] == ["encoder.norm", "0.90", "0.20", "-1.40"]


def test_a_cell_of_a_table_may_hold_anything():
    text = rich_output.html_table([[np.ones(2), torch.zeros(2), [], "", None]], list("abcde"))
    assert "[1. 1.]" in text and "tensor([0., 0.])" in text
