/* SPDX-License-Identifier: Apache-2.0 */
/* chart.c - a chart as SVG: axes with units and ticks, grid, bands, lines, steps, points, legend.
 * Ring: open. Colours: the palette of Okabe and Ito (2008), which readers with any of the common colour deficiencies
 * can tell apart; dash patterns and point shapes differ as well, so that it also prints in grey. Cost: O(points). */
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const LIGHT[TACET__PALETTE] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#555555"};
static const char *const DARK[TACET__PALETTE] = {"#56b4e9", "#e69f00", "#00b386", "#cc79a7",
                                                 "#d55e00", "#f0e442", "#bbbbbb"};
static const char *const DASHES[TACET__PALETTE] = {"none", "8 4", "2 3", "9 3 2 3", "14 4", "4 2", "1 5"};

enum { MARKED = 12 };             /* a line of so many points has them marked */
static const double LETTER = 6.9; /* mean width of a letter at 13 pixels */
static const double DIGIT = 8.3;  /* of a digit, in the widest of the usual fonts: tick labels are not to be cut */

typedef struct frame {
    double width, height;            /* of the picture */
    double left, right, top, bottom; /* of the plot */
    tacet__scale x, y;
} frame;

static void colours(tacet__text *t, const char *const *series, const char *fore, const char *soft, const char *grid) {
    tacet__text_format(t, "--fore:%s;--soft:%s;--grid:%s;", fore, soft, grid);
    for (int i = 0; i < TACET__PALETTE; i++) {
        tacet__text_format(t, "--s%d:%s;", i, series[i]);
    }
}

void tacet__chart_style(tacet__text *t, const char *selector) {
    tacet__text_add(t, selector);
    tacet__text_add(t, "{");
    colours(t, LIGHT, "#1b1f24", "#59636e", "#dde2e7");
    tacet__text_add(t, "}@media(prefers-color-scheme:dark){");
    tacet__text_add(t, selector);
    tacet__text_add(t, "{");
    colours(t, DARK, "#e6e9ed", "#a3adb8", "#333a43");
    tacet__text_add(t, "}}");
}

/* What all series cover; false when there is nothing to draw. On a log axis only values above 0 count. */
static bool extent(const tacet__chart *c, bool vertical, bool log, double *lo, double *hi) {
    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        const tacet__series *s = &c->series[i];
        if (!vertical && s->style == TACET__SERIES_LEVEL) {
            continue;
        }
        const double *const arrays[] = {vertical ? s->y : s->x, vertical ? s->lower : NULL, vertical ? s->upper : NULL};
        for (size_t k = 0; k < 3; k++) {
            for (size_t j = 0; arrays[k] != NULL && j < s->count; j++) {
                const double v = arrays[k][j];
                if (isfinite(v) && (!log || v > 0)) {
                    *lo = fmin(*lo, v);
                    *hi = fmax(*hi, v);
                }
            }
        }
    }
    return *lo <= *hi;
}

/* The different x of all series, ascending; how many there are, or `most` + 1 when they are more than that. */
static size_t places(const tacet__chart *c, double *out, size_t most) {
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        const tacet__series *s = &c->series[i];
        for (size_t j = 0; s->style != TACET__SERIES_LEVEL && j < s->count; j++) {
            size_t at = 0;
            while (at < count && out[at] < s->x[j]) {
                at++;
            }
            if (!isfinite(s->x[j]) || (at < count && out[at] == s->x[j])) {
                continue;
            }
            if (count == most) {
                return most + 1;
            }
            memmove(out + at + 1, out + at, (count - at) * sizeof *out);
            out[at] = s->x[j];
            count++;
        }
    }
    return count;
}

