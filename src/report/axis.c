/* SPDX-License-Identifier: Apache-2.0 */
/* axis.c - round ranges and ticks of an axis, linear and logarithmic.
 * Ring: open. Source: steps of 1, 2, 5 times a power of ten, as Heckbert (1990, "Nice numbers for graph labels").
 * Cost: O(ticks). */
#include "report/text.h"

#include <math.h>

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
