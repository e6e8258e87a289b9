"""Find the sender of a file by its name in the archive that Moodle or Canvas writes.

Moodle (mod/assign/classes/downloader.php, `get_student_prefix`): ``Full Name_ID_assignsubmission_file/…``, in older
versions and on request ``Full Name_ID_assignsubmission_file_name``. The ID is the participant's in this assignment; it
is all that is looked at on the way back (mod/assign/feedback/file/importziplib.php, `is_valid_filename_for_import`).

Canvas (lib/content_zipper.rb, `get_filename`): ``lastnamefirstname[_LATE]_USER_ATTACHMENT_name``, without a name and
with ``anon_XXXXX`` in the place of the user where marking is anonymous. On the way back the first two numbers are
looked at (app/models/abstract_assignment.rb, `infer_comment_context_from_filename`).
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Platform = Literal["moodle", "canvas"]
Person = tuple[Platform, str, str]  # platform, name and number

_MOODLE = re.compile(r"(?P<name>[^_/]+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_|$)(?P<file>[^/]*)$")
_CANVAS = re.compile(r"(?:(?P<name>\w*?)_)??(?P<late>LATE_)?(?P<id>\d+|anon_[^\W_]+)_(?P<attachment>\d+)_(?P<file>.+)$")


@dataclass(frozen=True)
class Sender:
    """The sender of a file. ``return_name`` is that of the file or folder that goes back to this student."""

    platform: Platform
    name: str
    id: str
    return_name: str
    file: str  # as the student called it
    order: int  # the larger, the later
    late: bool = False
    ambiguous: bool = False  # whether the name can be read as that of another student, too

    @property
    def person(self) -> Person:
        """The platform, the name and the number."""
        return self.platform, self.name, self.id


def sender_of(path: str) -> Sender | None:
    """Return the sender of the file of this name; None when neither platform writes such names.

    The outermost part that a platform wrote decides: what is within it, the student has named.
    """
    parts = path.replace("\\", "/").split("/")
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if match := _MOODLE.match(part):
            return_name = part[: len(part) - len(match["file"])].rstrip("_") if last else part
            file = match["file"] if last else parts[-1]
            return Sender("moodle", " ".join(match["name"].split()), match["id"], return_name, file, _copy(file))
        if match := _CANVAS.match(part):
            if not last:
                return None
            return Sender("canvas", match["name"] or match["id"], match["id"], part, match["file"],
                          int(match["attachment"]), bool(match["late"]), bool(_CANVAS.match(f"x_{match['file']}")))
        if "_assignsubmission_" in part:
            return None
    return None


def _copy(file: str) -> int:
    """Return the number of a copy saved beside an earlier one: ``tp1 (2).ipynb``, ``tp1-2.ipynb``."""
    match = re.search(r"(?:\((\d{1,3})\)|-(\d{1,3}))\.\w+$", file)
    return int(match[1] or match[2]) if match else 0


def is_anonymous(name: str) -> bool:
    """Return whether Moodle, in English, writes this in the place of all names; a group's name may stand before it."""
    return name.rpartition("-")[2] == "Participant"


def slug(name: str) -> str:
    """Return a name as a folder: letters and digits of any script in lower case, hyphens between them."""
    plain = "".join(map(_without_marks, unicodedata.normalize("NFKC", name)))
    return re.sub(r"[\W_]+", "-", plain.lower()).strip("-")[:60]


def _without_marks(character: str) -> str:
    """Return a Latin letter without its marks, and nothing for a mark alone; others, such as 김 and ダ, as they are."""
    first = unicodedata.normalize("NFKD", character)[0]
    return first if first.isascii() else "" if unicodedata.combining(character) else character
