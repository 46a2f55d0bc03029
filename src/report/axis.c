/* SPDX-License-Identifier: Apache-2.0 */
/* axis.c - ranges and ticks of an axis: linear, logarithmic, dates, levels.
 * Ring: open. Source: steps of 1, 2, 5 times a power of ten, as Heckbert (1990, "Nice numbers for graph labels").
 * Cost: O(ticks). */
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tacet/space/space.h>

static const double STEPS[] = {1, 2, 5, 10};

static double round_step(double raw) {
    const double power = pow(10, floor(log10(raw)));
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        if (STEPS[i] * power >= raw * (1 - 1e-9)) {
            return STEPS[i] * power;
        }
    }
    return 10 * power;
}

static void linear(tacet__scale *s, double lo, double hi, size_t wanted) {
    if (!(hi > lo)) {
        const double pad = fabs(lo) > 0 ? fabs(lo) * 0.1 : 1;
        lo -= pad;
        hi += pad;
    }
    const double step = round_step((hi - lo) / (double)wanted);
    s->lo = floor(lo / step + 1e-9) * step;
    s->hi = ceil(hi / step - 1e-9) * step;
    if (!(s->hi > s->lo)) { /* the range is below the resolution of its numbers */
        s->hi = s->lo + step;
    }
    const double places = -floor(log10(step) + 1e-9);
    const double largest = fmax(fabs(s->lo), fabs(s->hi));
    s->decimals = largest >= 1e7 || places > 6 ? -1 : places > 0 ? (int)places : 0;
    const size_t steps = (size_t)lround(fmin((s->hi - s->lo) / step, TACET__TICKS - 1));
    for (size_t i = 0; i <= steps; i++) {
        const double tick = s->lo + (double)i * step;
        s->ticks[s->count++] = fabs(tick) < step * 1e-9 ? 0 : tick;
    }
}

/* A range of less than a few times its lower end has round numbers of its own, as on a linear axis. */
static const double NARROW_RATIO = 4;

static void within_decade(tacet__scale *s, double lo, double hi) {
    tacet__scale even = {0};
    linear(&even, lo, hi, 5);
    const bool whole = even.lo > 0;
    s->lo = whole ? even.lo : even.ticks[1];
    s->hi = even.hi;
    s->decimals = even.decimals;
    for (size_t i = whole ? 0 : 1; i < even.count; i++) {
        s->ticks[s->count++] = even.ticks[i];
    }
    if (s->lo > lo) { /* the first round number lies above the data */
        s->lo = lo;
    }
}

static void logarithmic(tacet__scale *s, double lo, double hi, size_t wanted) {
    const double first = floor(log10(lo) + 1e-9);
    const double last = fmax(ceil(log10(hi) - 1e-9), first + 1);
    s->decimals = -1;
    s->lo = pow(10, first);
    s->hi = pow(10, last);
    /* One decade alone is ticked at 1, 2, 5 too; many decades at every second, third, … */
    const bool fine = last - first <= 2;
    for (size_t i = 1; fine && i < 3; i++) { /* and begins and ends at one of them */
        s->lo = STEPS[i] * pow(10, first) <= lo * (1 + 1e-9) ? STEPS[i] * pow(10, first) : s->lo;
        s->hi = STEPS[3 - i] * pow(10, last - 1) >= hi * (1 - 1e-9) ? STEPS[3 - i] * pow(10, last - 1) : s->hi;
    }
    if (!(s->hi > s->lo)) {
        s->lo = pow(10, first);
        s->hi = pow(10, last);
    }
    if (hi / lo < NARROW_RATIO) {
        within_decade(s, lo, hi);
        return;
    }
    const double every = fmax(1, ceil((last - first) / (double)(wanted > 0 ? wanted : 1)));
    const size_t decades = (size_t)((last - first) / every) + 1;
    for (size_t k = 0; k < decades && s->count < TACET__TICKS; k++) {
        const double power = pow(10, first + (double)k * every);
        for (size_t i = 0; i < (fine ? 3U : 1U) && s->count < TACET__TICKS; i++) {
            if (STEPS[i] * power >= s->lo * (1 - 1e-9) && STEPS[i] * power <= s->hi * (1 + 1e-9)) {
                s->ticks[s->count++] = STEPS[i] * power;
            }
        }
    }
}

