"""A whole class: graded, kept, shown, exported; and nbgrader with our judge plugged in."""
