"""The page on which a word is read aloud: its JavaScript says what torch says, and asks for nothing elsewhere."""

import functools
import http.server
import re
import shutil
import threading

import pytest
import torch

from autograder.model.oracle import load_oracle
from browser import chromium_page
from conftest import REPOSITORY
from tp import pronunciation

ROOT = REPOSITORY.root
WORDS = ["attention", "a", "o'clock", "knight", "zzz", "internationalisation"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Write no log."""


@pytest.fixture
def served(tmp_path):
    """The page alone, as a browser gets it, from a server on this machine."""
    static = tmp_path / "_static"
    static.mkdir()
    for path in (ROOT / "site" / "static" / "speller.js", ROOT / "course" / "tp" / "pronunciation.bin",
                 ROOT / "course" / "tp" / "pronunciation.json"):
        shutil.copy(path, static)
    text = (ROOT / "site" / "pronounce.md").read_text(encoding="utf-8")
    form = re.search(r"```\{raw\} html\n(.*?)```", text, re.S)[1]
    (tmp_path / "index.html").write_text(f'<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">{form}')
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.fixture(scope="module")
def speller():
    """The solution's class with the weights that are shipped."""
    sizes, state = pronunciation.shipped()
    model = load_oracle(REPOSITORY, "tp7_pronunciation").namespace["Speller"](**sizes)
    model.load_state_dict(state)
    return model.eval()


@torch.no_grad()
def by_torch(model, word):
    """Logits (T, V) and weights (T, S) of greedy decoding, up to END."""
    henc_ts, mask, hdec = model.encode(pronunciation.letter_ids([word]))
    tokens, rows = torch.tensor([pronunciation.START]), []
    while len(rows) < 28:
        logits, hdec, weights = model.step(tokens, hdec, henc_ts, mask)
        tokens = logits.argmax(-1)
        if tokens.item() == pronunciation.END:
            break
        rows.append((logits[0], weights[0]))
    return [torch.stack(part) for part in zip(*rows, strict=True)]


def test_the_page_computes_what_torch_computes(served, speller):
    asked, problems = [], []
    with chromium_page() as page:
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(served)
        page.wait_for_selector("#speller tbody tr")
        found = page.evaluate("""async words => {
            const weights = await load("_static");
            return words.map(word => pronounce(weights, word)
              .map(one => ({logits: [...one.logits], attention: one.attention})));
        }""", WORDS)
        for word, steps in zip(WORDS, found, strict=True):
            logits, weights = by_torch(speller, word)
            for name, expected in (("logits", logits), ("attention", weights)):
                said = torch.tensor([one[name] for one in steps], dtype=torch.float32)
                assert torch.allclose(said, expected, atol=1e-4), (word, name)
    assert problems == [] and all(url.startswith(served.rsplit("/", 1)[0]) for url in asked if url[:5] != "data:")


def test_from_disk_the_page_says_what_it_needs(served, tmp_path):
    with chromium_page() as page:
        page.goto((tmp_path / "index.html").as_uri())
        page.locator("output", has_text="needs a server").wait_for()


@pytest.mark.parametrize("width", [1, 4])
def test_the_beam_of_the_page_is_that_of_the_notebook(served, speller, width):
    search = load_oracle(REPOSITORY, "tp7_pronunciation").namespace["beam_search"]
    with chromium_page() as page:
        page.goto(served)
        page.wait_for_selector("#speller tbody tr")
        found = page.evaluate("""async ([words, width]) => {
            const weights = await load("_static");
            return words.map(word => beam(weights, word, width).complete.map(node => [path(node), node.score]));
        }""", [WORDS, width])
    for word, said in zip(WORDS, found, strict=True):
        expected = search(speller, word, width)
        assert [tuple(sounds) for sounds, _ in said] == [pronunciation.read_sounds(ids) for ids, _ in expected], word
        assert [score for _, score in said] == pytest.approx([score for _, score in expected], abs=1e-3), word


def test_the_tree_has_a_leaf_for_each_hypothesis_that_ended(served):
    with chromium_page() as page:
        page.goto(served)
        page.wait_for_selector("#speller .tree li")
        page.fill("#speller input", "read")
        for width in (1, 4):
            page.select_option("#speller select", str(width))
            complete, leaves = page.evaluate("""async width => {
                const {root, complete} = beam(await load("_static"), "read", width), leaves = [];
                const walk = node => node.next.length ? node.next.forEach(walk) : leaves.push(node);
                walk(root);
                return [complete.length, leaves.length];
            }""", width)
            ends = page.locator("#speller .tree ul li.best, #speller .tree ul li.complete").count()
            assert ends == complete and ends + page.locator("#speller .tree ul li.dropped").count() == leaves
            assert page.locator("#speller .tree ol li").count() == min(4, complete)
        best = page.locator("#speller .tree ol li code").first.text_content()
        assert page.locator("#speller .tree li.best > code").text_content() in best


def test_a_word_that_is_typed_is_said_and_shown(served):
    with chromium_page() as page:
        page.goto(served)
        page.wait_for_selector("#speller tbody tr")
        before = page.locator("#speller output").text_content()
        page.fill("#speller input", "Knee!")
        assert page.locator("#speller output").text_content() != before
        assert page.locator("#speller thead th").all_text_contents() == [*"knee", "probability"]
        page.fill("#speller input", "")
        assert page.locator("#speller output").text_content() == ""