void tacet__scale_make(tacet__scale *scale, double lo, double hi, bool log, size_t wanted) {
    *scale = (tacet__scale){.log = log};
    if (log) {
        logarithmic(scale, lo, hi, wanted);
    } else {
        linear(scale, lo, hi, wanted > 1 ? wanted : 2);
    }
}

bool tacet__scale_values(tacet__scale *scale, const double *values, size_t count, bool log, size_t wanted) {
    if (count < 2 || count > wanted || count > TACET__TICKS || (log && !(values[0] > 0))) {
        return false;
    }
    tacet__scale s = {.lo = values[0], .hi = values[count - 1], .log = log, .count = count, .decimals = -1};
    for (size_t i = 0; i < count; i++) {
        s.ticks[i] = values[i];
        if (i > 0 && !(tacet__scale_at(&s, values[i]) - tacet__scale_at(&s, values[i - 1]) >= 0.5 / (double)wanted)) {
            return false;
        }
    }
    *scale = s;
    return true;
}

double tacet__scale_at(const tacet__scale *s, double v) {
    const double at = s->log ? (v > 0 ? (log10(v) - log10(s->lo)) / (log10(s->hi) - log10(s->lo)) : 0)
                             : (v - s->lo) / (s->hi - s->lo);
    return at > 0 ? fmin(at, 1) : 0;
}

/* --- what the ticks say ------------------------------------------------------------------------------------------- */

static void number_text(char out[28], const tacet__scale *s, double v) {
    if (s->decimals >= 0) {
        (void)snprintf(out, 28, "%.*f", s->decimals, v);
    } else if (fabs(v) >= 1 && fabs(v) < 1e6) { /* 1000, not 1e+03 */
        (void)snprintf(out, 28, "%.*g", fabs(v) >= 1000 ? 6 : 3, v);
    } else {
        (void)snprintf(out, 28, "%.3g", v);
    }
}

void tacet__scale_texts(tacet__scale *s) {
    for (size_t i = 0; i < s->count; i++) {
        number_text(s->texts[i], s, s->ticks[i]);
    }
}

/* Times of a day or two. */
static void clock_ticks(tacet__scale *s, size_t wanted) {
    static const double SECONDS[] = {1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10800, 21600, 43200, 86400};
    static const double DAY = 86400;
    size_t k = 0;
    while (k + 1 < sizeof SECONDS / sizeof *SECONDS && (s->hi - s->lo) * DAY / SECONDS[k] > (double)wanted) {
        k++;
    }
    double at = ceil(s->lo * DAY / SECONDS[k]) * SECONDS[k];
    while (at <= s->hi * DAY && s->count < TACET__TICKS) {
        const int second = (int)fmod(fmod(at, DAY) + DAY, DAY);
        s->ticks[s->count] = at / DAY;
        (void)snprintf(s->texts[s->count++], sizeof s->texts[0], SECONDS[k] < 60 ? "%02d:%02d:%02d" : "%02d:%02d",
                       second / 3600, second / 60 % 60, second % 60);
        at += SECONDS[k];
    }
}

