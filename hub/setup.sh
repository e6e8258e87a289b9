#!/bin/sh
# Set up what a JupyterHub of this course runs, in a folder that every account may read:
#   sh hub/setup.sh FOLDER
# The hub, its proxy, JupyterLab, nbgrader, what the notebooks import and the judge, in the versions of the lock.
set -eu
[ $# = 1 ] || { echo "usage: sh hub/setup.sh FOLDER" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "A hub starts servers of other accounts: set it up as root" >&2; exit 2; }
umask 022
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
sh setup.sh --programs npm bwrap

made=""
[ -x "$folder/bin/python" ] || { "${PYTHON:-python3}" -m venv "$folder"; made="$folder/bin"; }
(cd / && runuser -u nobody -- "$folder/bin/python" -c "") 2>/dev/null || {
    echo "Other accounts cannot run $folder/bin/python: take a folder and a Python (PYTHON=/usr/bin/python3) that" \
         "everybody may read" >&2
    [ -z "$made" ] || rm -f "$made"/python*  # else the next call keeps this Python
    exit 2
}
pip() {
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}
"$folder/bin/python" -m autograder.metadata . > "$folder/needs.txt"
"$folder/bin/python" autograder/publish/kit_files/install.py -c requirements.lock -r "$folder/needs.txt" ".[grading]" \
    "jupyterhub>=6.1,<7"
pip --no-deps --force-reinstall .  # the engine of this clone, also where one of the same version is there already
rm -rf build  # left by setuptools
# What the notebooks import lies in course/: a copy, since nobody else reads the instructor's clone.
"$folder/bin/autograder" pack kit --out "$folder/kit"  # stops where a notebook was filled in
rm -rf "$folder/course"
cp -R course "$folder/course"
echo "$folder/course" > "$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/course.pth"
# ngshare_exchange asks for a jupyter-core older than the one JupyterLab needs, and works with that.
pip -c requirements.lock --no-deps ngshare_exchange==0.5.3
pip -c requirements.lock "rapidfuzz>=3" requests
# Under SQLAlchemy 2 ngshare says that a TP is released, and keeps nothing of it: it has an environment of its own.
[ -x "$folder/ngshare/bin/python" ] || "$folder/bin/python" -m venv "$folder/ngshare"
"$folder/ngshare/bin/python" -m pip install --quiet --disable-pip-version-check \
    ngshare==0.6.0 "sqlalchemy>=1.4,<2" "jupyterhub>=6.1,<7"
npm install --silent --no-fund --no-audit --prefix "$folder" "configurable-http-proxy@^5"

rm -rf "$folder/hub"
cp -R hub "$folder/hub"
echo "$folder/bin/jupyterhub is there. Go on with docs/hub.md."
