"""Moodle and Canvas: what is handed in comes here, grades and feedback go back; hostile archives do nothing."""

import csv
import io
import resource
import stat
import struct
import zipfile
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from autograder import cli
from autograder.classroom import csv_files, samples
from autograder.classroom.grades import Score
from autograder.classroom.json_files import FileError
from autograder.classroom.nbgrader.feedback_pages import update_pages
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.platforms import collecting, returning, untrusted_zip
from autograder.classroom.platforms.collecting import Roster, collect, table
from autograder.classroom.platforms.returning import return_grades
from autograder.classroom.platforms.senders import sender_of, slug
from autograder.course import CourseError
from autograder.model.source import load_source
from autograder.publish import notebooks
from conftest import TINY, TINY_COURSE, automatic_points, fingerprint

FULL = automatic_points(TINY_COURSE, TINY)
MOODLE = "{name}_{id}_assignsubmission_file"
LATER = "tp1_later"


@pytest.fixture
def course(tmp_path):
    return samples.classroom_in(tmp_path / "course", TINY_COURSE, [TINY])


@pytest.fixture
def zipped(tmp_path):
    """Write a zip of these entries: name, or ZipInfo, and content."""
    def write(entries, name="class.zip"):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as made:
            for entry, data in entries:
                made.writestr(entry, data)
        return tmp_path / name

    return write


def handed_in(cells=None):
    return nbformat.writes(notebooks.filled(TINY_COURSE, TINY, cells or {}))


RIGHT = handed_in(notebooks.solved(TINY_COURSE, TINY))
WRONG = handed_in({**notebooks.solved(TINY_COURSE, TINY), "double": "def double(x):\n    return x * x"})
BLANK = handed_in()


def submitted(course):
    folder = course.gradebook / "submitted"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


# Names


@pytest.mark.parametrize("path, platform, name, id, late, file", [
    ("Ada Lovelace_101_assignsubmission_file/tp0_tiny.ipynb", "moodle", "Ada Lovelace", "101", False, "tp0_tiny.ipynb"),
    ("Ada Lovelace_101_assignsubmission_file_/tp0.ipynb", "moodle", "Ada Lovelace", "101", False, "tp0.ipynb"),
    ("Ada Lovelace_101_assignsubmission_file_my_tp0.ipynb", "moodle", "Ada Lovelace", "101", False, "my_tp0.ipynb"),
    ("outer/Ada L_7_assignsubmission_file/deep/er/a.ipynb", "moodle", "Ada L", "7", False, "a.ipynb"),
    ("Participant_33_assignsubmission_file/a.ipynb", "moodle", "Participant", "33", False, "a.ipynb"),
    ("lovelaceada_57_9001_tp0_tiny.ipynb", "canvas", "lovelaceada", "57", False, "tp0_tiny.ipynb"),
    ("lovelaceada_LATE_57_9001_tp0-1.ipynb", "canvas", "lovelaceada", "57", True, "tp0-1.ipynb"),
    ("anon_Ab3dE_9001_tp0.ipynb", "canvas", "anon_Ab3dE", "anon_Ab3dE", False, "tp0.ipynb"),
    ("LATE_anon_Ab3dE_9001_tp0.ipynb", "canvas", "anon_Ab3dE", "anon_Ab3dE", True, "tp0.ipynb"),
    ("o_brien_pat_58_9002_my_3_4_work.ipynb", "canvas", "o_brien_pat", "58", False, "my_3_4_work.ipynb"),
])
def test_a_name_says_who_handed_in(path, platform, name, id, late, file):
    by = sender_of(path)
    assert (by.platform, by.name, by.id, by.late, by.file) == (platform, name, id, late, file)


@pytest.mark.parametrize("path", [
    "tp0.ipynb", "Ada/tp0.ipynb", "Ada_assignsubmission_file/a.ipynb", "", "57_a.ipynb",
    "Eve_Smith_99_assignsubmission_file/Ada Lovelace_77_assignsubmission_file/tp0.ipynb",
    "Eve_99_assignsubmission_file/lovelaceada_77_9999_tp0.ipynb".replace("Eve", "Eve_S"),
    "smitheve_99_123_x/lovelaceada_77_9999_tp0.ipynb", "smitheve_99_123_x\\lovelaceada_77_9999_tp0.ipynb",
])
def test_a_name_that_says_nothing_is_nobodys(path):
    assert sender_of(path) is None


@pytest.mark.parametrize("path, id", [
    ("Eve Smith_99_assignsubmission_file/Ada Lovelace_77_assignsubmission_file/tp0.ipynb", "99"),
    ("Eve Smith_99_assignsubmission_file/lovelaceada_77_9999_tp0.ipynb", "99"),
    ("Eve Smith_99_assignsubmission_file_Ada Lovelace_77_assignsubmission_file_tp0.ipynb", "99"),
    ("smitheve_99_123_Ada Lovelace_77_assignsubmission_file_tp0.ipynb", "99"),
])
def test_a_file_is_of_whom_its_outermost_name_says(path, id):
    assert sender_of(path).id == id


