#!/bin/sh
# demo.sh - the main job, end to end.
set -eu
cd "$(dirname "$0")/.."
build/bin/tacet --help
