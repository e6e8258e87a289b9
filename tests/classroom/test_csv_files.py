"""CSV files as spreadsheets save them: their separators, their marks, and what is wrong in them by line."""

import pytest

from autograder import escaping
from autograder.classroom import csv_files
from autograder.classroom.json_files import FileError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.csv"


def test_no_cell_is_a_formula_and_what_was_written_is_read(path):
    rows = [["student", "comment"], ["ada", "=1+1"], ["bob", 'a "b"\nc']]
    csv_files.write(path, rows)
    assert path.read_bytes().startswith(b"student,comment\r\nada,'=1+1\r\n")
    csv_files.write(path, rows, escaping.csv_cell)
    assert csv_files.records(path) == [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_that_of_the_header(path, separator):
    header, others = separator.join(["a", "b", "c"]), 4 * ",;\t".replace(separator, "")
    path.write_bytes(b"\xef\xbb\xbf" + f'{header}\n1{separator}"{others}"{separator}3\n\n4\n'.encode())
    assert csv_files.read(path) == (["a", "b", "c"], [(2, ["1", others, "3"]), (4, ["4"])])


@pytest.mark.parametrize("text", ["", "\n", " \n"])
def test_an_empty_file_has_no_rows(path, text):
    path.write_text(text)
    assert csv_files.read(path)[1] == csv_files.records(path) == []


def test_lines_may_end_as_anywhere(path):
    for end in (b"\n", b"\r\n", b"\r"):
        path.write_bytes(end.join([b"a,b", b"1,2", b""]))
        assert csv_files.records(path) == [{"a": "1", "b": "2"}]


def test_no_file_has_no_records(path):
    assert csv_files.records(path) == []


@pytest.mark.parametrize("rows, said", [
    ("1,2\n3\n", "line 3: 1 cells, where the header has 2: correct it"), ("1,2,3\n", "line 2: 3 cells, where the"),
    ("1,2,\n ,\n3,4, \n", None)])
def test_a_row_that_does_not_fit_the_header_is_named(path, rows, said):
    path.write_text(f"a,b\n{rows}")
    if said:
        with pytest.raises(FileError, match=said):
            csv_files.records(path)
    else:
        assert csv_files.records(path) == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


@pytest.mark.parametrize("data, said", [
    (b"a\n\xe9\n", "is no UTF-8 text: save it as CSV, UTF-8"), (b"a\nb\n" + b"x" * 200_000, ", line 3: field larger")])
def test_a_file_that_is_no_csv_is_named(path, data, said):
    path.write_bytes(data)
    with pytest.raises(FileError, match=f"some.csv.*{said}"):
        csv_files.read(path)