static void scale_for(tacet__scale *scale, const tacet__chart *c, bool vertical, size_t wanted) {
    const bool log = vertical ? c->y.log : c->x.log;
    double lo = 0;
    double hi = 1;
    if (!extent(c, vertical, log, &lo, &hi)) {
        lo = log ? 0.1 : 0;
        hi = 1;
    }
    /* Few values on a log axis, as of eps, were chosen: they are what a reader looks for. */
    double values[TACET__TICKS];
    if (!vertical && log && tacet__scale_values(scale, values, places(c, values, TACET__TICKS), log, wanted)) {
        return;
    }
    /* A quantity that comes close to nothing is shown down to nothing; a cloud of points is shown as it lies. */
    if (vertical && !log && lo > 0 && lo < 0.5 * hi && c->count > 0 && c->series[0].style != TACET__SERIES_POINTS) {
        lo = 0;
    }
    tacet__scale_make(scale, lo, hi, log, wanted);
}

static void number(char out[32], const tacet__scale *s, double v) {
    if (s->decimals >= 0) {
        (void)snprintf(out, 32, "%.*f", s->decimals, v);
    } else if (fabs(v) >= 1 && fabs(v) < 1e6) { /* 1000, not 1e+03 */
        (void)snprintf(out, 32, "%.*g", fabs(v) >= 1000 ? 6 : 3, v);
    } else {
        (void)snprintf(out, 32, "%.3g", v);
    }
}

static double px(const frame *f, double v) {
    return f->left + (f->right - f->left) * tacet__scale_at(&f->x, v);
}

static double py(const frame *f, double v) {
    return f->bottom - (f->bottom - f->top) * tacet__scale_at(&f->y, v);
}

static void label(tacet__text *t, const tacet__axis *axis) {
    tacet__text_escape(t, axis->label);
    if (axis->unit != NULL && axis->unit[0] != '\0') {
        tacet__text_add(t, " (");
        tacet__text_escape(t, axis->unit);
        tacet__text_add(t, ")");
    }
    if (axis->log) {
        tacet__text_add(t, ", log scale");
    }
}