@pytest.mark.parametrize("eve, said", [
    ("lovelaceada_57_99999_x_66_9001_tp0.ipynb", "lovelaceada_57_9000_tp0.ipynb"),  # her name on Canvas holds numbers
    ("x_57_99999_y_66_9001_tp0.ipynb", "lovelaceada, x"),
])
def test_who_is_called_as_somebody_elses_file_replaces_nothing(course, zipped, eve, said):
    path = zipped([("lovelaceada_57_9000_tp0.ipynb", RIGHT), (eve, BLANK)])
    rows = [row for own in collect(course, path, TINY).values() for row in own]
    assert BLANK not in submitted(course).values()
    assert any(row.file == eve and said in row.outcome for row in rows)


def test_a_file_without_a_name_is_left_out(zipped, course):
    path = zipped([("Ada Lovelace_101_assignsubmission_file/tp0.ipynb", RIGHT), ("QQQ", BLANK)])
    path.write_bytes(path.read_bytes().replace(b"QQQ", b"\0QQ"))  # which Python's own writer refuses
    rows = [row for own in collect(course, path, TINY).values() for row in own]
    assert list(submitted(course).values()) == [RIGHT] and any("it has no name" in row.outcome for row in rows)


def test_moodle_finds_the_student_again_in_what_goes_back():
    """The rule of `is_valid_filename_for_import`: a path part whose pieces are name, number, type, plugin."""
    for path in ("Ada Lovelace_101_assignsubmission_file/a.ipynb", "Ada_101_assignsubmission_file_a.ipynb"):
        pieces = f"{sender_of(path).return_name}/feedback.html".split("/")[0].split("_", 4)
        assert pieces[1:4] == ["101", "assignsubmission", "file"]


def test_canvas_finds_the_student_again_in_what_goes_back():
    """The rule of `infer_comment_context_from_filename`: the first two numbers between underscores."""
    back = sender_of("o_brien_pat_LATE_58_9002_my_3_4_work.ipynb").return_name
    assert [piece for piece in back.split("_") if piece.isdigit()][:2] == ["58", "9002"]


@pytest.mark.parametrize("name", ["../../etc", "a/b", "..", ".", "CON\x00", "<b>", "=1+1", "  ", "\u202e", "a" * 400])
def test_a_name_becomes_a_folder_and_nothing_else(name):
    made = slug(name)
    assert made == "" or (made.replace("-", "").isalnum() and len(made) <= 60)


def test_letters_of_every_script_stay():
    assert [slug(name) for name in ("Zoë Ångström", "李 雷", "محمد علي")] == ["zoe-angstrom", "李-雷", "محمد-علي"]


# Both ways


def test_a_class_from_moodle_and_back(course, zipped, grade_here, tmp_path, capsys):
    """Collected, graded, given back: the worksheet that Moodle gave, filled, and a page for each student."""
    path = zipped([
        ("Ada Lovelace_101_assignsubmission_file/tp0_tiny.ipynb", RIGHT),
        ("Max Müller_102_assignsubmission_file/Untitled (1).ipynb", WRONG),
        ("Max Müller_102_assignsubmission_file/Untitled.ipynb", BLANK),
        ("Max Müller_102_assignsubmission_file/data.csv", "1,2"),
        ("Tom Cut_103_assignsubmission_file/tp0_tiny.ipynb", RIGHT[:3000]),
        ("Text Only_104_assignsubmission_onlinetext/onlinetext.html", "<p>see mail</p>"),
    ])
    assert cli.main(["--course", str(course.root), "collect", str(path)]) == 1  # somebody handed in no notebook
    assert "3 submissions, 3 files left out" in capsys.readouterr().out
    assert submitted(course) == {f"ada-lovelace/{TINY}/{TINY}.ipynb": RIGHT, f"max-muller/{TINY}/{TINY}.ipynb": WRONG,
                                 f"tom-cut/{TINY}/{TINY}.ipynb": RIGHT[:3000]}
    term = Term(course)
    assert not [one.problem for one in grade_here(course).values() if one.problem]
    _generate_feedback(term)
    sheet = tmp_path / "Grades.csv"
    sheet.write_text("\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
                     "Last modified (submission),Last modified (grade),Feedback comments\n"
                     'Participant 101,Ada Lovelace,a@x,Submitted,,100.00,Yes,"Monday, 2 November 2026, 10:15 AM",-,\n'
                     'Participant 102,Max Müller,m@x,Submitted,,100.00,Yes,"Monday, 2 November 2026, 10:15 AM",-,\n'
                     "Participant 104,Text Only,t@x,Submitted,17.00,100.00,Yes,-,-,see mail\n", encoding="utf-8")
    returned = return_grades(term, TINY, sheet)
    folder = course.gradebook / "return" / TINY
    with zipfile.ZipFile(folder / "moodle-feedback.zip") as pages:
        assert set(pages.namelist()) == {f"{name}_{number}_assignsubmission_file/feedback.html" for name, number in
                                         (("Ada Lovelace", 101), ("Max Müller", 102), ("Tom Cut", 103))}
        assert "You square the input" in pages.read("Max Müller_102_assignsubmission_file/feedback.html").decode()
    with open(folder / "moodle-worksheet.csv", encoding="utf-8", newline="") as worksheet:
        filled = list(csv.DictReader(worksheet))
    total = FULL + 2  # with the written answer, which nobody has read
    assert float(filled[0]["Grade"]) == pytest.approx(100 * FULL / total, abs=1e-3)
    assert 0 < float(filled[1]["Grade"]) < float(filled[0]["Grade"])
    assert "double: 0 of 2 points<br>" in filled[1]["Feedback comments"]
    assert filled[2] == dict(zip(filled[0], ["Participant 104", "Text Only", "t@x", "Submitted", "17.00", "100.00",
                                             "Yes", "-", "-", "see mail"], strict=True))
    said = "\n".join(returned.notes)
    assert "100 points, here 10" in said and "does not know: tom-cut" in said


