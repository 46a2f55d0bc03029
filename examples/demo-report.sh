# SPDX-License-Identifier: Apache-2.0
# demo-report.sh - the document of the demo's report on stdout, from the variables and files of demo.sh, which reads this file.
# shellcheck shell=sh disable=SC2154
# The first 40 records as they are and as the consultant sees them.
paste -d, patients.csv release/release.csv | awk -F, '
    NR > 1 && NR <= 41 {
        c = n++ ? "," : ""
        age = $6; bmi = $7
        ax = ax c $1; ay = ay c $2
        bx = bx c sprintf("%.4g", age); by = by c sprintf("%.4g", bmi)
        cx = cx c $1 "," sprintf("%.4g", age) ",null"; cy = cy c $2 "," sprintf("%.4g", bmi) ",null"
    }
    END { printf "{\"ax\":[%s],\"ay\":[%s],\"bx\":[%s],\"by\":[%s],\"cx\":[%s],\"cy\":[%s]}\n", ax, ay, bx, by, cx, cy }' >views.json
grade() { awk -v r="$(field "$1" rms)" -v b="$(field "$1" blind)" 'BEGIN { printf "error %.3g units, a blind guess %.3g", r, b }'; }
tone() { [ "$(field "$1" succeeded)" = true ] && echo bad || echo good; }
percent() { awk -v v="$(field "$1" recovered)" 'BEGIN { printf "%.1f %% of the other records rebuilt", 100 * v }'; }
bar() { # bar LABEL FILE
    printf '{"label": "%s: %s", "value": %s, "of": 1, "note": "%s", "tone": "%s"}' "$1" "$(grade "$2")" \
        "$(field "$2" recovered)" "$(percent "$2")" "$(tone "$2")"
}

