#!/bin/sh
# Open the course. The first time this sets up what it needs, in the folder .venv: a minute or two.
set -eu
cd "$(dirname "$0")"

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "Python 3.11 or newer is needed. Say which with:  PYTHON=python3.11 sh start.sh" >&2
        exit 2
    }
    "${PYTHON:-python3}" -m venv --clear .venv || {
        echo "On Debian and Ubuntu, please install first:  sudo apt-get install python3-venv" >&2
        exit 2
    }
fi

if ! cmp -s requirements.txt .venv/installed.txt; then
    .venv/bin/python install.py -r requirements.txt -c constraints.txt
    cp requirements.txt .venv/installed.txt
fi

exec .venv/bin/python start.py "$@"
