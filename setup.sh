#!/bin/sh
# Set up what a target needs.
#   sh setup.sh VENV                 a virtual environment with the locked versions
#   sh setup.sh --programs bwrap …   programs from Debian's packages: installed when we may, asked for when not
set -eu

programs() {
    missing=""
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 && continue
        case $program in
            bwrap) missing="$missing bubblewrap" ;;
            *) missing="$missing $program" ;;
        esac
    done
    [ -z "$missing" ] && return 0
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
        apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null && return 0
    elif command -v apt-get >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo apt-get update -qq >/dev/null && sudo DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null && return 0
    fi
    echo "Please install first:  sudo apt-get install$missing" >&2
    exit 2
}

environment() {
    venv=$1
    "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "Python 3.11 or newer is needed; say which with PYTHON=python3.11" >&2
        exit 2
    }
    [ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv" || {
        echo "Please install first:  sudo apt-get install python3-venv" >&2
        exit 2
    }
    echo "Setting up $venv: a few minutes, once."
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r requirements.lock
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --editable .
}

cd "$(dirname "$0")"
case ${1:-} in
    --programs) shift; programs "$@" ;;
    "") echo "usage: sh setup.sh VENV | --programs NAME …" >&2; exit 2 ;;
    *) environment "$1" ;;
esac
