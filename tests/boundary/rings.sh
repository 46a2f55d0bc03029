#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rings.sh - the include edges of every file obey the rings, which are read from the path: an open file that includes the
# gate does not pass. A program includes public headers only, and of those what cli/CMakeLists.txt links it to; symbols.sh
# checks the result.
set -eu
root=${TACET_SOURCE:-$(dirname "$0")/../..}

# violations ROOT: one line for each include that crosses a ring the wrong way; silent when there is none.
violations() {
    (
        cd "$1"
        find src include cli lab -name '*.[ch]' 2>/dev/null | sort | while read -r file; do
            sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\([<"][^>"]*\)[>"].*/\1/p' "$file" |
                while read -r included; do echo "$file $included"; done
        done
        [ ! -f cli/CMakeLists.txt ] || sed -n 's/^tacet_program(\([^)]*\)).*/PROGRAM \1/p' cli/CMakeLists.txt
    ) | awk '
        # ring PATH: the ring of a path below src/ or include/tacet/; empty for none.
        function ring(path,    p, n) {
            n = split(path, p, "/")
            if (p[1] == "core" || p[1] == "gp" || p[1] == "space") return "core"
            if (p[1] == "io") return p[2] == "http" ? "http" : p[2] == "postgres" ? p[2] : "io"
            if (p[1] == "dp") return p[2] == "open" ? "shared" : "gate"
            if (p[1] == "report") return "open"
            if (p[1] == "pages") return "pages"
            if (p[1] == "registry" || p[1] == "tally") return "trusted"
            if (p[1] == "audit") return "audit"
            if (p[1] == "service") return p[2] == "open" ? "service" : p[2] == "trusted" ? "served" : ""
            if (index(methods, " " p[1] " ")) return p[2] == "shared" || p[2] == "open" || p[2] == "trusted" ? p[2] : ""
            return ""
        }
        # floor PATH: in src/service/open, each may include itself and those below; 0: elsewhere.
        function floor(path,    p) {
            split(path, p, "/")
            return p[1] != "service" || p[2] != "open" ? 0 : index("study store engine wire", p[3])
        }
        BEGIN {
            methods = " outsourced central contextual local tune ab "
            gather["open.h"] = "open"; gather["trusted.h"] = "audit"; gather["device.h"] = "trusted"
            may["core"] = " core "
            may["io"] = " core io "
            may["postgres"] = " core io postgres "
            may["http"] = " core http "
            may["pages"] = " core http pages "
            may["shared"] = " core io shared "
            may["gate"] = " core io shared gate "
            may["open"] = " core io http shared open "
            may["service"] = " core io http pages shared open service "
            may["trusted"] = " core io http pages shared gate open trusted "
            may["served"] = " core io http pages shared gate open trusted service served "
            may["audit"] = " core io http pages shared gate open trusted service served audit "
            may["cli"] = " core io "
            may["serving"] = may["service"] # what the programs that serve studies share
            may["keys"] = may["service"]    # and those that make keys
            split("unistd.h fcntl.h sqlite3.h libpq-fe.h microhttpd.h sys/socket.h curl/curl.h gnutls/gnutls.h", io, " ")
        }
        $1 == "PROGRAM" {
            allowed = " core "
            for (i = 3; i <= NF; i++) {
                word = $i
                sub(/^tacet_/, "", word)
                allowed = allowed may[word]
                if (word == "serving" || word == "keys") allowed = allowed " cli:" word " "
            }
            may["cli " $2] = allowed
            next
        }
        { file[++n] = $1; what[n] = $2 }
        END {
            for (k = 1; k <= n; k++) {
                count = split(file[k], part, "/")
                if (part[1] == "lab") continue # runs everything, is installed with nothing
                path = file[k]
                cli = part[1] == "cli"
                if (part[1] == "src") { sub(/^src\//, "", path); own = ring(path) }
                else if (part[1] == "include") {
                    sub(/^include\/tacet\//, "", path)
                    own = path in gather ? gather[path] : ring(path)
                } else if (part[2] == "common") own = "cli"
                else if (part[2] == "serving" || part[2] == "keys") own = part[2]
                else own = "cli " part[2]
                target = substr(what[k], 2)
                system_header = substr(what[k], 1, 1) == "<"
                if (system_header && target ~ /^tacet\//) { sub(/^tacet\//, "", target); system_header = 0 }
                if (!(own in may)) { print file[k] ": not in any ring"; continue }
                if (system_header) {
                    for (i in io) if (own == "core" && target == io[i])
                        print file[k] ": ring core does no input or output, but includes " target
                    continue
                }
                if (target !~ /\//) continue
                to = ring(target)
                if (cli && substr(what[k], 1, 1) == "\"") {
                    first = target
                    sub(/\/.*/, "", first)
                    if (first == "common" || first == part[2]) continue
                    if ((first == "serving" || first == "keys") && index(may[own], " cli:" first " ")) continue
                    print file[k] ": a program includes public headers only, but this one " target
                    continue
                }
                if (to == "") print file[k] ": includes " target ", which is in no ring it may see"
                else if (!index(may[own], " " to " ")) print file[k] ": ring " own " may not include " to " (" target ")"
                else if (floor(target) > floor(path) && floor(path) > 0) print file[k] ": a floor of the service includes one above it: " target
            }
        }'
}

# The check itself: every forbidden edge must be caught, and the allowed ones must not.
self_test() {
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    mkdir -p "$tmp/include/tacet/gp" "$tmp/include/tacet/local/open" "$tmp/cli/modeler" "$tmp/cli/common" "$tmp/lab"
    printf 'tacet_program(modeler tacet_open tacet_http)   # open\n' >"$tmp/cli/CMakeLists.txt"
    expect() { # COUNT FILE LINE
        mkdir -p "$(dirname "$tmp/$2")"
        printf '%s\n' "$3" >"$tmp/$2"
        found=$(violations "$tmp" | wc -l)
        [ "$found" -eq "$1" ] || { echo "self-test: '$3' in $2 gave $found violations, expected $1"; exit 1; }
        rm "$tmp/$2"
    }
    for pair in core:io/db io/db:io/postgres gp:dp gp:local/shared core:local/open io/db:dp io/csv:dp/open io/http:io/db io/http:dp \
        dp:local/open dp/noise:central/trusted dp/open:dp dp/open:dp/noise dp/open:local/open local/shared:dp local/shared:local/open \
        local/open:dp local/open:local/trusted local/open:dp/ledger report:dp local/open:audit local/open:service/open \
        io/http:service/open io/http:pages pages:io/db pages:dp pages:local/open local/open:pages dp:service/open service/open:dp service/open:local/trusted service/open:service/trusted \
        service/open:audit local/trusted:audit local/trusted:service/open service/open/store:service/open/engine service/open/engine:service/open/wire; do
        expect 1 "src/${pair%:*}/x.c" "#include \"${pair#*:}/y.h\""
        expect 1 "src/${pair%:*}/x.h" "  # include  <tacet/${pair#*:}/y.h> /* why */"
    done
    for pair in core:gp gp:core io/db:core io/csv:io/db dp:dp/open dp/ledger:io/db local/open:local/shared \
        local/open:dp/open local/open:gp outsourced/open:io/http io/http:core local/trusted:dp local/trusted:local/open \
        audit:local/trusted service/open:io/db service/open:pages local/trusted:pages pages:io/http service/open:local/open service/trusted:dp service/trusted:service/open service/open/engine:service/open/store service/open/wire:service/open/engine; do
        expect 0 "src/${pair%:*}/x.c" "#include \"${pair#*:}/y.h\""
    done
    expect 1 src/orphan/x.c '#include "core/y.h"'
    expect 1 src/local/x.c '#include "core/y.h"'
    expect 1 include/tacet/gp/x.h '#include <tacet/dp/noise.h>'
    expect 0 include/tacet/gp/x.h '#include <tacet/core/status.h>'
    expect 1 include/tacet/local/open/x.h '#include <tacet/dp/noise.h>'
    expect 1 include/tacet/open.h '#include <tacet/local/trusted/device.h>'
    expect 0 include/tacet/trusted.h '#include <tacet/local/trusted/device.h>'
    expect 1 src/gp/x.c '#include <sqlite3.h>'
    expect 0 src/io/db/x.c '#include <sqlite3.h>'
    expect 1 cli/modeler/x.c '#include <tacet/dp/noise.h>'
    expect 1 cli/modeler/x.c '#include "local/trusted/vault.h"'
    expect 1 cli/modeler/x.c '#include "curator/commands.h"'
    expect 0 cli/modeler/x.c '#include "modeler/commands.h"'
    expect 0 cli/modeler/x.c '#include <tacet/outsourced/open/modeler.h>'
    expect 1 cli/modeler/x.c '#include "serving/serving.h"'
    expect 1 cli/modeler/x.c '#include "keys/keys.h"'
    expect 1 cli/common/x.c '#include "dp/noise/sampler.h"'
    expect 1 cli/common/x.c '#include "core/fail.h"'
    expect 1 cli/modeler/x.c '#include "outsourced/open/modeler.h"'
    expect 1 cli/modeler/x.h '  #  include "../../src/core/memory.h"'
    expect 0 cli/common/x.c '#include <tacet/core/status.h>'
    expect 0 cli/common/x.c '#include <tacet/io/file.h>'
    expect 1 cli/common/x.c '#include <tacet/outsourced/shared/manifest.h>'
    expect 1 src/local/open/x.c '#include "../../dp/noise/sampler.h"'
    expect 0 lab/x.c '#include "dp/noise/sampler.h"'
}

self_test
found=$(violations "$root")
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
echo "include edges obey the rings"