cat <<JSON
{"format": "tacet-report-1",
 "title": "The best patient, found without seeing patients",
 "subtitle": "$records made-up records, $queries questions, eps = $eps, delta = 0. Two processes over TLS on one machine; every number on this page was measured by the run that made it.",
 "sections": [
  {"kind": "facts", "items": [
    {"label": "best found privately", "value": $(short "$ours"), "note": "row $(field ours.json best_row), after $queries questions"},
    {"label": "best there is", "value": $best_value, "note": "row $best_row of $records"},
    {"label": "spent", "value": "eps $(short "$(field ledger.json eps)") by one unit", "note": "delta 0, all of the budget; eps $(short "$(field log/release.json eps_any_change)") for any other change"},
    {"label": "attack on our release", "value": "$(grade attack-informed.json)", "tone": "$(tone attack-informed.json)", "note": "of a rebuilt record, knowing $many others; no record is read"}]},
  {"kind": "chart", "title": "How far from the best after each question",
   "x": {"label": "questions asked"}, "y": {"label": "regret of the best so far", "unit": "points of response"},
   "note": "One run each, but for chance: mean of 500 searches, and the range of the middle eight of ten. The private search differs from run to run, because its noise is real. The patients were made up so that a search can succeed under this noise: this shows the job, and is no benchmark.",
   "series": [
    {"name": "ours, eps $eps", "style": "step", "y": [$regret_ours]},
    {"name": "ours, Gaussian noise", "style": "step", "y": [$regret_gaussian]},
    {"name": "published, not private", "style": "step", "y": [$regret_published]},
    {"name": "without protection", "style": "step", "y": [$regret_nonprivate]},
    {"name": "by chance", "y": [$regret_random], "lower": [$(list random.json lower)], "upper": [$(list random.json upper)]}]},
  {"kind": "table", "title": "The five searches", "columns": ["search", "regret", "what the consultant sees", "guarantee"],
   "rows": [
    ["without protection", $(last "$regret_nonprivate"), "every record as it is", "none"],
    ["ours", $(last "$regret_ours"), "every record with noise", "eps = $eps by one unit, $(short "$(field log/release.json eps_any_change)") for any change; delta = 0"],
    ["ours, Gaussian noise", $(last "$regret_gaussian"), "every record with noise", "eps = $eps by one unit, $(short "$(field log/release-gaussian.json eps_any_change)") for any change; delta = $delta"],
    ["published mechanism", $(last "$regret_published"), "a linear image of all records", "NOT DIFFERENTIALLY PRIVATE"],
    ["by chance", $(last "$regret_random"), "nothing", "nothing is released"]],
   "note": "The default is the mechanism with the least noise, here Laplace noise with a standard deviation of $(short "$sigma") units; Gaussian noise has $(short "$(field log/release-gaussian.json sigma)"). A hospital decides for one of them beforehand; everything else on this page is about the first. All but chance also see the $queries measured values. The three released tables are searched without being told anything of the response. Without protection the search is GP-UCB, which is told the lengthscales, with its beta at a fifth of the theory's, as is usual in practice."},
  {"kind": "text", "title": "What is protected", "tone": "good", "text": $protects},
  {"kind": "text", "title": "What is not", "tone": "bad", "text": "$(echo "$uncovered" | tr -d '"')\n\n$(awk -v s="$sigma" 'BEGIN { printf "The release does say roughly where a patient lies: its noise has a standard deviation of %.1f years, %.1f BMI points and %.0f mg. Moves well beyond the units are hidden less and less.", 5 * s, 2 * s, 10 * s }')"},
  {"kind": "parties", "title": "What each party saw", "parties": [
    {"name": "The hospital (curator)",
     "saw": ["all $records records: age, BMI, dose, response", "which $queries rows the consultant asked about", "the ledger"],
     "did_not_see": ["the consultant's model"]},
    {"name": "The consultant (modeler)",
     "saw": ["$records lines of noisy numbers, once", "$queries measured responses, of the rows it chose", "the manifest: bounds, units, noise"],
     "did_not_see": ["any age, BMI or dose as it is", "the other $((records - queries)) responses"]},
    {"name": "Somebody on the wire",
     "saw": ["that two machines speak TLS, when, and how much"],
     "did_not_see": ["rows, values, release or token"]}]},
  {"kind": "chart", "title": "40 of the records: the hospital's view and the consultant's",
   "x": {"label": "age", "unit": "years"}, "y": {"label": "BMI", "unit": "kg/m²"},
   "note": "The consultant's points are the release, brought back to years and BMI points with the public units; which belongs to which it knows by the row number. Both are on this page only because the patients are made up.",
   "series": [
    {"name": "as the hospital knows them", "style": "points", "x": [$(list views.json ax)], "y": [$(list views.json ay)]},
    {"name": "as the consultant sees them", "style": "points", "x": [$(list views.json bx)], "y": [$(list views.json by)]},
    {"name": "the same patient", "x": [$(list views.json cx)], "y": [$(list views.json cy)]}]},
  {"kind": "bars", "title": "The attack: computing all records from a few known ones", "items": [
    $(bar "published mechanism, $known known" attack-published.json),
    $(bar "our release, $known known" attack-ours.json),
    $(bar "our release, Gaussian noise, $known known" attack-gaussian.json),
    $(bar "our release, $many known" attack-informed.json)],
   "note": "Root mean square error of a rebuilt record, in units ($(echo "$units" | sed 's/=/ /g; s/,/, /g')): published $(short "$(field attack-published.json rms)"); ours $(short "$(field attack-ours.json rms)") with $known known records, where a guess without the release has $(short "$(field attack-ours.json blind)"), and $(short "$(field attack-informed.json rms)") with $many, where a guess has $(short "$(field attack-informed.json blind)"). The noise alone is an error of $(awk -v s="$sigma" 'BEGIN { printf "%.4g", s * sqrt(3) }'): about there a patient can be located, and no record is read."},
  {"kind": "ledger", "title": "The ledger", "ledger": $(cat ledger.json)}
 ]}
JSON
