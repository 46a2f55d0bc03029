#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# wire.sh - the curator's service as a hostile or clumsy client sees it: each request has the status docs/PROTOCOL.md
# gives it, nothing is charged for a refusal, and the service still answers afterwards. Certificates that are foreign or
# expired are made with openssl.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need curl openssl
curator=$TACET_BIN/tacet-curator
keys=$work/keys
modeler=$keys/modeler

printf 'a,b,y\n' >"$work/data.csv"
for i in $(seq 0 19); do echo "$i,$((i * i % 7)),$i.25" >>"$work/data.csv"; done
values=--values-unprotected
make_release() { # make_release FOLDER OPTIONS...
    local out=$1
    shift
    "$curator" curate $values --data "$work/data.csv" --inputs a,b --bounds a=0:20,b=0:7 --unit a=2,b=1 --eps 3 --out "$out" "$@"
}
make_release "$work/release" --queries 6 >/dev/null
"$curator" init --dir "$keys" >/dev/null
token=$(cat "$modeler/token")

# The curator's own doors: a release again is refused by its ticket (1), another one by the budget (3), with nothing written.
before=$(cat "$work/release/release.csv" "$work/release/manifest.json" | cksum)
expect 1 make_release "$work/release" --queries 6
expect 3 make_release "$work/release" --queries 6 --ticket second
[ "$(cat "$work/release/release.csv" "$work/release/manifest.json" | cksum)" = "$before" ] || fail "a refusal changed the release"
code=0
make_release "$work/not" --mechanism published --dims 2 >/dev/null 2>&1 || code=$?
[ "$code" = 1 ] && [ ! -e "$work/not" ] || fail "published without the flag: exit code $code"
expect 1 "$curator" init --dir "$keys"

serve() { up "$curator" serve --keys "$keys" --listen 127.0.0.1:0 "$@"; }
request() { # request CURL-OPTIONS...: prints the status, 000 when there is none; the body is in $work/body
    curl -s -m 20 --noproxy '*' --cacert "$keys/ca.pem" -o "$work/body" -w '%{http_code}' "$@" || true
}
ask() { # ask STATUS PATH OPTIONS...
    local want=$1 path=$2 got
    shift 2
    got=$(request -H "Authorization: Bearer $token" "$@" "$url$path")
    [ "$got" = "$want" ] || fail "$path $*: $got instead of $want"
    case $want in 4* | 5*) grep -q '^{"type":"urn:tacet:problem:[a-z-]*","title":"[^"]*","status":[0-9]*,"detail":"[^"]*"}' "$work/body" || fail "$path $*: no reason" ;; esac
}
post() { # post STATUS BODY
    ask "$1" /v1/queries -d "$2"
}
has() {
    grep -q "$1" "$work/body" || fail "no $1 in the answer"
}
made() { # made N: so many queries were entered, and the service is alive
    ask 200 /v1/ledger
    has "\"queries_made\":$1,"
}

serve --release "$work/release" --data "$work/data.csv" --target y

# The probes of a balancer need no token, and a request of two lengths is refused: the same room as the other services.
[ "$(request "$url/v1/live")" = 200 ] || fail "the curator is not live"
[ "$(request "$url/v1/ready")" = 200 ] || fail "the curator is not ready"
[ "$(request -H 'Content-Length: 1' -H 'Transfer-Encoding: chunked' -d x "$url/v1/queries")" = 400 ] || fail "a length beside a transfer encoding"
if grep -v '^20[0-9-]*T[0-9:.]*Z [a-z]* ' "$work/log"; then fail "a line of the log without time and level"; fi

# Who may ask.
for path in /v1/manifest /v1/release /v1/queries /v1/queries/x /v1/ledger / /nothing; do
    [ "$(request "$url$path")" = 401 ] || fail "$path without a token"
    [ "$(request -H "Authorization: Bearer $token." "$url$path")" = 401 ] || fail "$path with a wrong token"
    [ "$(request -H "Authorization: Basic $token" "$url$path")" = 401 ] || fail "$path with another scheme"
    [ "$(request -H "Authorization: Bearer $(cat "$keys/token.hash")" "$url$path")" = 401 ] || fail "the stored hash opens"