def test_a_class_from_canvas_and_back(course, zipped, grade_here):
    path = zipped([("lovelaceada_57_9001_tp0_tiny.ipynb", BLANK), ("lovelaceada_57_9004_tp0_tiny-1.ipynb", RIGHT),
                   ("mullermax_LATE_58_9002_work.ipynb", WRONG), ("anon_Ab3dE_9003_tp0_tiny.ipynb", BLANK)])
    rows = collect(course, path)[TINY]
    assert [(row.student, row.late, row.taken) for row in rows if row.taken] == [
        ("anon-ab3de", "", True), ("lovelaceada", "", True), ("mullermax", "late", True)]
    assert submitted(course)[f"lovelaceada/{TINY}/{TINY}.ipynb"] == RIGHT
    term = Term(course)
    grade_here(course)
    return_grades(term, TINY)
    folder = course.gradebook / "return" / TINY
    with zipfile.ZipFile(folder / "canvas-feedback.zip") as notebooks:
        assert set(notebooks.namelist()) == {"lovelaceada_57_9004_tp0_tiny-1.ipynb", "anon_Ab3dE_9003_tp0_tiny.ipynb",
                                             "mullermax_LATE_58_9002_work.ipynb"}
        graded = notebooks.read("mullermax_LATE_58_9002_work.ipynb").decode()
    assert "You square the input" in graded and "Rubric" not in graded
    table_ = list(csv.reader(io.StringIO((folder / "canvas-grades.csv").read_text())))
    assert table_[0][:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"] and table_[0][5] == TINY
    assert table_[1][0].strip() == "Points Possible" and float(table_[1][5]) == FULL + 2
    assert {row[1]: float(row[5]) for row in table_[2:]}["57"] == FULL and len(table_) == 4  # not the anonymous one


@pytest.fixture
def overridden(course, zipped, grade_here):
    """Two students, graded, with their pages; then a person gives points and a comment to one of them."""
    def write(names):
        collect(course, zipped(list(zip(names, (RIGHT, WRONG), strict=True))))
        term, student = Term(course), table(course, TINY)[1].student
        grade_here(course)
        update_pages(term, TINY)
        with term.gradebook() as gradebook:
            gradebook.set_manual_score(TINY, student, "check-double", 1.5, "I *accept* this.")
            gradebook.commit()
        return term, student

    return write


def test_moodle_has_the_points_of_the_gradebook(overridden, zipped, course, tmp_path):
    term, max_ = overridden([f"{MOODLE.format(name=name, id=i)}/a.ipynb" for i, name in enumerate(["Ada", "Max"])])
    sheet = tmp_path / "Grades.csv"
    sheet.write_text("Identifier,Full name,Grade,Maximum Grade,Feedback comments\n"
                     "Participant 0,Ada,,10,\nParticipant 1,Max,,10,\n")
    notes = "\n".join(return_grades(term, TINY, sheet).notes)
    with open(course.gradebook / "return" / TINY / "moodle-worksheet.csv", newline="") as file:
        comments = [row["Feedback comments"].split("<br>") for row in csv.DictReader(file)]
    assert comments[1] == ["double: 1.5 of 2 points", "double: I *accept* this.", "encoder: 4 of 4 points",
                           "last: 2 of 2 points", "why: 0 of 2 points"]
    assert comments[0][0] == "double: 2 of 2 points"
    assert "no feedback page" not in notes
    with zipfile.ZipFile(course.gradebook / "return" / TINY / "moodle-feedback.zip") as pages:
        assert "I *accept* this." in pages.read("Max_1_assignsubmission_file/feedback.html").decode()
    (course.gradebook / "autograded" / max_ / TINY / f"{TINY}.ipynb").unlink()
    collect(course, zipped([of("Max", 1)]))
    notes = "\n".join(return_grades(term, TINY).notes)
    assert f"no feedback page of {max_}: no graded notebook (autograder grade {TINY} --force)" in notes
    assert f"handed in again and not graded since, the earlier grade is returned: {max_}" in notes


def test_who_was_renamed_since_gets_the_grade_of_the_new_name(course, zipped, grade_here, tmp_path):
    collect(course, zipped([("Ada Lovelace_101_assignsubmission_file/a.ipynb", RIGHT)]))
    roster = course.gradebook / "students.csv"
    roster.write_text(roster.read_text().replace("ada-lovelace", "al42"))
    (course.gradebook / "submitted" / "ada-lovelace").rename(course.gradebook / "submitted" / "al42")
    grade_here(course)
    sheet = tmp_path / "Grades.csv"
    sheet.write_text("Identifier,Full name,Grade,Maximum Grade,Feedback comments\nParticipant 101,Ada,,10,\n")
    returned = return_grades(Term(course), TINY, sheet)
    assert not any("not graded" in note for note in returned.notes)
    assert [path.name for path in returned.files] == ["moodle-feedback.zip", "moodle-worksheet.csv"]
    assert f"101,Ada,{FULL:g},10," in returned.files[1].read_text()


def test_canvas_has_the_points_and_comments_of_the_gradebook(overridden, course):
    term, max_ = overridden(["ada_57_9001_a.ipynb", "max_58_9002_a.ipynb"])
    return_grades(term, TINY)
    with zipfile.ZipFile(course.gradebook / "return" / TINY / "canvas-feedback.zip") as zipped:
        ada, notebook = (nbformat.reads(zipped.read(name).decode(), 4) for name in zipped.namelist())
    nbformat.validate(notebook)
    assert "- double: 1.5 of 2 points\n- double: I &#42;accept&#42; this.\n" in notebook.cells[0].source
    outputs = {cell.id: [output.text for output in cell.outputs] for cell in notebook.cells if cell.get("outputs")}
    assert outputs["check-double"][0].startswith("1.5 of 2 points, given by a person.")
    assert "You square the input" in outputs["check-double"][1] and len(outputs["check-encoder"]) == 1
    assert "given by a person" not in nbformat.writes(ada)
    (course.gradebook / "autograded" / max_ / TINY / f"{TINY}.ipynb").write_text("{ cut off")
    assert f"no graded notebook that can be read: {max_} (" in "\n".join(return_grades(term, TINY).notes)


def _generate_feedback(term):
    directory = CourseDirectory(config=term.config)
    directory.assignment_id = TINY
    converter = GenerateFeedback(coursedir=directory, config=term.config)
    converter.force = True
    converter.start()


def test_a_second_time_nothing_is_asked_and_nothing_changes(course, zipped):
    path = zipped([(f"{MOODLE.format(name='Ada Lovelace', id=101)}/a.ipynb", RIGHT)])
    collect(course, path)
    before = fingerprint(course.gradebook / "submitted")
    rows = collect(course, path)[TINY]
    assert [row.outcome for row in rows] == ["as before"] and fingerprint(course.gradebook / "submitted") == before
    later = zipped([(f"{MOODLE.format(name='Ada Lovelace', id=101)}/a.ipynb", WRONG)], "later.zip")
    assert [row.outcome for row in collect(course, later)[TINY]] == ["in the place of an earlier one"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_name_that_a_person_changed_stays(course, zipped, separator):
    """Moodle numbers participants anew in every assignment; a name is the same student again."""
    collect(course, zipped([(f"{MOODLE.format(name='Ada Lovelace', id=101)}/a.ipynb", RIGHT)]))
    roster = course.gradebook / "students.csv"
    roster.write_text(roster.read_text().replace("ada-lovelace", "alovelace").replace(",", separator))
    collect(course, zipped([(f"{MOODLE.format(name='Ada Lovelace', id=999)}/a.ipynb", WRONG)]), LATER)
    assert submitted(course)[f"alovelace/{LATER}/{LATER}.ipynb"] == WRONG


def test_a_name_that_a_person_changed_leaves_no_second_folder(course, zipped):
    path = zipped([of("Ada", 101)])
    collect(course, path)
    roster = course.gradebook / "students.csv"
    roster.write_text(roster.read_text().replace(",ada", ",alovelace"))
    (row,) = collect(course, path)[TINY]
    assert "an earlier one lies in gradebook/submitted/ada: rename this folder to alovelace" in row.outcome
    (course.submitted / "ada").rename(course.submitted / "alovelace")
    collect(course, path)
    assert list(submitted(course)) == [f"alovelace/{TINY}/{TINY}.ipynb"]
    assert [(row.student, row.taken) for row in table(course, TINY)] == [("alovelace", True)]


def of(name, number, data=RIGHT):
    """One entry of a zip of Moodle."""
    return f"{MOODLE.format(name=name, id=number)}/a.ipynb", data


def outcomes(rows):
    return {row.id: row.outcome for row in rows}


def test_a_namesake_in_the_zip_of_another_group_takes_nobodys_place(course, zipped):
    collect(course, zipped([of("Ada", 101, RIGHT)]))
    second = zipped([of("Ada", 205, WRONG), of("Max", 206)])
    assert cli.main(["--course", str(course.root), "collect", str(second)]) == 1
    assert submitted(course)[f"ada/{TINY}/{TINY}.ipynb"] == RIGHT and len(submitted(course)) == 2
    row = next(row for row in table(course, TINY) if row.id == "205")
    assert row.student == "" and "it is of ada, or of another Ada" in row.outcome
    assert "a row moodle,Ada_205,STUDENT" in row.outcome
    with open(course.gradebook / "students.csv", "a") as roster:
        roster.write("moodle,Ada_205,ada-2\n")
    collect(course, second)
    assert submitted(course)[f"ada-2/{TINY}/{TINY}.ipynb"] == WRONG
    assert {row.id: row.student for row in table(course, TINY)} == {"101": "ada", "205": "ada-2", "206": "max"}
    assert outcomes(collect(course, zipped([of("Ada", 101, WRONG)]))[TINY]) == {"101": collecting.REPLACING}


def test_namesakes_who_became_one_are_asked_for(course, zipped):
    """The table of an earlier version has two numbers for one student, and no row of the roster says so."""
    first, second = zipped([of("Ada", 101)], "1.zip"), zipped([of("Ada", 205, WRONG)], "2.zip")
    collect(course, first)
    path = collecting.table_path(course, TINY)
    path.write_text(path.read_text() + path.read_text().splitlines()[1].replace("101", "205") + "\n")
    assert not any(row.taken for zip_ in (first, second) for row in collect(course, zip_)[TINY])
    assert submitted(course) == {f"ada/{TINY}/{TINY}.ipynb": RIGHT}


def test_namesakes_of_an_earlier_assignment_are_asked_for(course, zipped):
    """Their numbers are others by now: only a person knows who is who."""
    collect(course, zipped([of("Ada", 11), of("Ada", 12), of("Max", 13)]))
    before = (course.gradebook / "students.csv").read_text()
    rows = collect(course, zipped([of("Ada", 31), of("Ada", 32), of("Max", 33)]), LATER)[LATER]
    assert [row.student for row in rows] == ["max", "", ""]
    assert all("it is of ada or ada-12, or of another Ada" in row.outcome for row in rows if not row.taken)
    rows = collect(course, zipped([of("Ada", 31)]), LATER)[LATER]
    assert not any(row.taken for row in rows) and (course.gradebook / "students.csv").read_text() == before


def test_a_second_assignment_of_a_session_may_be_of_the_same_student(course, zipped):
    collect(course, zipped([of("Ada", 11)]))
    with open(course.gradebook / "students.csv", "a") as roster:
        roster.write("moodle,Ada_12,ada\n")
    collect(course, zipped([of("Ada", 12, WRONG)]))
    assert submitted(course) == {f"ada/{TINY}/{TINY}.ipynb": WRONG}
    collect(course, zipped([of("Ada", 11)]))
    assert submitted(course) == {f"ada/{TINY}/{TINY}.ipynb": RIGHT}


def test_a_second_assignment_of_a_session_is_known_by_its_class(course, zipped):
    names = ["Ada", "Bob", "Cy", "Kim", "Kim"]
    first = zipped([of(name, 10 + i) for i, name in enumerate(names)], "first.zip")
    second = zipped([of(name, 20 + i, WRONG) for i, name in enumerate(names)], "second.zip")
    collect(course, first)
    assert [row.student for row in collect(course, second)[TINY] if row.taken] == ["ada", "bob", "cy"]
    assert [submitted(course)[f"{name}/{TINY}/{TINY}.ipynb"] for name in ("ada", "kim")] == [WRONG, RIGHT]
    for path in (second, first):
        rows = collect(course, path)[TINY]
        assert {"ada", "bob", "cy"} <= {row.student for row in rows if row.taken}
    assert len({row.student for row in table(course, TINY) if row.taken}) == len(names)


def test_hidden_names_are_told_apart_by_numbers_only(course, zipped):
    collect(course, zipped([of("Participant", 11), of("Participant", 12)]))
    collect(course, zipped([of("Participant", 31)]), LATER)
    collect(course, zipped([of("B-Participant", 13)]))
    assert len({row.student for name in (TINY, LATER) for row in table(course, name)}) == 4


def test_two_students_of_one_name_are_two(course, zipped):
    path = zipped([(f"{MOODLE.format(name='Kim Lee', id=1)}/a.ipynb", RIGHT),
                   (f"{MOODLE.format(name='Kim Lee', id=2)}/a.ipynb", WRONG)])
    collect(course, path)
    assert submitted(course) == {f"kim-lee/{TINY}/{TINY}.ipynb": RIGHT, f"kim-lee-2/{TINY}/{TINY}.ipynb": WRONG}


def test_no_name_is_made_to_be_that_of_one_of_two(course, zipped):
    senders = [("Ada", 12), ("Ada", 77), ("Ada (77)", 5), ("ADA 77", 6), ("ADA-77", 7), ("Ada 77 7", 8)]
    collect(course, zipped([(f"{MOODLE.format(name=name, id=number)}/a.ipynb", RIGHT) for name, number in senders]))
    rows = table(course, TINY)
    assert len({row.student for row in rows}) == len(rows) == len(senders) and all(row.taken for row in rows)


def test_the_zip_of_another_group_leaves_the_first_ones_rows(course, zipped):
    collect(course, zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT)]))
    collect(course, zipped([(f"{MOODLE.format(name='Max', id=2)}/a.ipynb", RIGHT)]))
    assert [row.name for row in table(course, TINY)] == ["Ada", "Max"]


