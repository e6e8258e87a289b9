"""Find the place of a mistake in an answer that fails its checks, by running it: no list of faults is needed.

`search.with_places` does so in two ways, one after the other:

1. With values. `rewriting` has each expression of the answer report its value, and `observation` keeps the values while
   a check is replayed. `right_values` holds those that right answers have in the same check. `value_search` goes
   through the checks that fail: in each, `check_search` has `replacing` put right values in the place of wrong ones and
   replays the check; `replacements` says which, and in which order. The place is the first expression where a right
   value makes the check pass.
2. With edits. `edits` changes one place of the answer at a time, with the help of `alternatives` (what is easily
   mistaken for what). `repair` runs all checks on each edited answer, in a copy of the process (`fork`). The place is
   the statement where an edit makes all checks pass.

Both end at a `deadline`.

A place itself is a `runtime.place.Place`.
"""
