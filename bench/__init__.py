"""What the course's own code costs: `python -m bench` measures it and writes docs/benchmarks.md."""
