#!/bin/sh
# rings.sh - the include edges of every file obey the rings: an open file that includes the gate does not pass.
# What a program may include is what cli/CMakeLists.txt links it to, which symbols.sh checks on the result.
set -eu
root=${TACET_SOURCE:-$(dirname "$0")/../..}

# violations ROOT: one line for each include that crosses a ring the wrong way; silent when there is none.
violations() {
    (
        cd "$1"
        find src include cli -name '*.[ch]' | sort | while read -r file; do
            sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\([<"][^>"]*\)[>"].*/\1/p' "$file" |
                while read -r included; do echo "$file $included"; done
        done
        [ ! -f cli/CMakeLists.txt ] || sed -n 's/^tacet_program(\([^)]*\)).*/PROGRAM \1/p' cli/CMakeLists.txt
    ) | awk '
        BEGIN {
            rings = " base db gate open net service trusted audit "
            may["base"] = " base "
            may["db"] = " base db "
            may["gate"] = " base db gate "
            may["open"] = " base db open "
            may["net"] = " base net "
            may["service"] = " base db open net service "
            may["trusted"] = " base db gate open trusted "
            may["audit"] = rings
            may["common"] = " base "
            may["serving"] = may["service"] " serving " # what the programs that serve studies share
            may["keys"] = may["trusted"] " net keys " # and those that make keys
            split("unistd.h fcntl.h sqlite3.h libpq-fe.h microhttpd.h sys/socket.h curl/curl.h gnutls/gnutls.h", io, " ")
        }
        $1 == "PROGRAM" {
            allowed = " base "
            for (i = 3; i <= NF; i++) { ring = $i; sub(/^tacet_/, "", ring); allowed = allowed may[ring] }
            may["cli " $2] = allowed
            next
        }
        { file[++n] = $1; what[n] = $2 }
        END {
            for (k = 1; k <= n; k++) {
                split(file[k], part, "/")
                ring = part[2]
                if (part[1] == "include") ring = part[3]
                if (part[1] == "cli" && ring != "common" && ring != "serving" && ring != "keys") ring = "cli " ring
                target = substr(what[k], 2)
                system_header = substr(what[k], 1, 1) == "<"
                if (system_header && target ~ /^tacet\//) { sub(/^tacet\//, "", target); system_header = 0 }
                if (system_header) {
                    for (i in io) if (part[1] != "cli" && ring == "base" && target == io[i])
                        print file[k] ": ring base does no input or output, but includes " target
                    continue
                }
                if (target !~ /\//) continue
                to = target
                sub(/\/.*/, "", to)
                if (!(ring in may)) { print file[k] ": not in any ring"; continue }
                if (index(rings, " " to " ")) {
                    if (!index(may[ring], " " to " ")) print file[k] ": ring " ring " may not include " to " (" target ")"
                } else if (part[1] != "cli" || (to != "common" && to != part[2] && !((to == "serving" || to == "keys") && index(may[ring], " " to " ")))) {
                    print file[k] ": includes " target ", which is in no ring it may see"
                }
            }
        }'
}

# The check itself: every forbidden edge must be caught, and the allowed ones must not.
self_test() {
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    mkdir -p "$tmp/src" "$tmp/include/tacet/base" "$tmp/cli/modeler" "$tmp/cli/common"
    for ring in base db gate open net service trusted audit; do mkdir -p "$tmp/src/$ring"; done
    printf 'tacet_program(modeler tacet_open tacet_net)   # open\n' >"$tmp/cli/CMakeLists.txt"
    expect() { # COUNT FILE LINE
        printf '%s\n' "$3" >"$tmp/$2"
        found=$(violations "$tmp" | wc -l)
        [ "$found" -eq "$1" ] || { echo "self-test: '$3' in $2 gave $found violations, expected $1"; exit 1; }
        rm "$tmp/$2"
    }
    for pair in base:db base:gate base:open base:trusted db:gate db:open gate:open gate:trusted open:gate open:trusted \
        open:audit open:net open:service net:open net:gate net:service gate:service service:gate service:trusted service:audit \
        trusted:net trusted:audit trusted:service; do
        expect 1 "src/${pair%:*}/x.c" "#include \"${pair#*:}/y.h\""
        expect 1 "src/${pair%:*}/x.h" "  # include  <tacet/${pair#*:}/y.h> /* why */"
    done
    for pair in base:base db:base gate:db open:db open:base net:base trusted:gate trusted:open audit:trusted \
        service:base service:db service:open service:net; do
        expect 0 "src/${pair%:*}/x.c" "#include \"${pair#*:}/y.h\""
    done
    expect 1 include/tacet/base/x.h '#include <tacet/gate/noise.h>'
    expect 0 include/tacet/base/x.h '#include <tacet/base/status.h>'
    expect 1 src/base/x.c '#include <sqlite3.h>'
    expect 0 src/db/x.c '#include <sqlite3.h>'
    expect 1 cli/modeler/x.c '#include <tacet/gate/noise.h>'
    expect 1 cli/modeler/x.c '#include "trusted/vault.h"'
    expect 1 cli/modeler/x.c '#include "curator/commands.h"'
    expect 0 cli/modeler/x.c '#include "modeler/commands.h"'
    expect 0 cli/modeler/x.c '#include "open/modeler.h"'
    expect 1 cli/modeler/x.c '#include "serving/serving.h"'
    expect 1 cli/modeler/x.c '#include "keys/keys.h"'
    expect 1 cli/common/x.c '#include "gate/sampler.h"'
    expect 1 src/open/x.c '#include "../gate/sampler.h"'
}

self_test
found=$(violations "$root")
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
echo "include edges obey the rings"
