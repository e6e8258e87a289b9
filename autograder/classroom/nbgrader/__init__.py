"""Our part of nbgrader's pipeline: plain `nbgrader autograde` and formgrader grade with the judge."""