@pytest.fixture
def later(course):
    """A second session of that course; a notebook of it."""
    path = course.solutions / LATER / f"{LATER}.py"
    path.parent.mkdir()
    path.write_text('# %% exercise="later"\ndef later():\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION\n\n'
                    '# %% check="later" points=1\ntp.check("later")\n')
    return nbformat.writes(notebooks.released_notebook(load_source(course, LATER)))


def test_a_notebook_of_another_session_replaces_nothing(course, zipped, later):
    """A student hands in a solved one of week 1 in the assignment of week 3."""
    collect(course, zipped([of("Ada", 11, BLANK), of("Bob", 12, BLANK)]))
    path = zipped([of("Ada", 31, RIGHT), of("Bob", 32, BLANK), of("Cy", 33, RIGHT), of("Dan", 34, later),
                   of("Eve", 35, later), of("Fay", 36, later), of("Gus", 37, later)])
    before = submitted(course)
    for outcome in ("new", "as before"):
        rows = collect(course, path)
        assert before.items() <= submitted(course).items()
        assert {row.student: row.outcome for row in rows[TINY]} == {"cy": outcome}
        left_out = [row for row in rows[LATER] if not row.taken]
        assert [row.student for row in left_out] == ["ada", "bob"] and len(rows[LATER]) == 6
        assert all(f"it is of {TINY}, of which one is there already" in row.outcome for row in left_out)
        assert {row.id for row in table(course, TINY)} == {"11", "12", "33"}
    collect(course, zipped([of("Cy", 33, WRONG), of("Dan", 34, later), of("Eve", 35, later)], "again.zip"))
    assert submitted(course)[f"cy/{TINY}/{TINY}.ipynb"] == WRONG  # in the place of one of the same assignment
    (course.submitted / "ada" / TINY / f"{TINY}.ipynb").unlink()
    collect(course, path)
    assert submitted(course)[f"ada/{TINY}/{TINY}.ipynb"] == RIGHT