done
[ "$(request -H 'Authorization: Bearer ' "$url/v1/ledger")" = 401 ] || fail "an empty token"
[ "$(request -d '{"ticket":"x","row":1}' "$url/v1/queries")" = 401 ] || fail "a query without a token"
[ "$(request --cert "$modeler/client.pem" --key "$modeler/client.key" "$url/v1/ledger")" = 200 ] || fail "the client certificate"
quiet() { openssl "$@" >/dev/null 2>&1 || fail "openssl $1"; }
quiet req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=modeler -keyout "$work/f.key" -out "$work/f.pem"
got=$(request --cert "$work/f.pem" --key "$work/f.key" "$url/v1/ledger")
[ "$got" = 401 ] || [ "$got" = 000 ] || fail "a foreign certificate: $got"
# Signed by the study's own authority, but expired.
mkdir "$work/ca"
: >"$work/ca/index"
echo 01 >"$work/ca/serial"
printf '[ca]\ndefault_ca=d\n[d]\ndatabase=%s/ca/index\nserial=%s/ca/serial\nnew_certs_dir=%s/ca\ndefault_md=sha256\nunique_subject=no\npolicy=p\n[p]\ncommonName=supplied\n' \
    "$work" "$work" "$work" >"$work/ca/conf"
quiet req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=modeler -keyout "$work/e.key" -out "$work/e.csr"
quiet ca -batch -config "$work/ca/conf" -cert "$keys/ca.pem" -keyfile "$keys/ca.key" -startdate 20200101000000Z \
    -enddate 20200201000000Z -in "$work/e.csr" -out "$work/e.pem" -notext
got=$(request --cert "$work/e.pem" --key "$work/e.key" "$url/v1/ledger")
[ "$got" = 401 ] || [ "$got" = 000 ] || fail "an expired certificate: $got"
# The same key signed for today is let in: it was the date.
quiet ca -batch -config "$work/ca/conf" -cert "$keys/ca.pem" -keyfile "$keys/ca.key" -days 2 -in "$work/e.csr" -out "$work/e.pem" -notext
[ "$(request --cert "$work/e.pem" --key "$work/e.key" "$url/v1/ledger")" = 200 ] || fail "the renewed certificate"
got=$(request -H "Authorization: Bearer $token" "http${url#https}/v1/ledger")
[ "$got" != 200 ] || fail "plain HTTP"
curl -s -m 20 --noproxy '*' --tls-max 1.1 --cacert "$keys/ca.pem" -o /dev/null "$url/v1/ledger" && fail "TLS 1.1"
made 0

# Paths and methods.
ask 200 /v1/manifest
has '"format": "tacet-release-1"'
ask 200 /v1/release
cmp -s "$work/body" "$work/release/release.csv" || fail "the release is not what was curated"
ask 404 /
ask 404 /v1
ask 404 /v1/manifest/
ask 404 /v2/manifest
for path in /v1/../v1/manifest /v1/release/../../keys/ca.key /v1/queries/../../data.csv /..%2f..%2fdata.csv //v1/manifest; do
    ask 404 "$path" --path-as-is
done
ask 404 /v1/queries/..%2f..%2fdata.csv --path-as-is
ask 404 /v1/queries/never
ask 414 "/v1/queries/$(printf '%05000d' 1)"
got=$(request -H "Authorization: Bearer $token" "$url/v1/queries/$(printf '%040000d' 1)")
[[ $got == 4* ]] || fail "an endless path: $got"
ask 405 /v1/manifest -X DELETE
ask 405 /v1/manifest -d x
ask 405 /v1/queries
ask 405 /v1/queries -X PUT -d '{"ticket":"a","row":1}'
ask 405 /v1/queries/a -d x
ask 405 /v1/ledger -X PATCH
made 0

