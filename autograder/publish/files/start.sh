#!/bin/sh
# Open the course. The first time this sets up what it needs, in the folder .venv: a few minutes.
set -eu
cd "$(dirname "$0")"

if [ ! -x .venv/bin/python ]; then
    "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "Python 3.11 or newer is needed. Say which with:  PYTHON=python3.11 sh start.sh" >&2
        exit 2
    }
    "${PYTHON:-python3}" -m venv .venv || {
        echo "On Debian and Ubuntu, please install first:  sudo apt-get install python3-venv" >&2
        exit 2
    }
fi

if ! cmp -s requirements.txt .venv/installed.txt; then
    echo "Setting up the course: a few minutes, once."
    # On Linux, torch comes with gigabytes for NVIDIA's GPUs. Without such a GPU, take the build for the CPU.
    index=""
    if [ "$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null 2>&1; then
        index="--extra-index-url https://download.pytorch.org/whl/cpu"
    fi
    .venv/bin/python -m pip install --quiet --disable-pip-version-check $index -r requirements.txt
    cp requirements.txt .venv/installed.txt
fi

exec .venv/bin/python start.py "$@"
