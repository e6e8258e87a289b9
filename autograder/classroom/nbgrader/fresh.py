"""formgrader shows what the gradebook holds now.

Its server keeps one session for as long as it runs, and of what that has read once it never asks again: points that
come from elsewhere meanwhile (`autograder questions --enter`, `autograder grade`) would not show.
"""

import sys

from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session


def in_a_server() -> None:
    """Let every query of a notebook server take what stands in the database, also of what was read before."""
    if "jupyter_server.serverapp" in sys.modules and not event.contains(Session, "do_orm_execute", _anew):
        event.listen(Session, "do_orm_execute", _anew)


def _anew(state: ORMExecuteState) -> None:
    if state.is_select:
        state.update_execution_options(populate_existing=True)