def test_a_portfolio_is_taken_again_with_all_its_sessions(course, zipped, later):
    """On Canvas, whose numbers are the same in every assignment."""
    def handed(first, number):
        return [(f"lovelaceada_57_{number}1_a.ipynb", first), (f"lovelaceada_57_{number}2_b.ipynb", later),
                (f"byronbob_58_{number}3_a.ipynb", first), (f"byronbob_58_{number}4_b.ipynb", later)]

    collect(course, zipped(handed(BLANK, 900)))
    collect(course, zipped([*handed(RIGHT, 901), ("poecy_59_9025_b.ipynb", later)], "again.zip"))
    assert submitted(course)[f"lovelaceada/{TINY}/{TINY}.ipynb"] == RIGHT


def test_a_notebook_of_the_named_session_counts_before_a_later_one_of_another(course, zipped, later):
    path = zipped([("lovelaceada_57_9001_a.ipynb", RIGHT), ("lovelaceada_57_9002_b.ipynb", later)])
    assert [row.file[-7:-6] for row in collect(course, path, TINY)[TINY] if row.taken] == ["a"]
    assert submitted(course) == {f"lovelaceada/{TINY}/{TINY}.ipynb": RIGHT}


def test_who_hands_in_something_else_later_keeps_the_row_of_what_counts(course, zipped):
    collect(course, zipped([of("Bob", 12)]))
    report = (f"{MOODLE.format(name='Bob', id=12)}/report.pdf", "x")
    collect(course, zipped([of("Ada", 11), report]))
    assert [(row.student, row.taken) for row in table(course, TINY) if row.id == "12"][0] == ("bob", True)
    assert sum(row.taken for row in table(course, TINY)) == 2


