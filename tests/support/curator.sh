# SPDX-License-Identifier: Apache-2.0
# curator.sh - read by the scripts that serve a release: waits for `tacet curator serve --ready-file "$work/ready"`. The script
# has $work and fail.
# shellcheck shell=bash disable=SC2034,SC2154
await() { # sets url, once the service answers
    local i
    for ((i = 0; i < 600; i++)); do
        [ -s "$work/ready" ] && { url=$(cat "$work/ready"); return; }
        sleep 0.05
    done
    fail "the curator does not come up"
}
