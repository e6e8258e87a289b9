# Breaks the package that every notebook imports.
# changes: helpers
# restriction: helpers
import tp

open(tp.__file__, "a").write("raise SystemExit")
