"""The public repository holds what anybody may have, and no line of a solution, of checks or of faults."""

import gzip
import io
import json
import subprocess
import time
import zipfile

import pytest

from autograder import cli
from autograder.course import Course, CourseError
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import leaks, notebooks, public_repository, release, standalone
from autograder.publish.wheels import DISTRIBUTION
from conftest import REPOSITORY, TINY, fingerprint, tiny_copy

ADDRESS = "https://github.com/someone/notes"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """This course as it would be published, without a site: name → bytes."""
    return public_repository.contents(REPOSITORY, public_repository.address_of(REPOSITORY, ADDRESS))


def test_every_line_of_every_solution_is_looked_for_and_none_is_published(published):
    kept = leaks.instructor_lines(REPOSITORY)
    for name in REPOSITORY.sessions:
        for exercise in load_source(REPOSITORY, name).by_role("exercise"):
            lines = list(leaks.distinctive_lines(exercise.hidden))
            given = notebooks.released_notebook(load_source(REPOSITORY, name)).cells
            assert [line for line in lines if line not in kept and line not in "\n".join(c.source for c in given)
                    and not _given_elsewhere(line)] == [], exercise.name
    assert len(kept) > 1000 and leaks.leaks(REPOSITORY, published) == []


def _given_elsewhere(line):
    """Whether a later session gives the line to students, or a module of the course has it."""
    given = ["\n".join(cell.source for cell in notebooks.released_notebook(load_source(REPOSITORY, name)).cells)
             for name in REPOSITORY.sessions]
    modules = [path.read_text(encoding="utf-8") for helper in REPOSITORY.helpers for path in helper.rglob("*.py")]
    engine = [path.read_text(encoding="utf-8") for path in (REPOSITORY.root / "autograder").rglob("*.py")]
    return any(line in text for text in [*given, *modules, *engine])


def test_what_opens_the_notebooks_points_into_the_public_repository(published):
    readme = published["README.md"].decode()
    for name in REPOSITORY.sessions:
        assert f"{name}/{name}.ipynb" in published and f"colab/{name}.ipynb" in published
        assert f"github/someone/notes/blob/main/colab/{name}.ipynb" in readme
        assert f"mybinder.org/v2/gh/someone/notes/main?labpath={name}%2F{name}.ipynb" in readme
    assert "someone/notes/main/colab/" in json.loads(published[f"colab/{name}.ipynb"])["cells"][1]["source"][2]
    assert {".binder/requirements.txt", ".devcontainer/devcontainer.json", "student-kit.zip"} <= published.keys()
    (wheel,) = [name for name in published if name.startswith("replay_autograder-")]
    assert published[".binder/requirements.txt"].decode().splitlines()[-1] == f"./{wheel}"


@pytest.fixture
def course(tmp_path):
    """A small course, released."""
    made = Course(tiny_copy(tmp_path / "course").root)
    release.release(load_oracle(made, TINY), "never")
    return made


def test_whatever_comes_from_the_instructor_is_refused(course):
    line = next(leaks.distinctive_lines(load_source(course, TINY).cell("exercise", "encoder").hidden))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("inner/page.html", f"<p>{line.replace('<', '&lt;')}</p>")
    hidden = {
        "a.txt": f"text\n  {line}\n".encode(), "b.zip": archive.getvalue(), "c.bin": gzip.compress(line.encode()),
        "d.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": [f"{line}\n"], "outputs": []}]}).encode(),
        "e.ipynb": json.dumps({"cells": [{"outputs": [{"data": {"text/plain": line}}]}]}).encode(),
        "f.py": (course.folder(TINY) / "checks.py").read_bytes(),
        "g.py": (course.folder(TINY) / "faults.py").read_bytes(),
    }
    for name, data in hidden.items():
        assert leaks.leaks(course, {name: data}), name
    marked = leaks.leaks(course, {"i.py": b"    ### BEGIN SOLUTION\n"})
    assert marked == ["i.py: a marker of a solution: ### BEGIN SOLUTION"]
    assert leaks.leaks(course, {"not.zip": b"version https://git-lfs"}) == []
    for name in ("solutions/x.ipynb", "gradebook/secret", "x.provided", "site/gradebook.db", "first/checks.py",
                 "variants.py"):
        assert leaks.leaks(course, {name: b""}) == [f"{name}: a file of the instructor's"]
    assert leaks.leaks(course, {"h.txt": b"nothing of it"}) == []


