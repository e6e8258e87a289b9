#!/bin/sh
# Set up what a target needs.
#   sh setup.sh --all VENV           an environment with everything: course, grading, tests; the locked versions
#   sh setup.sh --student VENV       an environment with what the notebooks need: the runtime, and nothing of grading
#   sh setup.sh --gpu VENV           an environment that adds what grading needs to what PYTHON has: its torch
#   sh setup.sh --site VENV          an environment with what makes the site
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
    if command -v apt-get >/dev/null 2>&1; then
        [ "$(id -u)" = 0 ] && debian env $missing && return 0
        sudo -n true 2>/dev/null && debian "sudo env" $missing && return 0
    fi
    echo "Please install first:  sudo apt-get install$missing" >&2
    exit 2
}

# debian RUN PACKAGE …: install Debian's packages, RUN standing before each command
debian() {
    run=$1
    shift
    $run apt-get update -qq >/dev/null &&
        $run DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

environment() {
    venv=$1
    "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "Python 3.11 or newer is needed; say which with PYTHON=python3.11" >&2
        exit 2
    }
    [ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv ${2:-} "$venv" || {
        echo "Please install first:  sudo apt-get install python3-venv" >&2
        exit 2
    }
    echo "Setting up $venv."
}

install() {
    venv=$1
    shift
    "$venv/bin/python" autograder/publish/kit_files/install.py "$@"
}

# What the notebooks need stands in course.toml, what they import in course/.
course() {
    "$1/bin/python" -m autograder.metadata . > "$1/needs.txt"
    "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' |
        { read -r packages && pwd | sed 's:$:/course:' > "$packages/course.pth"; }
}

cd "$(dirname "$0")"
case "${1:-} ${2:-}" in
    "--all "?*)
        environment "$2"
        course "$2"
        install "$2" -r requirements.lock -r "$2/needs.txt" --editable . ;;
    "--student "?*)
        environment "$2"
        course "$2"
        install "$2" -c requirements.lock -r "$2/needs.txt" --editable . ;;
    "--gpu "?*)
        environment "$2" --system-site-packages
        course "$2"
        install "$2" -r "$2/needs.txt" --editable ".[grading]" ;;
    "--site "?*)
        environment "$2"
        install "$2" -r site/requirements.txt ;;
    "--programs "?*) shift; programs "$@" ;;
    *) echo "usage: sh setup.sh --all VENV | --student VENV | --gpu VENV | --site VENV | --programs NAME …" >&2; exit 2 ;;
esac
