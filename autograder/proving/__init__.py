"""What shows that the judge is right."""