# Bodies that are not questions.
for body in '' x '[]' '{}' null '"a"' 7 '{"ticket":"a"}' '{"row":1}' '{"ticket":"a","row":"1"}' '{"ticket":"a","row":1.0}' \
    '{"ticket":"a","row":1.5}' '{"ticket":"a","row":-1}' '{"ticket":"a","row":NaN}' '{"ticket":"a","row":Infinity}' \
    '{"ticket":"a","row":1e3}' '{"ticket":"a","row":20}' '{"ticket":"a","row":9223372036854775807}' \
    '{"ticket":"a","row":99999999999999999999}' '{"ticket":"a","row":null}' '{"ticket":"a","row":[1]}' '{"ticket":"a","row":true}' \
    '{"ticket":"a","row":1,"more":0}' '{"ticket":"a","row":1,"row":2}' '{"ticket":"a","ticket":"b","row":1}' \
    '{"ticket":"a","row":1}}' '{"ticket":"a","row":1} {}' '{"ticket":7,"row":1}' '{"ticket":"","row":1}' '{"ticket":"a b","row":1}' \
    '{"ticket":"a/b","row":1}' '{"ticket":"a\u0000b","row":1}' '{"ticket":"\ud800","row":1}' "{'ticket':'a','row':1}" \
    "{\"ticket\":\"$(printf '%0101d' 1)\",\"row\":1}" "{\"ticket\":\"$(printf '%050000d' 1)\",\"row\":1}"; do
    post 400 "$body"
done
printf '{"ticket":"a\xff","row":1}' >"$work/bytes"
ask 400 /v1/queries --data-binary "@$work/bytes"
printf '%060000d' 0 | tr 0 '[' >"$work/deep"
ask 400 /v1/queries --data-binary "@$work/deep"
printf '%070000d' 1 >"$work/large"
# Read to its end and thrown away, so that the answer is not lost in a reset.
ask 413 /v1/queries --data-binary "@$work/large"
# 100 MB, announced: answered before it is read. Then without an end in sight: cut off.
truncate -s 100M "$work/huge"
start=$(date +%s)
got=$(request -H "Authorization: Bearer $token" -H 'Expect:' --data-binary "@$work/huge" "$url/v1/queries")
[ "$got" = 413 ] || [ "$got" = 000 ] || fail "100 MB: $got"
got=$(request -H "Authorization: Bearer $token" -H 'Expect:' -H 'Transfer-Encoding: chunked' -X POST -T - "$url/v1/queries" </dev/zero)
[ "$got" = 413 ] || [ "$got" = 000 ] || fail "an endless body: $got"
[ $(($(date +%s) - start)) -lt 15 ] || fail "large bodies are not refused quickly"
rm "$work/huge"
made 0

# Questions: once per ticket, whatever is sent in between.
post 200 '{"ticket":"t-1","row":3}'
has '"value":3.25'
cp "$work/body" "$work/first"
post 200 '{"row":3,"ticket":"t-1"}'
cmp -s "$work/body" "$work/first" || fail "a retry is not the same, byte for byte"
ask 200 /v1/queries/t-1
cmp -s "$work/body" "$work/first" || fail "looking is not the same as asking"
post 409 '{"ticket":"t-1","row":4}'
made 1
post 200 '{"ticket":"t-2","row":0}'
post 200 "{\"ticket\":\"$(printf '%0100d' 1)\",\"row\":19}"
for i in 4 5 6; do post 200 "{\"ticket\":\"t-$i\",\"row\":$i}"; done
post 403 '{"ticket":"t-7","row":7}'
has 'the query budget is used up'
post 200 '{"ticket":"t-1","row":3}'
made 6
kill -9 "$server"
wait "$server" 2>/dev/null || true
serve --release "$work/release" --data "$work/data.csv" --target y
post 200 '{"ticket":"t-1","row":3}'
cmp -s "$work/body" "$work/first" || fail "the answer changed over a crash"
post 403 '{"ticket":"t-7","row":7}'
made 6
down
"$TACET_BIN/tacet-ledger" ledger verify --ledger "$work/release/ledger.db" >/dev/null || fail "the ledger does not verify"

