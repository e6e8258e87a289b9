"""The sandbox that students' code runs in."""