def test_a_model_answer_is_recognised_without_the_marks_of_markdown(course):
    hidden = [cell.hidden for cell in load_source(course, TINY).by_role("answer")]
    lines = [line for text in hidden for line in leaks.distinctive_lines(text)]
    line = lines[0].replace("a reason", "`a reason`")
    assert line != lines[0]
    path, text = course.script(TINY), course.script(TINY).read_text(encoding="utf-8")
    for mark in ("", "- ", "1. ", "2) ", "> - "):
        path.write_text(text.replace(lines[0], mark + line), encoding="utf-8")
        assert leaks.leaks(course, {"a.html": f"<p>{line.replace('`', '')}</p>".encode()})


def test_a_site_or_target_that_is_no_folder_and_an_address_with_another_folder_are_refused(course, tmp_path):
    for address in ("https://github.com/me/notebooks", "git@github.com:me/notebooks.git", "file:///srv/notebooks"):
        with pytest.raises(CourseError, match="is no folder: clone the repository with git"):
            public_repository.publish(course, type(tmp_path)(address), ADDRESS)
    with pytest.raises(CourseError, match="nowhere is no folder"):
        public_repository.publish(course, tmp_path / "public", ADDRESS, tmp_path / "nowhere")
    with pytest.raises(CourseError, match="lie in the folder colab"):
        public_repository.publish(course, tmp_path / "public", f"{ADDRESS}/tree/main/notes")
    assert not (tmp_path / "public").exists()


def test_a_leak_stops_the_publication(course, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(f"<pre>{load_source(course, TINY).cell('exercise', 'encoder').hidden}</pre>")
    with pytest.raises(CourseError, match="nothing is published, because this is the instructor's"):
        public_repository.publish(course, tmp_path / "public", ADDRESS, site)
    assert not (tmp_path / "public").exists()


def test_an_address_that_is_missing_stops_the_publication_with_one_line(course, tmp_path, capsys):
    (course.root / "course.toml").write_text('address = ""\n')
    assert cli.main(["--course", str(course.root), "publish", str(tmp_path / "public")]) == 2
    said = capsys.readouterr().err
    assert "course.toml has no address: say there, or with --address, where" in said and said.count("\n") == 1
    assert not (tmp_path / "public").exists()
    assert cli.main(["--course", str(course.root), "pack", "standalone"]) == 0  # no address is needed
    assert "github.com" not in (course.root / "dist" / "standalone" / "README.md").read_text()
    assert cli.main(["--course", str(course.root), "pack", "standalone"]) == 0  # again, in the place of its own


def test_a_standalone_notebook_takes_the_place_of_no_readme_that_is_not_its_own(course, capsys):
    (course.root / "README.md").write_text("# Mine\n")
    before = fingerprint(course.root)
    command = ["--course", str(course.root), "pack", "standalone", "--out", str(course.root)]
    assert cli.main(command) == 2 and "README.md is not of this command: name another" in capsys.readouterr().err
    assert fingerprint(course.root) == before


def test_only_old_wheels_of_this_command_go_and_not_before_all_is_written(course, monkeypatch):
    out = course.root / "mine"
    out.mkdir()
    old = out / f"{DISTRIBUTION.replace('-', '_')}-1.0-py3-none-any.whl"
    old.write_bytes(b"mine")
    standalone.write_standalone(course, out)
    assert old.exists(), "in a folder that this command had not written"

    def fails(*args):
        raise CourseError("not drawn")

    with monkeypatch.context() as patch, pytest.raises(CourseError):
        patch.setattr(standalone, "_alone", fails)
        standalone.write_standalone(course, out)
    assert old.exists() and (out / f"{TINY}.ipynb").exists()
    standalone.write_standalone(course, out)
    assert not old.exists() and len(list(out.glob("*.whl"))) == 2


def test_a_clone_is_brought_up_to_date_and_what_is_unchanged_is_written_alike(course, tmp_path):
    folder, site = tmp_path / "clone", tmp_path / "site"

    def git(*command):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *command], cwd=folder,
                              capture_output=True, text=True, check=True).stdout

    site.mkdir()
    (site / "index.html").write_text("<p>read</p>")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    for given in (site, None):  # the site is gone
        names = public_repository.publish(course, folder, ADDRESS, given)
        git("add", "-A")
        git("commit", "-m", "Publish")
        assert set(git("ls-files").split()) == {*names, public_repository.MANIFEST}
    time.sleep(2.1)  # a zip counts in steps of two seconds
    public_repository.publish(course, folder, ADDRESS)
    assert git("status", "--porcelain") == ""


