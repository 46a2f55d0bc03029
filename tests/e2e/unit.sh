#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# unit.sh - the systemd units: systemd accepts them where it is installed, and they keep the hardening that
# docs/deployment.md promises. The command line they start is one the program understands.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$TACET_SOURCE/packaging"
for unit in tacet-server tacet-collector; do
    file=$unit.service
    for line in DynamicUser=yes NoNewPrivileges=yes ProtectSystem=strict ProtectHome=yes PrivateTmp=yes PrivateDevices=yes \
        'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX' MemoryDenyWriteExecute=yes CapabilityBoundingSet= LimitCORE=0 \
        UMask=0077 StateDirectoryMode=0700; do
        grep -qxF "$line" "$file" || fail "$file lacks $line"
    done
    # A trusted program locks its memory where there is no limit (e2e.guarded); the open one has none to lock.
    if "${TACET_BIN:?}/$unit" --help | grep -q '^Ring: trusted'; then
        grep -qxF LimitMEMLOCK=infinity "$file" || fail "$file lacks LimitMEMLOCK=infinity"
    elif [ "$unit" != tacet-collector ]; then
        fail "$unit does not say that it is trusted"
    fi
    # Every option of ExecStart is one of the command's.
    for option in $(sed -n 's/^ExecStart=//p' "$file" | tr ' ' '\n' | grep '^--'); do
        "${TACET_BIN:?}/$unit" "${unit#tacet-}" --help-all | grep -q -- "$option " || fail "$file: $unit has no $option"
    done
done
# What docs/deployment.md says of paths and addresses is what the units have; installed, they start the installed programs.
guide=$TACET_SOURCE/docs/deployment.md
for unit in tacet-server tacet-collector; do
    file=$unit.service
    state=$(sed -n 's/^StateDirectory=//p' "$file")
    for word in "/var/lib/$state/studies" "$(sed -n 's/^Environment=.*TACET_LISTEN=//p' "$file")" \
        "$(sed -n 's/^EnvironmentFile=-//p' "$file")" $(sed -n 's/^LoadCredential=[^:]*://p' "$file") "StateDirectory=$state" "User=$unit"; do
        grep -qF "${word:-nothing to look for}" "$guide" || fail "docs/deployment.md does not say '$word'"
        case $word in
        StateDirectory=* | User=*) ;;
        *) grep -qF "$word" "$file" || fail "$file does not have $word" ;;
        esac
    done
    prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "${TACET_BUILD:?}/CMakeCache.txt")
    grep -q "^ExecStart=$prefix/bin/$unit " "$TACET_BUILD/$file" || fail "the installed $file does not start $prefix/bin/$unit"
done
if ! command -v systemd-analyze >/dev/null; then
    echo "systemd-analyze is not installed: the units were read, not verified"
    exit 77
fi
for unit in tacet-server tacet-collector; do
    # The binaries are not installed here: what is verified is everything else.
    sed "s,/usr/bin/$unit,$TACET_BIN/$unit," "$unit.service" >"$work/$unit.service"
    systemd-analyze verify --man=no "$work/$unit.service" 2>"$work/said" || { cat "$work/said"; fail "$unit.service is refused"; }
    if grep -i "$unit.service" "$work/said"; then fail "$unit.service is not clean"; fi
done
echo "2 units verified"
