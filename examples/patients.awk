# SPDX-License-Identifier: Apache-2.0
# patients.awk - a table of made-up patients on stdout, the same every time: no patient exists, no number was measured.
# usage: awk -f patients.awk [-v n=2000] [-v seed=20201]
# Columns: age (years), bmi (kg/m2), dose (mg a day), response (points by which a made-up symptom score improved).
# Random numbers are Park and Miller's (1988) minimal standard generator, because awk's own differs between systems.
function uniform() {
    state = (state * 16807) % 2147483647
    return state / 2147483647
}
function normal() {
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform())
}
function within(low, high, v) {
    return v < low ? low + (low - v) % (high - low) : v > high ? high - (v - high) % (high - low) : v
}
function bump(height, a, b, c, wa, wb, wc) {
    return height * exp(-((age - a) / wa) ^ 2 / 2 - ((bmi - b) / wb) ^ 2 / 2 - ((dose - c) / wc) ^ 2 / 2)
}
BEGIN {
    if (n == 0) n = 2000
    state = seed > 0 ? seed : 20201
    OFMT = CONVFMT = "%.6g"
    print "age,bmi,dose,response"
    for (i = 0; i < n; i++) {
        age = within(18, 90, 52 + 17 * normal())
        bmi = within(16, 46, 27 + 5.5 * normal())
        dose = 5 * int(1 + 40 * uniform())
        # Best for the young and slim at a high dose; a second, lower hill tempts elsewhere.
        y = bump(30, 38, 22, 140, 16, 7, 55) + bump(20, 72, 35, 50, 13, 6, 40) + 0.4 * normal()
        printf "%.1f,%.1f,%d,%.2f\n", age, bmi, dose, y
    }
}
