"""Moodle and Canvas, both ways: what students handed in there comes here, grades and feedback go back."""