@pytest.mark.parametrize("text, said", [
    ("platform,key,student\nmoodle,Ada,ada77,a note\n", "line 2: 4 cells"),
    ("platform,key,student\nmoodle,Ada\n", "line 2: 2 cells"),
    ("platform,key,student,note\nmoodle,Ada,ada77,a note\n", "platform, key, student, and no others"),
    ("platform,key,name\nmoodle,Ada,ada77\n", "platform, key, student, and no others"),
])
def test_a_roster_with_more_or_less_in_it_is_refused_and_stays(course, zipped, text, said):
    course.gradebook.mkdir(exist_ok=True)
    (course.gradebook / "students.csv").write_text(text)
    with pytest.raises((CourseError, FileError), match=said):
        collect(course, zipped([of("Ada", 1)]))
    assert (course.gradebook / "students.csv").read_text() == text and not course.submitted.exists()


def test_a_roster_may_have_blank_cells_and_rows(course, zipped):
    course.gradebook.mkdir(exist_ok=True)
    (course.gradebook / "students.csv").write_text("platform,key,student\nmoodle,Ada,ada77,,\n,,\n\n")
    assert collect(course, zipped([of("Ada", 1)]))[TINY][0].student == "ada77"


def test_a_full_disk_leaves_the_table_that_was_there(tmp_path):
    path, unlimited = tmp_path / "a.csv", resource.getrlimit(resource.RLIMIT_FSIZE)
    csv_files.write(path, [["short"]])
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, unlimited[1]))
    try:
        with pytest.raises(OSError):
            csv_files.write(path, [["a", "longer"], ["table"]])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert path.read_text() == "short\n" and list(tmp_path.iterdir()) == [path]


def test_two_that_collect_at_once_lose_nothing(course, zipped):
    paths = [zipped([of(f"Ada {chr(65 + i)}", i)], f"{i}.zip") for i in range(6)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda path: collect(course, path), paths))
    assert len(table(course, TINY)) == len(Roster(course).students) == 6


def test_a_table_with_other_columns_is_refused_in_one_line(course, zipped):
    collect(course, zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT)]))
    path = collecting.table_path(course, TINY)
    path.write_text(path.read_text().replace("return_name,outcome", "back,what"))
    with pytest.raises(FileError, match="its columns are not those"):
        table(course, TINY)