static void axes(tacet__text *t, const tacet__chart *c, const frame *f) {
    char words[32];
    tacet__text_add(t, "<g class=\"grid\">");
    for (size_t i = 0; i < f->y.count; i++) {
        const double y = py(f, f->y.ticks[i]);
        tacet__text_format(t, "<path d=\"M%.1f %.1fH%.1f\"/>", f->left, y, f->right);
    }
    tacet__text_add(t, "</g><g class=\"tick\">");
    for (size_t i = 0; i < f->y.count; i++) {
        number(words, &f->y, f->y.ticks[i]);
        tacet__text_format(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", f->left - 8,
                           py(f, f->y.ticks[i]) + 4, words);
    }
    for (size_t i = 0; i < f->x.count; i++) {
        const double x = px(f, f->x.ticks[i]);
        number(words, &f->x, f->x.ticks[i]);
        tacet__text_format(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>", x, f->bottom + 20, words);
    }
    tacet__text_add(t, "</g><g class=\"axis\">");
    for (size_t i = 0; i < f->x.count; i++) {
        tacet__text_format(t, "<path d=\"M%.1f %.1fv5\"/>", px(f, f->x.ticks[i]), f->bottom);
    }
    tacet__text_format(t, "<path d=\"M%.1f %.1fV%.1fH%.1f\"/></g>", f->left, f->top, f->bottom, f->right);
    tacet__text_format(t, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                       (f->left + f->right) / 2, f->bottom + 42);
    label(t, &c->x);
    tacet__text_format(t, "</text><text class=\"name\" x=\"4\" y=\"14\">");
    label(t, &c->y);
    tacet__text_add(t, "</text>");
}

static bool drawn(const tacet__series *s, const double *v, size_t j) {
    return isfinite(s->x[j]) && isfinite(v[j]);
}

static void band(tacet__text *t, const tacet__series *s, const frame *f, size_t colour) {
    if (s->style == TACET__SERIES_LEVEL) {
        if (drawn(s, s->lower, 0) && drawn(s, s->upper, 0)) {
            tacet__text_format(t, "<path class=\"band\" style=\"fill:var(--s%zu)\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/>",
                               colour, f->left, py(f, s->upper[0]), f->right, py(f, s->lower[0]), f->left);
        }
        return;
    }
    for (size_t start = 0; start < s->count; start++) {
        size_t end = start;
        while (end < s->count && drawn(s, s->lower, end) && drawn(s, s->upper, end)) {
            end++;
        }
        if (end == start + 1) { /* one point: a bar */
            tacet__text_format(t, "<path class=\"line\" style=\"stroke:var(--s%zu)\" d=\"M%.1f %.1fV%.1f\"/>", colour,
                               px(f, s->x[start]), py(f, s->upper[start]), py(f, s->lower[start]));
        }
        if (end > start + 1) {
            tacet__text_format(t, "<path class=\"band\" style=\"fill:var(--s%zu)\" d=\"", colour);
            for (size_t j = start; j < end; j++) {
                tacet__text_format(t, "%c%.1f %.1f", j == start ? 'M' : 'L', px(f, s->x[j]), py(f, s->upper[j]));
            }
            for (size_t j = end; j-- > start;) {
                tacet__text_format(t, "L%.1f %.1f", px(f, s->x[j]), py(f, s->lower[j]));
            }
            tacet__text_add(t, "Z\"/>");
        }
        start = end;
    }
}

static void line(tacet__text *t, const tacet__series *s, const frame *f, size_t colour) {
    bool pen = false;
    tacet__text_format(t, "<path class=\"line\" style=\"stroke:var(--s%zu);stroke-dasharray:%s\" d=\"", colour,
                       DASHES[colour]);
    for (size_t j = 0; j < s->count; j++) {
        if (!drawn(s, s->y, j)) {
            pen = false;
            continue;
        }
        const double x = px(f, s->x[j]);
        const double y = py(f, s->y[j]);
        if (s->style == TACET__SERIES_LEVEL) {
            tacet__text_format(t, "M%.1f %.1fH%.1f", f->left, y, f->right);
        } else if (!pen) {
            tacet__text_format(t, "M%.1f %.1f", x, y);
        } else if (s->style == TACET__SERIES_STEP) {
            tacet__text_format(t, "H%.1fV%.1f", x, y);
        } else {
            tacet__text_format(t, "L%.1f %.1f", x, y);
        }
        pen = true;
    }
    tacet__text_add(t, "\"/>");
}

static void point(tacet__text *t, double x, double y, size_t colour) {
    switch (colour % 4) {
    case 0:
        tacet__text_format(t, "M%.1f %.1fa3 3 0 1 0 6 0a3 3 0 1 0 -6 0", x - 3, y);
        break;
    case 1:
        tacet__text_format(t, "M%.1f %.1fl3.4 6h-6.8z", x, y - 3.6);
        break;
    case 2:
        tacet__text_format(t, "M%.1f %.1fh5v5h-5z", x - 2.5, y - 2.5);
        break;
    default:
        tacet__text_format(t, "M%.1f %.1fl3.6 3.6l-3.6 3.6l-3.6 -3.6z", x, y - 3.6);
        break;
    }
}

static void points(tacet__text *t, const tacet__series *s, const frame *f, size_t colour) {
    tacet__text_format(t, "<path class=\"dot\" style=\"fill:var(--s%zu)\" d=\"", colour);
    for (size_t j = 0; j < s->count; j++) {
        if (drawn(s, s->y, j)) {
            point(t, px(f, s->x[j]), py(f, s->y[j]), colour);
        }
    }
    tacet__text_add(t, "\"/>");
}

/* Letters as a reader counts them: bytes that continue a UTF-8 sequence are none. */
static double text_width(const char *words) {
    double width = 0;
    for (; *words != '\0'; words++) {
        if (((unsigned char)*words & 0xc0) != 0x80) {
            width += *words >= '0' && *words <= '9' ? DIGIT : LETTER;
        }
    }
    return width;
}

/* Lays the legend out in rows; draws it when t is not NULL. Returns its height. */
static double legend(tacet__text *t, const tacet__chart *c, const frame *f, double top) {
    static const double KEY = 38;
    static const double GAP = 22;
    static const double ROW = 22;
    double x = 4;
    double y = top;
    for (size_t i = 0; i < c->count; i++) {
        const tacet__series *s = &c->series[i];
        const size_t colour = i % TACET__PALETTE;
        const double wide = KEY + text_width(s->name) + GAP;
        if (x > 4 && x + wide - GAP > f->width) {
            x = 4;
            y += ROW;
        }
        if (t != NULL) {
            if (s->style == TACET__SERIES_POINTS) {
                tacet__text_format(t, "<path class=\"dot\" style=\"fill:var(--s%zu)\" d=\"", colour);
                point(t, x + 15, y, colour);
                tacet__text_add(t, "\"/>");
            } else {
                tacet__text_format(t,
                                   "<path class=\"line\" style=\"stroke:var(--s%zu);stroke-dasharray:%s\" "
                                   "d=\"M%.1f %.1fh30\"/>",
                                   colour, DASHES[colour], x, y);
            }
            tacet__text_format(t, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x + KEY, y + 4.5);
            tacet__text_escape(t, s->name);
            tacet__text_add(t, "</text>");
        }
        x += wide;
    }
    return c->count > 0 ? y - top + ROW : 0;
}

static double widest_tick(const tacet__scale *s) {
    double widest = 0;
    for (size_t i = 0; i < s->count; i++) {
        char words[32];
        number(words, s, s->ticks[i]);
        widest = fmax(widest, text_width(words));
    }
    return widest;
}

static void open_svg(tacet__text *t, const tacet__chart *c, const frame *f, size_t id, bool standalone) {
    tacet__text_format(t, "<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"c%zu\"",
                       f->width, f->height, id);
    if (standalone) {
        tacet__text_format(t, " xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\"", f->width,
                           f->height);
    }
    tacet__text_format(t, "><title id=\"c%zu\">", id);
    tacet__text_escape(t, c->title);
    tacet__text_add(t, "</title>");
    if (standalone) {
        tacet__text_add(t, "<style>");
        tacet__chart_style(t, "svg");
        tacet__text_add(t, "svg{background:#fff}@media(prefers-color-scheme:dark){svg{background:#15181d}}"
                           ".chart text{font:13px system-ui,sans-serif;fill:var(--fore)}"
                           ".chart .tick text{fill:var(--soft)}.chart path{fill:none}"
                           ".grid path{stroke:var(--grid)}.axis path{stroke:var(--soft)}"
                           ".line{stroke-width:2.2;stroke-linejoin:round}.band{opacity:.16}.dot{opacity:.75}</style>");
    }
}

void tacet__chart_svg(tacet__text *t, const tacet__chart *c, int width, size_t id, bool standalone) {
    frame f = {.width = width, .top = 28};
    const bool narrow = width < 600;
    scale_for(&f.x, c, false, narrow ? 5 : 9);
    scale_for(&f.y, c, true, 5);
    f.left = fmax(24, widest_tick(&f.y) + 12);
    char last[32];
    number(last, &f.x, f.x.ticks[f.x.count > 0 ? f.x.count - 1 : 0]);
    f.right = f.width - fmax(10, fmax(text_width("0000"), text_width(last)) / 2 + 2);
    f.bottom = f.top + (narrow ? 230 : 280);
    f.height = f.bottom + 66 + legend(NULL, c, &f, 0);
    open_svg(t, c, &f, id, standalone);
    axes(t, c, &f);
    for (size_t i = 0; i < c->count; i++) {
        if (c->series[i].lower != NULL && c->series[i].upper != NULL) {
            band(t, &c->series[i], &f, i % TACET__PALETTE);
        }
    }
    /* The first series is drawn last, on top: it is the one a report is about. */
    for (size_t i = c->count; i-- > 0;) {
        if (c->series[i].style == TACET__SERIES_POINTS) {
            points(t, &c->series[i], &f, i % TACET__PALETTE);
        } else {
            line(t, &c->series[i], &f, i % TACET__PALETTE);
            /* Few points are shown for what they are: what lies between them was not measured. */
            if (c->series[i].count <= MARKED && c->series[i].style == TACET__SERIES_LINE) {
                points(t, &c->series[i], &f, i % TACET__PALETTE);
            }
        }
    }
    (void)legend(t, c, &f, f.bottom + 68);
    tacet__text_add(t, "</svg>");
}
