#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mpi.sh - `mpirun tacet gp-ucb`: the same output whatever the number of ranks; a rank that is killed, ranks with other
# files or another version, a build without MPI. (tests/cli/test_gp_ucb.c compares with a dense recomputation.)
skip() {
    [ -z "${TACET_CI:-}" ] || { echo "$1, and TACET_CI is set: run tools/setup --with-ci"; exit 1; }
    echo "skipped: $1"
    exit 77
}
command -v mpirun >/dev/null || skip "mpirun is not installed"
[ -x "$TACET_BIN/tacet-plain-mpi" ] || skip "built without MPI"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # Open MPI keeps memory until the end
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
ranks() { n=$1; shift; mpirun --oversubscribe -n "$n" "$@"; }

# Made-up tables: the same rows as .csv and as .npy, and one with a number changed.
python3 - <<'END'
import array, math, random
def npy(path, rows):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        f.write(array.array("d", [x for row in rows for x in row]).tobytes())
random.seed(3)
rows = []
for i in range(1500):
    x = [random.random() for _ in range(3)]
    rows.append(x + [sum(math.sin(6 * v + c) for c, v in enumerate(x)) + 0.05 * random.gauss(0, 1)])
npy("t.npy", rows)
for name, part in ("t.csv", rows), ("t1.csv", rows[:700]), ("t2.csv", rows[700:]):
    with open(name, "w") as f:
        f.write("a,b,c,y\n" + "".join("%r,%r,%r,%r\n" % tuple(r) for r in part))
rows[1400][1] += 1e-9
npy("other.npy", rows)
npy("large.npy", [[random.random(), random.random(), random.random()] for _ in range(60000)])
END
model='--lengthscale 0.4 --signal-var 3 --noise-var 1e-3 --queries 30 --json'
csv="--inputs a,b,c --target y $model"
npy="--inputs 0,1,2 --target 3 $model"
plain() { sed -E 's/"seconds":[^,]*,//; s/"ranks":[0-9]+,//' "$1"; }

# shellcheck disable=SC2086 # options are several words on purpose
{
"$tacet" gp-ucb --data t.csv $csv >alone 2>err || fail "alone"
"$tacet" gp-ucb --data t1.csv,t2.csv $csv >out 2>err || fail "two files"
[ "$(plain out)" = "$(plain alone)" ] || fail "two files are another table than one"
for n in 1 2 3; do
    for data in "t.csv $csv" "t.npy $npy"; do
        ranks $n "$tacet" gp-ucb --data $data >out 2>err || fail "$n ranks, $data"
        [ "$(wc -l <out)" = 1 ] || fail "$n ranks print $(wc -l <out) lines"
        grep -q "\"ranks\":$n" out || fail "$n ranks: not said"
        [ "$(plain out)" = "$(plain alone)" ] || fail "$n ranks, $data: another result than alone"
    done
done
"$tacet" gp-ucb --data t.npy $npy --single >alone1 2>err || fail "single precision"
ranks 3 "$tacet" gp-ucb --data t.npy $npy --single >out 2>err || fail "single precision, 3 ranks"
[ "$(plain out)" = "$(plain alone1)" ] || fail "single precision: another result on 3 ranks"

# Bad options and bad tables are said once, by rank 0, and nothing is printed.
ranks 3 "$tacet" gp-ucb --data t.csv --inputs a,b,z --target y $model >out 2>err && fail "a column that is not there"
[ "$(grep -c "'z'" err)" = 1 ] && [ ! -s out ] || fail "a bad table is not said once"
ranks 3 "$tacet" gp-ucb --data t.csv $csv --no-such >out 2>err && fail "an option that is not there"
[ "$(grep -c "tacet gp-ucb: unknown option" err)" -le 1 ] && [ ! -s out ] || fail "a bad option is said by several"

# Ranks with other files, a missing file, or another version.
mpirun --oversubscribe -n 1 "$tacet" gp-ucb --data t.npy $npy : -n 1 "$tacet" gp-ucb --data other.npy $npy >out 2>err &&
    fail "another file was accepted"
grep -q 'rank 1 has other candidates than rank 0 in rows 750 to 1499' err && [ ! -s out ] || fail "another file: not named"
mpirun --oversubscribe -n 1 "$tacet" gp-ucb --data t.npy $npy : -n 1 "$tacet" gp-ucb --data missing.npy $npy >out 2>err &&
    fail "a missing file was accepted"
grep -q 'rank 1: .*missing.npy' err && [ ! -s out ] || fail "a missing file: not named"
version=$("$tacet" --version | sed 's/tacet //')
changed=$(echo "$version" | sed 's/.$/9/')
[ "$changed" != "$version" ] || changed=$(echo "$version" | sed 's/.$/8/')
LC_ALL=C sed "s/$version/$changed/g" "$TACET_BIN/tacet-plain-mpi" >later && chmod +x later
mpirun --oversubscribe -n 1 "$TACET_BIN/tacet-plain-mpi" gp-ucb --data t.npy $npy : \
    -n 1 ./later gp-ucb --data t.npy $npy >out 2>err && fail "another version was accepted"
grep -q 'rank 1 runs another version of tacet' err && [ ! -s out ] || fail "another version: not named"
# The program without MPI would do the whole work in every process.
ranks 2 "$TACET_BIN/tacet-plain" gp-ucb --data t.npy $npy >out 2>err && fail "no MPI, and it went on"
grep -q 'built without MPI' err && [ ! -s out ] || fail "no MPI: not said"

# A rank is killed in the middle: the run ends with a message, and another number of ranks goes on from the journal.
large='--data large.npy --inputs 0,1 --target 2 --lengthscale 0.05 --noise-var 0.1 --json'
mpirun --oversubscribe -n 3 "$tacet" gp-ucb $large --queries 3000 --journal j >out 2>err &
job=$!
tries=0
while [ "$(wc -l <j 2>/dev/null || echo 0)" -lt 8 ]; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || fail "the run does not begin"
    sleep 0.1
done
victim=
for pid in $(ps -o pid= --ppid "$job"); do
    if tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx 'OMPI_COMM_WORLD_RANK=1'; then victim=$pid; fi
done
[ -n "$victim" ] || fail "rank 1 was not found"
kill -9 "$victim"
if wait "$job"; then fail "a rank was killed and the run succeeded"; fi
[ ! -s out ] || fail "a run without its rank 1 printed a result"
grep -q 'the same command goes on' err || fail "nothing was said of the journal"
done=$(($(wc -l <j) - 1))
queries=$((done + 4))
ranks 2 "$tacet" gp-ucb $large --queries $queries --journal j >out 2>err || fail "it does not go on"
"$tacet" gp-ucb $large --queries $queries >alone 2>err || fail "alone"
[ "$(plain out)" = "$(plain alone)" ] || fail "gone on from the journal: another result"
[ "$(($(wc -l <j) - 1))" = "$queries" ] || fail "the journal has not all rounds"
# The journal is of this problem alone.
"$tacet" gp-ucb $large --queries $queries --journal j --signal-var 2 >out 2>err && fail "a journal of other settings"
grep -q 'another table or other settings' err || fail "a journal of other settings: not named"
}
