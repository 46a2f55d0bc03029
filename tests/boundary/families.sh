#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# families.sh - column kinds and mechanisms are told apart in their tables alone: elsewhere no code compares a kind with a
# member or switches over members, so a new member cannot be taken for another one. Every policy of a service,
# every audit target, every job of a study and every mechanism of a table is in its list.
set -eu
cd "${TACET_SOURCE:-$(dirname "$0")/../..}"

# asked FILE...: where a member of a family is asked for by name. Giving a column or a mechanism its kind is no question.
asked() {
    grep -nE '([=!]=|case) *TACET_(SPACE|MECHANISM)_[A-Z]|TACET_(SPACE|MECHANISM)_[A-Z_0-9]+ *[=!]=' "$@" /dev/null |
        grep -E 'TACET_(SPACE_(REAL|LOG|INTEGER|CATEGORY|DATE)|MECHANISM_(GAUSSIAN|LAPLACE|KNORM|PERMUTE_AND_FLIP|EXPONENTIAL|L2))\b' || true
}
trial=$(mktemp)
trap 'rm -f "$trial"' EXIT
printf '%s\n' 'x = c->kind == TACET_SPACE_LOG;' 'case TACET_MECHANISM_L2:' 'c->kind = TACET_SPACE_LOG;' 'if (TACET_SPACE_DATE != k)' >"$trial"
[ "$(asked "$trial" | wc -l)" -eq 3 ] || { echo "the check does not see what it should"; exit 1; }
# Which kinds the check knows by name are all there are.
for name in $(sed -n 's/^ *X(\([A-Z_0-9]*\)[,)].*/\1/p' include/tacet/space/space.h src/dp/mechanism.h); do
    grep -q "[(|]${name}[|)]" "$0" || { echo "$name is not known to this check: name it there"; exit 1; }
done
# shellcheck disable=SC2046 # no file's name has a blank
found=$(asked $(find src cli lab -name '*.[ch]' ! -path 'src/dp/mechanisms/*' ! -path src/space/kinds.c ! -path src/space/short.c))
if [ -n "$found" ]; then
    echo "$found"
    echo "ask the table for what you need to know of it: src/space/kinds.c, src/dp/mechanisms/table.h"
    exit 1
fi
# A policy that no list has is served by nobody.
# shellcheck disable=SC2046
policies=$(sed -n -e 's/^const tacet__policy_kind \(tacet__[a-z_]*\) = .*/\1/p' -e 's/^LOCAL_KIND(\([a-z_]*\),.*/tacet__policy_\1/p' \
    $(find src/service -name '*.c'))
[ "$(echo "$policies" | wc -l)" -ge 9 ] || { echo "the check does not see the policies"; exit 1; }
for policy in $policies; do
    grep -q "&$policy\b" src/service/trusted/server.c || { echo "$policy is not in src/service/trusted/server.c"; exit 1; }
done
# An audit target that is not in the list is never run.
targets=$(sed -n 's/^TARGET(\([a-z_0-9]*\),.*/\1/p' src/audit/targets_*.c)
[ "$(echo "$targets" | wc -l)" -ge 20 ] || { echo "the check does not see the audit targets"; exit 1; }
for target in $targets; do
    grep -q "X($target)" src/audit/targets.h || { echo "$target is not in TACET__AUDIT_TARGETS, src/audit/targets.h"; exit 1; }
done
# Mechanisms of a table are found by their place: the enumerators and the table have the same order.
named=$(sed -n 's/^    TACET_CURATE_\([A-Z0-9]*\),.*/\1/p' include/tacet/outsourced/trusted/curate.h | tr '[:upper:]' '[:lower:]')
forms=$(sed -n 's/^    {\.name = "\([a-z0-9]*\)".*/\1/p' src/outsourced/shared/form.c)
[ -n "$forms" ] && [ "$named" = "$forms" ] || { echo "tacet_curate_mechanism and src/outsourced/shared/form.c differ: $named / $forms"; exit 1; }
# A job without a line in the table would do nothing.
jobs=$(sed -n 's/^    \(TACET__JOB_[A-Z_]*\)\b.*/\1/p' src/service/open/engine/engine.h)
[ "$(echo "$jobs" | wc -l)" -ge 20 ] || { echo "the check does not see the jobs"; exit 1; }
for job in $jobs; do
    grep -qF "[$job] = {" src/service/open/engine/replica_jobs.c || { echo "$job is not in tacet__job_kinds, src/service/open/engine/replica_jobs.c"; exit 1; }
done
echo "kinds and mechanisms are told apart in their tables alone"