def test_links_name_the_branch_of_the_address(course, tmp_path):
    public_repository.publish(course, tmp_path / "public", f"{ADDRESS}/tree/trunk")
    readme = (tmp_path / "public" / "README.md").read_text(encoding="utf-8")
    assert "github/someone/notes/blob/trunk/colab/" in readme and "/notes/trunk?labpath=" in readme


def test_nothing_is_written_through_a_link(tmp_path):
    """As a pull request to the public repository may hold it."""
    folder, mine = tmp_path / "public", tmp_path / "mine"
    public_repository._write(folder, {"README.md": b"1", "a/b/c.txt": b"1"})
    mine.mkdir()
    (mine / "README.md").write_text("mine")
    (folder / "README.md").unlink()
    (folder / "README.md").symlink_to(mine / "README.md")
    (folder / public_repository.MANIFEST).rename(mine / "list")
    (folder / public_repository.MANIFEST).symlink_to(mine / "list")
    (folder / "a" / "b").rename(mine / "b")
    (folder / "a" / "b").symlink_to(mine / "b")
    (mine / "b" / "c.txt").rename(mine / "c")
    (mine / "b" / "c.txt").symlink_to(mine / "c")  # within what a link leads to, a link is theirs
    (tmp_path / "linked").symlink_to(folder)  # one's own link to the folder is followed
    public_repository._write(tmp_path / "linked", {"README.md": b"2", "a/b/c.txt": b"2", "d.txt": b"2"})
    there = [(mine / name).read_text() for name in ("README.md", "b/c.txt", "list")]
    assert there == ["mine", "1", "README.md\na/b/c.txt\n"]
    assert [(folder / name).read_text() for name in ("README.md", "a/b/c.txt", "d.txt")] == ["2"] * 3


@pytest.mark.parametrize("listed", [".git/config", "x/../.git/config", ".GIT/config", "link/config", "a", "", ".",
                                    "../mine.txt", "a" * 5000, "\0", "\udcff"])
def test_a_list_that_names_other_files_removes_none(tmp_path, listed):
    """As a pull request may change it. The control: a file of a former publication, which goes."""
    folder = tmp_path / "public"
    public_repository._write(folder, {"a/b.txt": b"1", "old.txt": b"1"})
    (folder / ".git").mkdir()
    kept = [folder / ".git" / "config", tmp_path / "mine.txt"]
    for path in kept:
        path.write_text("mine")
    (folder / "link").symlink_to(".git")
    (folder / public_repository.MANIFEST).write_bytes(f"{listed}\nold.txt\n".encode(errors="surrogateescape"))
    public_repository._write(folder, {"a/b.txt": b"2"})
    assert [path.read_text() for path in kept] == ["mine"] * 2
    assert (folder / "a" / "b.txt").read_text() == "2" and not (folder / "old.txt").exists()


def test_a_folder_with_other_files_is_left_alone(course, tmp_path):
    folder = tmp_path / "public"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(CourseError, match="did not write: name an empty one"):
        public_repository.publish(course, folder, ADDRESS)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
