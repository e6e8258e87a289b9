"""Whether the judge is right: known faults, right variants, mutants, relations, names."""
