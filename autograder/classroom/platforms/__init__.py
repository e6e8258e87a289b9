"""Platforms: Moodle and Canvas, which exchange files; Gradescope and GitHub, where the judge itself runs."""
