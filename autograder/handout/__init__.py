"""What students are given: the kit, the student wheel, and notebooks that stand alone."""
