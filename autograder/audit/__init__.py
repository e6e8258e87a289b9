"""Audit the checks: known faults, right variants, mutants, relations, names."""
