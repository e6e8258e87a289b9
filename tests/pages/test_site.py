"""The site: what a student is given and what the solution shows, no answer, no dead link, in a browser of any size."""

import functools
import http.server
import importlib.util
import json
import os
import re
import subprocess
import threading
import venv
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from autograder.model.source import load_source
from autograder.publish.address import parse_address
from browser import chromium_page
from conftest import REPOSITORY

ROOT = REPOSITORY.root
NAMES = REPOSITORY.sessions
ADDRESS = "https://github.com/someone/course/tree/colab/here"
SITE = ROOT / "dist" / "site"
SCREENS = 25  # that the page of a session has at most


def module():
    """`site/pages.py`, which is a script."""
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "site" / "pages.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "sources"
    module().lay_out(REPOSITORY, folder, parse_address(ADDRESS))
    return folder


def test_the_sources_of_the_site_are_laid_out_by_a_python_that_has_nothing(tmp_path):
    """As in a fresh clone, where Sphinx is installed, and neither the engine, the course nor torch."""
    venv.create(tmp_path / "bare", symlinks=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    laid = [tmp_path / "bare" / "bin" / "python", ROOT / "site" / "pages.py", tmp_path / "sources", ADDRESS]
    done = subprocess.run(laid, cwd=tmp_path, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in (tmp_path / "sources" / "sessions").glob("*.ipynb")} == set(NAMES)


def test_every_page_that_a_list_leads_to_is_laid_out(laid_out):
    pages = module()
    named = [*pages.INSTRUCTORS, *pages.MEASURED, *pages.AUTHORS]
    assert len(named) > 10 and [name for name in named if not (laid_out / f"{name}.md").is_file()] == []


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def lines(text):
    return {line.strip() for line in text.splitlines()}


@functools.cache
def secrets():
    """For each exercise and written answer, the lines that only who knows it writes."""
    found = {}
    for name in NAMES:
        released = cells(REPOSITORY.released / name / f"{name}.ipynb")
        given = set().union(*(lines("".join(cell["source"])) for cell in released))
        for cell in load_source(REPOSITORY, name).by_role("exercise", "answer"):
            found[name, cell.name] = {line for line in lines(cell.hidden) if len(line) > 24 and line[0] != "#"} - given
    return found


def told(text):
    """The exercises whose answers stand in a text, line by line."""
    there = lines(text)
    return {exercise for exercise, answers in secrets().items() if answers & there}


def test_every_answer_has_a_line_that_tells_it():
    assert all(secrets().values())


def test_no_answer_is_laid_out(laid_out):
    pages = [path for path in laid_out.rglob("*") if path.suffix in (".md", ".ipynb")]
    assert len(pages) > len(NAMES) + 5
    for path in pages:
        if path.suffix == ".md":
            assert told(path.read_text(encoding="utf-8")) == set(), path
            continue
        for cell in cells(path):
            shown = "".join(cell["source"]), *("".join(output.get("text", "")) for output in cell.get("outputs", []))
            assert told("\n".join(shown)) == set(), (path, cell["id"])


@pytest.mark.parametrize("name", NAMES)
def test_the_search_for_answers_finds_them_where_they_are(name):
    text = "\n".join("".join(cell["source"]) for cell in cells(REPOSITORY.folder(name) / f"{name}.ipynb"))
    assert {exercise for exercise in secrets() if exercise[0] == name} <= told(text)


@pytest.mark.parametrize("name", NAMES)
def test_given_cells_show_what_the_solution_showed_and_others_nothing(laid_out, name):
    shown = {cell["id"]: cell["outputs"] for cell in cells(laid_out / "sessions" / f"{name}.ipynb")
             if cell["cell_type"] == "code"}
    ran = {cell["id"]: cell["outputs"] for cell in cells(REPOSITORY.folder(name) / f"{name}.ipynb")
           if cell["cell_type"] == "code"}
    for cell in load_source(REPOSITORY, name).cells:
        if cell.role in ("exercise", "check"):
            assert shown.pop(cell.grade_id) == []
    assert shown == {cell: ran[cell] for cell in shown} and any(shown.values())


def test_a_session_leads_to_colab_and_binder(laid_out):
    address = parse_address(ADDRESS)
    for name in NAMES:
        first = cells(laid_out / "sessions" / f"{name}.ipynb")[0]["source"]
        page = (laid_out / "sessions" / "index.md").read_text(encoding="utf-8")
        for link in (address.colab(f"{name}.ipynb"), address.binder(f"{name}.ipynb")):
            assert f"]({link})" in first and f"]({link})" in page


def test_without_an_address_nothing_leads_to_colab_or_binder(tmp_path):
    assert REPOSITORY.metadata.address == "" and module().main([str(tmp_path / "sources")]) == 0
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "sources").glob("sessions/*.*")]
    texts.append((tmp_path / "sources" / "index.md").read_text(encoding="utf-8"))
    assert len(texts) > len(NAMES) and not re.search("colab.research|mybinder|Open in Colab", "".join(texts))


