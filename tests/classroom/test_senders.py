"""Who sent a file is read from the name that Moodle or Canvas gave it, and from nothing that the student wrote."""

import pytest

from autograder.classroom.platforms.senders import Sender, is_anonymous, sender_of, slug

MOODLE = {
    "Ada Lovelace_12_assignsubmission_file/tp1.ipynb": ("Ada Lovelace", "12", "Ada Lovelace_12_assignsubmission_file",
                                                        "tp1.ipynb", 0),
    "Group A/Ada  L_7_assignsubmission_file_/work/tp1 (2).ipynb": ("Ada L", "7", "Ada  L_7_assignsubmission_file_",
                                                                   "tp1 (2).ipynb", 2),
    "Ada_12_assignsubmission_file_tp1-13.ipynb": ("Ada", "12", "Ada_12_assignsubmission_file", "tp1-13.ipynb", 13),
    "Ada_12_assignsubmission_onlinetext_a.html": ("Ada", "12", "Ada_12_assignsubmission_onlinetext", "a.html", 0),
    "Ada_12_assignsubmission_file\\Eve_13_assignsubmission_file\\x.ipynb": (
        "Ada", "12", "Ada_12_assignsubmission_file", "x.ipynb", 0),
    "Ada_12_assignsubmission_file_1_2_bob.ipynb": ("Ada", "12", "Ada_12_assignsubmission_file", "1_2_bob.ipynb", 0),
}
CANVAS = {
    "lovelaceada_12_34_tp1.ipynb": ("lovelaceada", "12", "tp1.ipynb", 34, False, False),
    "lovelaceada_LATE_12_34_tp1-2.ipynb": ("lovelaceada", "12", "tp1-2.ipynb", 34, True, False),
    "anon_a1B2c_34_tp1.ipynb": ("anon_a1B2c", "anon_a1B2c", "tp1.ipynb", 34, False, False),
    "12_34_tp1.ipynb": ("12", "12", "tp1.ipynb", 34, False, False),
    "ada_12_34_56_tp1.ipynb": ("ada", "12", "56_tp1.ipynb", 34, False, False),
    "ada_12_34_56_78_tp1.ipynb": ("ada", "12", "56_78_tp1.ipynb", 34, False, True),
    "élodie_12_34_a b.ipynb": ("élodie", "12", "a b.ipynb", 34, False, False),
}


@pytest.mark.parametrize("path", MOODLE)
def test_moodles_names_are_read(path):
    name, number, back, file, order = MOODLE[path]
    sender = sender_of(path)
    assert sender == Sender("moodle", name, number, back, file, order, False, False)
    assert sender.person == ("moodle", name, number)


@pytest.mark.parametrize("path", CANVAS)
def test_canvas_names_are_read(path):
    name, number, file, order, late, ambiguous = CANVAS[path]
    assert sender_of(path) == Sender("canvas", name, number, path, file, order, late, ambiguous)
    assert sender_of(f"folder/{path}") == sender_of(path) and sender_of(f"{path}/ada_5_6_x.ipynb") is None


@pytest.mark.parametrize("path", ["tp1.ipynb", "", "/", "Ada_assignsubmission_file/ada_1_2_x.ipynb", "ada_12_x.ipynb",
                                  "_12_assignsubmission_file/x.ipynb", "Ada_x_assignsubmission_file_x.ipynb"])
def test_other_names_are_nobodys(path):
    assert sender_of(path) is None


@pytest.mark.parametrize("file, order", [("a (3).ipynb", 3), ("a-4.ipynb", 4), ("a-1000.ipynb", 0), ("a3.ipynb", 0),
                                         ("a (3).x.ipynb", 0), ("a(12).py", 12)])
def test_a_later_copy_has_a_number(file, order):
    assert sender_of(f"Ada_1_assignsubmission_file_{file}").order == order


@pytest.mark.parametrize("name, anonymous", [("Participant", True), ("Group A-Participant", True), ("Ada", False),
                                             ("Participant-Ada", False), ("participant", False)])
def test_a_name_may_be_hidden(name, anonymous):
    assert is_anonymous(name) is anonymous


@pytest.mark.parametrize("name, folder", [
    ("Ada Lovelace", "ada-lovelace"), ("Élodie  D'Été_2", "elodie-d-ete-2"), ("李 明", "李-明"), ("../..", ""),
    ("김민준", "김민준"), ("ダイ", "ダイ"), ("Йод", "йод"), ("مُحَمَّد", "محمد"), ("Ễ İ", "e-i"),
    ("Ⅷ", "viii"), ("a" * 70, "a" * 60)])
def test_a_folder_is_made_of_letters_and_digits(name, folder):
    assert slug(name) == folder