/* The first days of every so many months, so that there are about `wanted`; days where a month is much. */
static void date_ticks(tacet__scale *s, double lo, double hi, size_t wanted) {
    static const int STRIDES[] = {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200};
    static const double MONTH = 30.44;
    const tacet_space_column column = {.kind = TACET_SPACE_DATE};
    const tacet_space_traits *kind = tacet_space_traits_of(&column);
    char text[TACET_SPACE_NAME];
    s->lo = lo;
    s->hi = hi > lo ? hi : lo + 1;
    const double months = (s->hi - s->lo) / MONTH;
    if (s->hi - s->lo < 2) {
        clock_ticks(s, wanted);
        return;
    }
    if (months < (double)wanted) {
        const double step = fmax(1, round_step((s->hi - s->lo) / (double)wanted));
        double day = ceil(s->lo);
        while (day <= s->hi && s->count < TACET__TICKS) {
            kind->print(&column, text, day);
            s->ticks[s->count] = day;
            (void)snprintf(s->texts[s->count++], sizeof s->texts[0], "%.10s", text);
            day += step;
        }
        return;
    }
    size_t k = 0;
    while (k + 1 < sizeof STRIDES / sizeof *STRIDES && months / STRIDES[k] > (double)wanted) {
        k++;
    }
    int year = 0, month = 1;
    kind->print(&column, text, floor(s->lo));
    if (sscanf(text, "%d-%d", &year, &month) != 2) {
        return;
    }
    int at = (year * 12 + month - 1 + STRIDES[k] - 1) / STRIDES[k] * STRIDES[k];
    for (double day = s->lo; s->count < TACET__TICKS; at += STRIDES[k]) {
        (void)snprintf(text, sizeof text, "%04d-%02d", at / 12, at % 12 + 1);
        if (kind->read(&day, text, strlen(text)) != NULL || day > s->hi) {
            return;
        }
        if (day >= s->lo) {
            s->ticks[s->count] = day;
            (void)snprintf(s->texts[s->count++], sizeof s->texts[0], STRIDES[k] >= 12 ? "%.4s" : "%.7s", text);
        }
    }
}

/* Every name, or every second, third, … */
static void level_ticks(tacet__scale *s, const tacet__axis *axis, size_t wanted) {
    const size_t every = (axis->level_count + 2 * wanted - 1) / (2 * wanted);
    s->lo = -0.5;
    s->hi = (double)(axis->level_count > 0 ? axis->level_count : 1) - 0.5;
    for (size_t i = 0; i < axis->level_count && s->count < TACET__TICKS; i += every) {
        s->ticks[s->count] = (double)i;
        (void)snprintf(s->texts[s->count++], sizeof s->texts[0], "%s", axis->levels[i]);
    }
}

/* Exactly from lo to hi, with the ticks that lie within, whole ones where numbers are. */
static void keep_within(tacet__scale *s, const tacet__axis *axis) {
    const double slack = 1e-9 * (axis->hi - axis->lo);
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double v = s->ticks[i];
        if ((!axis->bounded || (v >= axis->lo - slack && v <= axis->hi + slack)) &&
            (!axis->whole || fabs(v - nearbyint(v)) < 1e-9)) {
            s->ticks[kept++] = v;
        }
    }
    s->count = kept;
    if (axis->whole && s->decimals > 0) {
        s->decimals = 0;
    }
    if (axis->bounded) {
        s->lo = axis->lo;
        s->hi = axis->hi;
    }
}

void tacet__scale_axis(tacet__scale *s, const tacet__axis *axis, double lo, double hi, size_t wanted) {
    const bool bounded = axis->bounded && axis->hi > axis->lo;
    *s = (tacet__scale){0};
    if (axis->kind == TACET__AXIS_DATE) {
        date_ticks(s, bounded ? axis->lo : lo, bounded ? axis->hi : hi, wanted);
    } else if (axis->kind == TACET__AXIS_LEVELS) {
        level_ticks(s, axis, wanted);
    } else {
        tacet__scale_make(s, bounded ? axis->lo : lo, bounded ? axis->hi : hi, axis->kind == TACET__AXIS_LOG, wanted);
        if (bounded || axis->whole) {
            keep_within(s, axis);
        }
        tacet__scale_texts(s);
    }
}