@pytest.mark.parametrize("url", ["course", "https://school.example/course"])
def test_an_address_that_cannot_be_launched_is_one_line(tmp_path, capsys, url):
    assert module().main([str(tmp_path / "sources"), url]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "sources").exists()


# What Sphinx makes of it


@pytest.fixture(scope="module")
def built():
    """The site, made as its command makes it; a warning of Sphinx is an error there."""
    subprocess.run(["make", "site", f"ADDRESS={ADDRESS}"], cwd=ROOT, check=True)
    return SITE


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Tell nobody."""


@pytest.fixture
def served(built):
    """Where a server on this machine shows the site."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=built)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Page(HTMLParser):
    """The text of a page, the names that links may lead to, and the links."""

    def __init__(self, path):
        super().__init__()
        self.text, self.names, self.links = [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.names.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)

    def handle_data(self, data):
        self.text.append(data)


def dead_links(folder):
    """The links inside the site that lead nowhere: page and link."""
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html") if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.is_file() and target.is_relative_to(folder.resolve())
            if there and parts.fragment and target in pages:
                there = unquote(parts.fragment) in pages[target].names
            if not there:
                found.append((path.name, link))
    return found


@pytest.mark.slow
def test_no_link_inside_the_site_is_dead(built):
    assert dead_links(built) == []


@pytest.mark.parametrize("link", ["no.html", "#no", "other.html#no", "../outside.html", "no.png"])
def test_a_dead_link_is_found(tmp_path, link):
    (tmp_path / "outside.html").write_text("")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "other.html").write_text('<p id="yes">')
    page = '<a href="other.html#yes">well</a> <a href="https://x.example/no">elsewhere</a> <a href="{}">dead</a>'
    (tmp_path / "site" / "page.html").write_text(page.format(link))
    assert dead_links(tmp_path / "site") == [("page.html", link)]


@pytest.mark.slow
def test_no_answer_is_on_the_site(built):
    pages = list(built.rglob("*.html"))
    assert len(pages) > len(NAMES) + 5
    for path in pages:
        assert told("".join(Page(path).text)) == set(), path
    assert not list(built.rglob("*.ipynb")) and not [path for path in built.rglob("*.py")]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_in_a_browser(served, built, width, scheme):
    asked, problems, formulas = [], [], 0
    with chromium_page(viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        for path in sorted(path for path in built.rglob("*.html") if "_static" not in path.parts):  # the theme's own
            name = path.relative_to(built).with_suffix("").as_posix()
            page.goto(f"{served}/{name}.html")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            cut = page.evaluate("[...document.querySelectorAll('.bd-article-container')].map(one => "
                                "one.scrollWidth - one.clientWidth)")
            assert max(cut, default=0) <= 0, f"{name}: more than a table, a formula or code is wider than the screen"
            assert page.evaluate("document.documentElement.dataset.theme") == scheme
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", ground)[:3])) > 384) == (scheme == "light")
            broken = page.evaluate("[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)")
            assert broken == [], name
            if name.startswith("sessions/tp"):
                assert page.locator(".cell_output img").count()
                assert width < 1280 or page.evaluate("document.documentElement.scrollHeight") <= SCREENS * 800, name
                formulas += page.locator("math mi").count()
                link = page.get_by_role("link", name="Open in Colab").get_attribute("href")
                assert link == parse_address(ADDRESS).colab(f"{Path(name).name}.ipynb")
    assert problems == [] and formulas
    assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {
        urlsplit(served).netloc}, "the site asks for something that lies elsewhere"


@pytest.mark.slow
def test_search_finds_and_the_theme_can_be_chosen(served):
    with chromium_page(color_scheme="light") as page:
        page.goto(f"{served}/search.html?q=teacher+forcing")
        page.wait_for_selector("#search-results li a")
        assert page.locator("#search-results li a", has_text="session 2").count()
        page.goto(f"{served}/index.html")
        page.locator("button.theme-switch-button").first.click()
        page.locator("button.theme-change-button[data-mode=dark]").first.click()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