@pytest.mark.parametrize("name", ["../outside", "a/b", "", ".hidden", "..", "ada ", " "])
def test_a_roster_that_leads_elsewhere_is_refused(course, zipped, name):
    path = zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT)])
    (course.gradebook).mkdir(exist_ok=True)
    (course.gradebook / "students.csv").write_text(f"platform,key,student\nmoodle,Ada,{name}\n")
    with pytest.raises(CourseError):
        collect(course, path)
    assert not (course.gradebook / "submitted").exists()


# Hostile archives


def _link(name, to):
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, to


def test_what_leads_out_of_the_archive_is_left_out(course, zipped, tmp_path):
    ada = MOODLE.format(name="Ada", id=1)
    path = zipped([(f"{ada}/good.ipynb", RIGHT), (f"../{ada}/x.ipynb", WRONG), (f"/{ada}/x.ipynb", WRONG),
                   (f"C:/{ada}/x.ipynb", WRONG), (f"{ada}/../../x.ipynb", WRONG), (f"..\\{ada}\\x.ipynb", WRONG),
                   _link(f"{MOODLE.format(name='Eve', id=2)}/tp0_tiny.ipynb", "/etc/passwd")])
    outside = fingerprint(tmp_path / "course" / "solutions")
    rows = collect(course, path)[TINY]
    assert submitted(course) == {f"ada/{TINY}/{TINY}.ipynb": RIGHT}
    assert sum("leads out" in row.outcome for row in rows) == 5 and sum("a link" in row.outcome for row in rows) == 1
    assert fingerprint(tmp_path / "course" / "solutions") == outside


def test_a_link_that_lies_in_the_way_is_not_followed(course, zipped, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("kept")
    place = course.gradebook / "submitted" / "ada" / TINY / f"{TINY}.ipynb"
    place.parent.mkdir(parents=True)
    place.symlink_to(secret)
    collect(course, zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT)]))
    assert secret.read_text() == "kept" and place.read_text() == RIGHT and not place.is_symlink()


def test_a_bomb_is_not_unpacked(course, zipped, monkeypatch):
    monkeypatch.setattr(untrusted_zip, "MAX_BYTES", 2**20)
    path = zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT),
                   (f"{MOODLE.format(name='Eve', id=2)}/bomb.ipynb", b"\0" * 2**24)])
    rows = collect(course, path)[TINY]
    assert ["more than 1 MiB" in row.outcome for row in rows if row.name == "Eve"] == [True]
    assert len(submitted(course)) == 1


def test_many_bombs_of_one_student_refuse_no_archive(course, zipped, monkeypatch):
    """Together they are more than a class may hand in: without a bound for each student nobody's work is taken."""
    monkeypatch.setattr(untrusted_zip, "MAX_TOTAL", 2**22)
    monkeypatch.setattr(untrusted_zip, "MAX_OF_ONE", 2**20)
    bombs = [(f"{MOODLE.format(name='Eve', id=2)}/bomb{i}.ipynb", b"\0" * 2**19) for i in range(9)]
    path = zipped([*bombs, ("nobody.ipynb", b"\0" * 2**23), (f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT)])
    rows = collect(course, path)[TINY]
    assert sum("more than 1 MiB of one student" in row.outcome for row in rows if row.name == "Eve") == 7
    assert submitted(course)[f"ada/{TINY}/{TINY}.ipynb"] == RIGHT
    monkeypatch.setattr(untrusted_zip, "MAX_OF_ONE", 2**23)
    with pytest.raises(CourseError, match="unpacks to more"):
        collect(course, path)


def test_many_files_of_one_student_refuse_no_archive(course, zipped, monkeypatch):
    monkeypatch.setattr(untrusted_zip, "MAX_ENTRIES", 4)
    monkeypatch.setattr(untrusted_zip, "MAX_ENTRIES_OF_ONE", 2)
    many = [(f"{MOODLE.format(name='Eve', id=2)}/{i}.txt", "") for i in range(9)]
    rows = collect(course, zipped([*many, (f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT)]))[TINY]
    assert [row.outcome for row in rows if row.name == "Eve"][2:] == [
        "left out: with it, 7 of one student's 9 files are left out; the first 2 are read"]
    assert submitted(course)[f"ada/{TINY}/{TINY}.ipynb"] == RIGHT


def test_a_bomb_that_lies_about_its_size_is_not_unpacked(course, zipped, monkeypatch):
    """What the directory of the archive says of the size is a student's word."""
    monkeypatch.setattr(untrusted_zip, "MAX_BYTES", 2**20)
    path = zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT),
                   (f"{MOODLE.format(name='Eve', id=2)}/bomb.ipynb", b"\0" * 2**24)])
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", 2**24), struct.pack("<L", 10)))
    collect(course, path)
    assert all(len(text) <= 2**20 for text in submitted(course).values())


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_python_unpacks_without_a_bound_is_left_out(course, tmp_path, way):
    with zipfile.ZipFile(tmp_path / "class.zip", "w", way) as made:
        made.writestr(f"{MOODLE.format(name='Eve', id=1)}/a.ipynb", RIGHT)
        made.writestr(f"{MOODLE.format(name='Ada', id=2)}/a.ipynb", RIGHT, zipfile.ZIP_DEFLATED)
    collect(course, tmp_path / "class.zip")
    assert {row.file.partition("_")[0]: row.outcome for row in table(course, TINY)} == {
        "Eve": "left out: it is compressed in a way that no platform uses", "Ada": "new"}


