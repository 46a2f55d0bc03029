#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# wire_waiting.sh - many more questions waiting for a slow evaluator than the curator has threads. Whatever else is asked is
# answered before any of them; a kill -9 in the midst of it, and a stop, lose nothing and charge nothing twice; in the end each has its
# value. Nothing here depends on how long something takes: the evaluator ends when a file appears.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need curl
trap ': >"$work/gate"; [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true; wait; end' EXIT
asks=16 # threads: 4
all=$((2 * asks))
curator=$TACET_BIN/tacet-curator
{
    echo a,y
    for i in $(seq 0 $((all + 3))); do echo "$i,$i.25"; done
} >"$work/data.csv"
"$curator" curate --values-unprotected --data "$work/data.csv" --inputs a --bounds a=0:40 --unit a=2 --eps 3 --queries $all --out "$work/release" >/dev/null
"$curator" init --dir "$work/keys" >/dev/null
token=$(cat "$work/keys/modeler/token")
cat >"$work/measure" <<END
#!/bin/bash
cat >"$work/record.\$\$"
while [ ! -e "$work/gate" ] && [ -d "$work" ]; do sleep 0.05; done # one may outlive its curator, none the test
echo run >>"$work/runs"
tail -n 1 "$work/record.\$\$" | cut -d, -f2
rm "$work/record.\$\$"
END
chmod +x "$work/measure"

serve() { # serve LISTEN OPTIONS...: sets url
    local listen=$1
    shift
    up "$curator" serve --release "$work/release" --data "$work/data.csv" --keys "$work/keys" --listen "$listen" --evaluate "$work/measure" "$@"
}
request() { # request FILE CURL-OPTIONS...: the body goes to FILE, the status to FILE.status, once it is there
    local file=$1
    shift
    curl -s -m "${seconds:-30}" --noproxy '*' --cacert "$work/keys/ca.pem" -H "Authorization: Bearer $token" -o "$file" -w '%{http_code}' "$@" \
        >"$file.part" || true
    mv "$file.part" "$file.status"
}
pids=
ask_all() { # ask_all COUNT: so many questions at once; returns when the ledger has them all, which they are in before they wait
    local count=$1 i
    rm -f "$work"/ask.*
    pids=
    for i in $(seq 0 $((count - 1))); do
        seconds=120 request "$work/ask.$i" -d "{\"ticket\":\"t$i\",\"row\":$i}" "$url/v1/queries" &
        pids="$pids $!"
    done
    for ((i = 0; i < 600; i++)); do
        request "$work/ledger" "$url/v1/ledger"
        [ "$(cat "$work/ledger.status")" = 200 ] || fail "the ledger is not shown while questions wait: $(cat "$work/ledger.status")"
        grep -q "\"queries_made\":$count," "$work/ledger" && return
        sleep 0.05
    done
    fail "not all were entered: $(cat "$work/ledger")"
}
answered() {
    find "$work" -name 'ask.*.status' | wc -l
}
join_all() {
    local pid
    for pid in $pids; do wait "$pid"; done
}

# While they wait, everybody else is served, and none of them was answered meanwhile.
serve 127.0.0.1:0 --patience 600
ask_all $asks
request "$work/manifest" "$url/v1/manifest"
[ "$(cat "$work/manifest.status")" = 200 ] || fail "the manifest: $(cat "$work/manifest.status")"
request "$work/look" "$url/v1/queries/t7"
[ "$(cat "$work/look.status")" = 202 ] || fail "a look at a ticket that waits: $(cat "$work/look.status")"
request "$work/other" -d '{"ticket":"t7","row":8}' "$url/v1/queries"
[ "$(cat "$work/other.status")" = 409 ] || fail "another row for a ticket that waits: $(cat "$work/other.status")"
[ "$(answered)" = 0 ] || fail "$(answered) questions were answered before their command"

# kill -9: their connections break, what was entered stays.
kill -9 "$server"
wait "$server" 2>/dev/null || true
join_all
for i in $(seq 0 $((asks - 1))); do
    [ "$(cat "$work/ask.$i.status")" = 000 ] || fail "answered by a curator that was killed: $(cat "$work/ask.$i.status")"
done
serve "127.0.0.1:${url##*:}" --patience 600
ask_all $all
[ "$(answered)" = 0 ] || fail "answered after the restart, before the command"

# An orderly stop tells them that it is pending; it waits for the command that runs, and only for that. The ledger had the first half
# before they were asked again, so it does not show that they wait: one that comes after the stop finds nobody. Not all do.
kill "$server"
join_all
told=0
for i in $(seq 0 $((all - 1))); do
    case $(cat "$work/ask.$i.status") in
    202) [ "$i" -ge "$asks" ] || told=$((told + 1)) ;;
    000) [ "$i" -lt "$asks" ] || fail "stopped: no answer for ticket t$i" ;;
    *) fail "stopped: $(cat "$work/ask.$i.status") for ticket t$i" ;;
    esac
done
[ "$told" -gt 0 ] || fail "stopped: none of those asked again was told"
: >"$work/gate"
wait "$server" || fail "the service did not end well"
server=

# Every value arrives, to all who wait for it.
rm "$work/gate"
serve 127.0.0.1:0 --patience 600
ask_all $all
: >"$work/gate"
join_all
for i in $(seq 0 $((all - 1))); do
    [ "$(cat "$work/ask.$i.status")" = 200 ] && grep -q "\"value\":$i.25[,}]" "$work/ask.$i" || fail "ticket t$i: $(cat "$work/ask.$i")"
done
# Asked again: the same bytes.
request "$work/again" -d '{"ticket":"t3","row":3}' "$url/v1/queries"
cmp -s "$work/again" "$work/ask.3" || fail "not the same answer again"
down
"$TACET_BIN/tacet-ledger" ledger verify --ledger "$work/release/ledger.db" --json >"$work/json" || fail "the ledger does not verify"
grep -q "\"entries\":$((all + 1))[,}]" "$work/json" || fail "not $all questions and a release: $(cat "$work/json")"
echo "$all questions waited on 4 threads"