# Evaluators that misbehave: 502 without a word of what they said, and the same ticket later succeeds.
make_release "$work/second" --new-budget "a test" --ledger "$work/second/ledger.db" --queries 3 >/dev/null
serve --release "$work/second" --data "$work/data.csv" --evaluate 'echo secret-42; exit 42' --auth token
post 502 '{"ticket":"e","row":2}'
grep -q 42 "$work/body" && fail "the evaluator's words left the house"
ask 502 /v1/queries/e
grep -q 'exit code 42' "$work/log" || fail "the curator's log does not say why"
[ "$(request --cert "$modeler/client.pem" --key "$modeler/client.key" "$url/v1/ledger")" = 401 ] || fail "--auth token took a certificate"
made 1
down
serve --release "$work/second" --data "$work/data.csv" --evaluate 'sleep 60' --timeout 0.3
post 502 '{"ticket":"e","row":2}'
made 1
down
serve --release "$work/second" --data "$work/data.csv" --evaluate 'awk -F, "NR==2 {print \$3}"' --auth certificate
[ "$(request -H "Authorization: Bearer $token" "$url/v1/ledger")" = 401 ] || fail "--auth certificate took a token"
got=$(request --cert "$modeler/client.pem" --key "$modeler/client.key" -d '{"ticket":"e","row":2}' "$url/v1/queries")
[ "$got" = 200 ] || fail "the mended evaluator: $got"
has '"value":2.25'
down

# With private outputs an evaluator that fails for one record and not for the other: the same status, the same header fields,
# the same members of the body, the same kind of entry. The curator's own log tells them apart.
values='' make_release "$work/private" --new-budget "a test" --ledger "$work/private/ledger.db" --queries 3 --eps-output 1 --range 0:20 >/dev/null
serve --release "$work/private" --data "$work/data.csv" --evaluate 'awk -F, "NR==2 {if (\$1 == 2) exit 43; print \$3}"'
for row in 1 2; do
    got=$(request -D "$work/head" -H "Authorization: Bearer $token" -d "{\"ticket\":\"q$row\",\"row\":$row}" "$url/v1/queries")
    [ "$got" = 200 ] || fail "private outputs, row $row: $got"
    { grep -vi '^date:\|^content-length:\|^x-request-id:' "$work/head"; sed 's/"value":[-0-9.e+]*/"value":V/; s/q[12]/T/; s/"row":[12]/"row":R/' "$work/body"; } >"$work/shape$row"
done
cmp -s "$work/shape1" "$work/shape2" || fail "a failed evaluation has another shape: $(diff "$work/shape1" "$work/shape2")"
grep -q '"status":"answered","value":V' "$work/shape2" || fail "no value for the failed evaluation: $(cat "$work/shape2")"
grep -q 'row 2: the evaluator ended with exit code 43' "$work/log" || fail "the curator is not told of the failed evaluation"
grep -q 'row 1:' "$work/log" && fail "the curator is told of an evaluation that did not fail"
down
"$TACET_BIN/tacet-ledger" ledger show --ledger "$work/private/ledger.db" --json | tr '{' '\n' >"$work/body"
[ "$(grep -c 'query:q[12]' "$work/body")" = 2 ] || fail "the ledger does not have an entry for each"
grep -A 1 'query:q[12]' "$work/body" | sed 's/"\(seq\|time\|answered_by\|row\)":[0-9]*/"\1":N/g; s/"\(previous\|hash\)":"[0-9a-f]*"/"\1":H/g; s/row [12]/row N/g; s/:q[12]/:T/; s/},$//; s/}]}$//' |
    sort -u >"$work/entries"
[ "$(wc -l <"$work/entries")" = 2 ] || fail "the entries of a failed and of an ordinary evaluation differ: $(cat "$work/entries")"

# A person: 202 until someone answers.
serve --release "$work/second" --desk none
post 202 '{"ticket":"p","row":5}'
post 202 '{"ticket":"p","row":5}'
"$curator" pending --release "$work/second" --json >"$work/body"
has '"ticket":"p","row":5'
"$curator" answer --release "$work/second" p -- -7.5
expect 1 "$curator" answer --release "$work/second" p 8
ask 200 /v1/queries/p
has '"value":-7.5'
made 2
down
