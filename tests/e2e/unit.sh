#!/bin/sh
# unit.sh - the systemd units: systemd accepts them where it is installed, and they keep the hardening that
# docs/deployment.md promises. The command line they start is one the program understands.
set -eu
cd "${TACET_SOURCE:?}/packaging"
fail() {
    echo "unit.sh: $1" >&2
    exit 1
}
for unit in tacet-server tacet-collector; do
    file=$unit.service
    for line in DynamicUser=yes NoNewPrivileges=yes ProtectSystem=strict ProtectHome=yes PrivateTmp=yes PrivateDevices=yes \
        'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX' MemoryDenyWriteExecute=yes CapabilityBoundingSet= LimitCORE=0 \
        UMask=0077 StateDirectoryMode=0700; do
        grep -qxF "$line" "$file" || fail "$file lacks $line"
    done
    # Every option of ExecStart is one of the command's.
    for option in $(sed -n 's/^ExecStart=//p' "$file" | tr ' ' '\n' | grep '^--'); do
        "${TACET_BIN:?}/$unit" "${unit#tacet-}" --help | grep -q -- "$option " || fail "$file: $unit has no $option"
    done
done
if ! command -v systemd-analyze >/dev/null; then
    echo "systemd-analyze is not installed: the units were read, not verified"
    exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for unit in tacet-server tacet-collector; do
    # The binaries are not installed here: what is verified is everything else.
    sed "s,/usr/bin/$unit,$TACET_BIN/$unit," "$unit.service" >"$tmp/$unit.service"
    systemd-analyze verify --man=no "$tmp/$unit.service" 2>"$tmp/said" || { cat "$tmp/said"; fail "$unit.service is refused"; }
    if grep -i "$unit.service" "$tmp/said"; then fail "$unit.service is not clean"; fi
done
echo "2 units verified"