def test_an_archive_of_a_later_version_of_zip_is_refused(course, zipped):
    path = zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT)])
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2") + 6] = 255  # the version needed to extract, in the central directory
    path.write_bytes(data)
    with pytest.raises(CourseError, match="zip file version 25.5"):
        collect(course, path)


@pytest.mark.parametrize("limit, value", [("MAX_ENTRIES", 2), ("MAX_TOTAL", 10_000)])
def test_an_archive_beyond_all_bounds_is_refused_whole(course, zipped, monkeypatch, limit, value):
    monkeypatch.setattr(untrusted_zip, limit, value)
    path = zipped([(f"{MOODLE.format(name='Ada', id=i)}/a.ipynb", RIGHT) for i in range(3)])
    with pytest.raises(CourseError):
        collect(course, path)
    assert not (course.gradebook / "submitted").exists()


@pytest.mark.parametrize("damage", [b"", b"PK", b"not a zip at all" * 100, None])
def test_what_is_no_zip_is_one_line(course, tmp_path, zipped, capsys, damage):
    path = zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT)])
    path.write_bytes(path.read_bytes()[:-30] if damage is None else damage)
    assert cli.main(["--course", str(course.root), "collect", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "not a zip" in err


def test_a_damaged_entry_costs_nobody_else(course, zipped):
    path = zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT),
                   (f"{MOODLE.format(name='Eve', id=2)}/a.ipynb", WRONG)])
    data = bytearray(path.read_bytes())
    at = data.index(b"Eve_2") + 200
    data[at:at + 20] = b"\xff" * 20
    path.write_bytes(data)
    rows = collect(course, path)[TINY]
    assert ["cannot be read" in row.outcome for row in rows if row.name == "Eve"] == [True]
    assert list(submitted(course)) == [f"ada/{TINY}/{TINY}.ipynb"]


def test_a_name_with_control_characters_is_shown_as_what_it_is(course, zipped, capsys):
    path = zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", RIGHT), ("\x1b[2Jgone\u202e.ipynb", WRONG)])
    cli.main(["--course", str(course.root), "collect", str(path)])
    assert "\x1b" not in (out := capsys.readouterr().out) and "\u202e" not in out and "gone" in out


def test_nothing_for_anybody_is_one_line(course, zipped, capsys):
    for entries in ([], [("readme.txt", "x")], [("tp0.ipynb", RIGHT)]):
        assert cli.main(["--course", str(course.root), "collect", str(zipped(entries))]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert cli.main(["--course", str(course.root), "return", TINY]) == 2
    assert "nothing of tp0_tiny was collected" in capsys.readouterr().err
    assert cli.main(["--course", str(course.root), "collect", "x.zip", "--session", "tp9"]) == 2


def test_a_notebook_of_no_tp_needs_a_word(course, zipped):
    path = zipped([(f"{MOODLE.format(name='Ada', id=1)}/a.ipynb", "broken")])
    with pytest.raises(CourseError, match="--session"):
        collect(course, path)
    assert collect(course, path, TINY)[TINY][0].student == "ada"


# Worksheets


@pytest.mark.parametrize("text", ["", "Kennung,Name,Bewertung\n", "a;b\n1;2\n", "\x00\xff"])
def test_a_worksheet_that_is_none_is_one_line(tmp_path, text):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(text)
    with pytest.raises(CourseError, match="grading worksheet"):
        returning._filled(sheet, {}, 10, returning.Returned())


def test_a_worksheet_with_semicolons_and_short_rows_keeps_its_form(tmp_path):
    sheet = tmp_path / "sheet.csv"
    header = "Identifier;Full name;Grade;Maximum Grade"
    sheet.write_text(f"{header}\nParticipant 1;A;;10,00\nParticipant 1\n\n", encoding="utf-8")
    student = returning._Student(
        collecting.CollectedFile("a", "A", "moodle", "1", "", "f", "b", "new"),
        returning.Grade({"check-a": Score(7.0, 10)}, {}), "")
    filled = returning._filled(sheet, {"1": student}, 10, returning.Returned())
    assert filled.splitlines() == [header, "Participant 1;A;7;10,00", "Participant 1", ""]


@pytest.mark.parametrize("moodles, maximum, scale", [
    ("100", 20, 5), ("10,5", 21, 0.5), ("20.00", 20, 1), ("0", 20, 1), ("-1", 20, 1), ("100", 0, 1), ("-3", -3, 1),
    ("Not graded", 20, 1)])
def test_points_are_brought_to_the_maximum_of_moodle_where_there_is_one(moodles, maximum, scale):
    result = returning.Returned()
    for _ in range(2):
        assert returning._scale(["x", moodles], ["Identifier", "Maximum Grade"], maximum, result) == scale
    assert len(result.notes) == (scale != 1)
    assert returning._scale(["x"], ["Identifier"], maximum, result) == 1
