#!/bin/bash
# Gradescope runs this once, as root, when the zip is uploaded: Python, bubblewrap, and what the engine needs.
set -e
root=${AUTOGRADER_ROOT:-/autograder}
for version in 3.13 3.12 3.11; do
    DEBIAN_FRONTEND=noninteractive apt-get install -y "python$version" "python$version-venv" bubblewrap && break
done
"python$version" -m venv "$root/venv"
"$root/venv/bin/pip" install --quiet --extra-index-url https://download.pytorch.org/whl/cpu \
    -r "$root/source/requirements.txt"
