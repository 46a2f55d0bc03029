/* SPDX-License-Identifier: Apache-2.0 */
/* chart.c - a chart as SVG: axes with units and ticks, grid, bands, lines, steps, points, cells, legend.
 * Ring: open. Colours (style/look.css) are those of Okabe and Ito (2008), which readers with any of the common colour
 * deficiencies can tell apart; dash patterns and point shapes differ as well, so that it also prints in grey. Cost:
 * O(points). */
#include "report/style.h"
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const DASHES[TACET__PALETTE] = {"none", "8 4", "2 3", "9 3 2 3", "14 4", "4 2", "1 5"};

enum { MARKED = 12 };             /* a line of so many points has them marked */
static const double LETTER = 6.9; /* mean width of a letter at 13 pixels */
static const double WIDEST = .3;  /* share of the width for a tick beside the y axis: a level's name may be long */
static const double LEVEL = 32;   /* at least between levels on the y axis */
static const double DIGIT = 8.3;  /* of a digit, in the widest of the usual fonts: tick labels are not to be cut */

typedef struct frame {
    double width, height;            /* of the picture */
    double left, right, top, bottom; /* of the plot */
    tacet__scale x, y;
} frame;

/* What all series cover; false when there is nothing to draw. On a log axis only values above 0 count. */
static bool extent(const tacet__chart *c, bool vertical, bool log, double *lo, double *hi) {
    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        const tacet__series *s = &c->series[i];
        if (!vertical && s->style == TACET__SERIES_LEVEL) {
            continue;
        }
        const double *const arrays[] = {vertical ? s->y : s->x, vertical ? s->lower : s->left,
                                        vertical ? s->upper : s->right};
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
    const tacet__axis *axis = vertical ? &c->y : &c->x;
    const bool log = axis->kind == TACET__AXIS_LOG;
    double lo = 0;
    double hi = 1;
    if (!extent(c, vertical, log, &lo, &hi)) {
        lo = log ? 0.1 : 0;
        hi = 1;
    }
    /* Few values on a log axis, as of eps, were chosen: they are what a reader looks for. */
    double values[TACET__TICKS];
    if (!vertical && log && !axis->bounded &&
        tacet__scale_values(scale, values, places(c, values, TACET__TICKS), log, wanted)) {
        tacet__scale_texts(scale);
        return;
    }
    /* An axis that begins far above 0 makes small differences look large; one that always begins at 0 hides them.
     * A quantity that comes close to nothing is shown down to nothing; a cloud of points is shown as it lies. */
    if (vertical && !log && lo > 0 && lo < 0.5 * hi && c->count > 0 && c->series[0].style != TACET__SERIES_POINTS) {
        lo = 0;
    }
    tacet__scale_axis(scale, axis, lo, hi, wanted);
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
    if (axis->kind == TACET__AXIS_LOG) {
        tacet__text_add(t, ", log scale");
    }
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

/* As much of a tick's text as its room has, cut between characters. */
static void tick_text(tacet__text *t, const char *words, double room) {
    static const char MORE[] = "\xe2\x80\xa6"; /* an ellipsis */
    char kept[32] = "";
    if (text_width(words) <= room) {
        tacet__text_escape(t, words);
        return;
    }
    for (size_t end = 1; words[end - 1] != '\0' && end < sizeof kept; end++) {
        char piece[32];
        (void)snprintf(piece, sizeof piece, "%.*s", (int)end, words);
        if ((end <= 1 || text_width(piece) + LETTER <= room) && ((unsigned char)words[end] & 0xc0) != 0x80) {
            memcpy(kept, piece, sizeof kept);
        }
    }
    tacet__text_escape(t, kept);
    tacet__text_add(t, MORE);
}

static void axes(tacet__text *t, const tacet__chart *c, const frame *f) {
    const double room = (f->right - f->left) / (double)(f->x.count > 0 ? f->x.count : 1);
    tacet__text_add(t, "<g class=\"grid\">");
    for (size_t i = 0; i < f->y.count; i++) {
        const double y = py(f, f->y.ticks[i]);
        tacet__text_format(t, "<path d=\"M%.1f %.1fH%.1f\"/>", f->left, y, f->right);
    }
    tacet__text_add(t, "</g><g class=\"tick\">");
    for (size_t i = 0; i < f->y.count; i++) {
        tacet__text_format(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", f->left - 8,
                           py(f, f->y.ticks[i]) + 4);
        tick_text(t, f->y.texts[i], WIDEST * f->width);
        tacet__text_add(t, "</text>");
    }
    for (size_t i = 0; i < f->x.count; i++) {
        tacet__text_format(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", px(f, f->x.ticks[i]),
                           f->bottom + 20);
        tick_text(t, f->x.texts[i], c->x.kind == TACET__AXIS_LEVELS ? room : f->width);
        tacet__text_add(t, "</text>");
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

/* What one point errs by: bars up and down, and to the sides where that is said, too. */
static void bars(tacet__text *t, const tacet__series *s, const frame *f, size_t colour) {
    tacet__text_format(t, "<path class=\"line bars s%zu\" d=\"", colour);
    for (size_t j = 0; j < s->count; j++) {
        if (s->lower != NULL && drawn(s, s->lower, j) && drawn(s, s->upper, j)) {
            tacet__text_format(t, "M%.1f %.1fV%.1f", px(f, s->x[j]), py(f, s->lower[j]), py(f, s->upper[j]));
        }
        if (s->left != NULL && drawn(s, s->y, j) && isfinite(s->left[j]) && isfinite(s->right[j])) {
            tacet__text_format(t, "M%.1f %.1fH%.1f", px(f, s->left[j]), py(f, s->y[j]), px(f, s->right[j]));
        }
    }
    tacet__text_add(t, "\"/>");
}

static void band(tacet__text *t, const tacet__series *s, const frame *f, size_t colour) {
    if (s->style == TACET__SERIES_LEVEL) {
        if (drawn(s, s->lower, 0) && drawn(s, s->upper, 0)) {
            tacet__text_format(t, "<path class=\"band fill s%zu\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/>", colour, f->left,
                               py(f, s->upper[0]), f->right, py(f, s->lower[0]), f->left);
        }
        return;
    }
    for (size_t start = 0; start < s->count; start++) {
        size_t end = start;
        while (end < s->count && drawn(s, s->lower, end) && drawn(s, s->upper, end)) {
            end++;
        }
        if (end == start + 1) { /* one point: a bar */
            tacet__text_format(t, "<path class=\"line s%zu\" d=\"M%.1f %.1fV%.1f\"/>", colour, px(f, s->x[start]),
                               py(f, s->upper[start]), py(f, s->lower[start]));
        }
        if (end > start + 1) {
            tacet__text_format(t, "<path class=\"band fill s%zu\" d=\"", colour);
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
    if (s->style == TACET__SERIES_CONTOUR) {
        tacet__text_add(t, "<path class=\"contour\" d=\"");
    } else {
        tacet__text_format(t, "<path class=\"line s%zu\" stroke-dasharray=\"%s\" d=\"", colour, DASHES[colour]);
    }
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

/* How many different numbers there are. */
static size_t different(const double *v, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < i && v[j] != v[i]) {
            j++;
        }
        found += j == i;
    }
    return found;
}

/* As it is printed: edges of two squares that touch are the same number. */
static double tenth(double v) {
    return nearbyint(10 * v) / 10;
}

/* A square about each point, as wide as points are apart; what lies outside of the axes is cut off. */
static void cells(tacet__text *t, const tacet__chart *c, const tacet__series *s, const frame *f, size_t colour) {
    const size_t columns = different(s->x, s->count), rows = different(s->y, s->count);
    const double wide = (f->right - f->left) / (double)(c->x.kind == TACET__AXIS_LEVELS ? c->x.level_count
                                                        : columns > 1                   ? columns - 1
                                                                                        : 1);
    const double high = (f->bottom - f->top) / (double)(c->y.kind == TACET__AXIS_LEVELS ? c->y.level_count
                                                        : rows > 1                      ? rows - 1
                                                                                        : 1);
    double least = (double)INFINITY;
    double most = -(double)INFINITY;
    for (size_t j = 0; j < s->count; j++) {
        least = fmin(least, isfinite(s->z[j]) ? s->z[j] : least);
        most = fmax(most, isfinite(s->z[j]) ? s->z[j] : most);
    }
    for (size_t j = 0; j < s->count; j++) {
        if (!drawn(s, s->y, j) || !isfinite(s->z[j])) {
            continue;
        }
        const double share = most > least ? (s->z[j] - least) / (most - least) : 0.5;
        const double x = px(f, s->x[j]), y = py(f, s->y[j]);
        const double left = tenth(fmax(f->left, x - fmax(6, wide) / 2));
        const double top = tenth(fmax(f->top, y - fmax(6, high) / 2));
        tacet__text_format(t,
                           "<rect class=\"fill s%zu\" opacity=\"%.3f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                           "height=\"%.1f\" shape-rendering=\"crispEdges\">",
                           colour, 0.05 + 0.95 * share, left, top, tenth(fmin(f->right, x + fmax(6, wide) / 2)) - left,
                           tenth(fmin(f->bottom, y + fmax(6, high) / 2)) - top);
        if (s->words != NULL) {
            tacet__text_add(t, "<title>");
            tacet__text_escape(t, s->words[j]);
            tacet__text_add(t, "</title>");
        }
        tacet__text_add(t, "</rect>");
    }
}

/* What the pointer is told at each point. */
static void spots(tacet__text *t, const tacet__series *s, const frame *f) {
    for (size_t j = 0; s->words != NULL && j < s->count; j++) {
        if (drawn(s, s->y, j) && s->words[j][0] != '\0') {
            tacet__text_format(t, "<circle class=\"spot\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"><title>", px(f, s->x[j]),
                               py(f, s->y[j]));
            tacet__text_escape(t, s->words[j]);
            tacet__text_add(t, "</title></circle>");
        }
    }
}

static void points(tacet__text *t, const tacet__series *s, const frame *f, size_t colour) {
    tacet__text_format(t, "<path class=\"dot fill s%zu\" d=\"", colour);
    for (size_t j = 0; j < s->count; j++) {
        if (drawn(s, s->y, j)) {
            point(t, px(f, s->x[j]), py(f, s->y[j]), colour);
        }
    }
    tacet__text_add(t, "\"/>");
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
            if (s->style == TACET__SERIES_CELLS) {
                tacet__text_format(t, "<path class=\"fill s%zu\" d=\"M%.1f %.1fh24v12h-24z\"/>", colour, x + 3, y - 6);
            } else if (s->style == TACET__SERIES_POINTS) {
                tacet__text_format(t, "<path class=\"dot fill s%zu\" d=\"", colour);
                point(t, x + 15, y, colour);
                tacet__text_add(t, "\"/>");
            } else if (s->style == TACET__SERIES_CONTOUR) {
                tacet__text_format(t, "<path class=\"contour\" d=\"M%.1f %.1fh30\"/>", x, y);
            } else {
                tacet__text_format(t,
                                   "<path class=\"line s%zu\" stroke-dasharray=\"%s\" "
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

static double widest_tick(const tacet__scale *s, double most) {
    double widest = 0;
    for (size_t i = 0; i < s->count; i++) {
        widest = fmax(widest, fmin(most, text_width(s->texts[i])));
    }
    return widest;
}

/* The picture in words, for who does not see it. */
static void describe(tacet__text *t, const tacet__chart *c) {
    tacet__text_add(t, "<desc>");
    for (size_t i = 0; i < c->count; i++) {
        const tacet__series *s = &c->series[i];
        const double *v = s->z != NULL ? s->z : s->y;
        double least = (double)INFINITY, most = -(double)INFINITY;
        for (size_t j = 0; j < s->count; j++) {
            least = fmin(least, isfinite(v[j]) ? v[j] : least);
            most = fmax(most, isfinite(v[j]) ? v[j] : most);
        }
        tacet__text_escape(t, s->name);
        if (least <= most && (s->z != NULL || c->y.kind <= TACET__AXIS_LOG)) {
            tacet__text_format(t, ": %zu values from %.4g to %.4g. ", s->count, least, most);
        } else {
            tacet__text_format(t, ": %zu values. ", s->count);
        }
    }
    tacet__text_add(t, "</desc>");
}

static void open_svg(tacet__text *t, const tacet__chart *c, const frame *f, tacet__chart_form form) {
    tacet__text_format(t, "<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\"", f->width, f->height);
    if (form != TACET__CHART_IN_PAGE) {
        tacet__text_add(t, " xmlns=\"http://www.w3.org/2000/svg\"");
    }
    if (form == TACET__CHART_FILE) {
        tacet__text_format(t, " width=\"%.0f\" height=\"%.0f\"", f->width, f->height);
    }
    tacet__text_add(t, " aria-label=\"");
    tacet__text_escape(t, c->title);
    tacet__text_add(t, "\">");
    describe(t, c);
    if (form == TACET__CHART_FILE) {
        tacet__text_add(t, "<style>");
        tacet__text_add(t, tacet__style_look);
        tacet__text_add(t, "</style>");
    }
}

static void series(tacet__text *t, const tacet__chart *c, const frame *f, size_t i) {
    const tacet__series *s = &c->series[i];
    const size_t colour = i % TACET__PALETTE;
    if (s->style == TACET__SERIES_CELLS) {
        cells(t, c, s, f, colour);
        return;
    }
    if (s->style == TACET__SERIES_POINTS) {
        points(t, s, f, colour);
    } else {
        line(t, s, f, colour);
        /* Few points are shown for what they are: what lies between them was not measured. */
        if (s->count <= MARKED && s->style == TACET__SERIES_LINE) {
            points(t, s, f, colour);
        }
    }
    spots(t, s, f);
}

void tacet__chart_svg(tacet__text *t, const tacet__chart *c, int width, tacet__chart_form form) {
    frame f = {.width = width, .top = 28};
    const bool narrow = width < 600;
    scale_for(&f.x, c, false, narrow ? 5 : 9);
    scale_for(&f.y, c, true, 5);
    f.left = fmax(24, widest_tick(&f.y, WIDEST * f.width) + 12);
    const double last = f.x.count > 0 ? text_width(f.x.texts[f.x.count - 1]) : 0;
    f.right = f.width - fmax(10, fmin(60, fmax(text_width("0000"), last) / 2 + 2));
    f.bottom = f.top + fmax(narrow ? 230 : 280, c->y.kind == TACET__AXIS_LEVELS ? LEVEL * (double)f.y.count : 0);
    f.height = f.bottom + 66 + legend(NULL, c, &f, 0);
    open_svg(t, c, &f, form);
    axes(t, c, &f);
    for (size_t i = 0; i < c->count; i++) {
        const tacet__series *s = &c->series[i];
        if (s->style == TACET__SERIES_POINTS && (s->lower != NULL || s->left != NULL)) {
            bars(t, s, &f, i % TACET__PALETTE);
        } else if (s->lower != NULL && s->upper != NULL) {
            band(t, s, &f, i % TACET__PALETTE);
        }
    }
    /* The first series is drawn last, on top: it is the one a report is about. Cells are below all. */
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = c->count; i-- > 0;) {
            if ((c->series[i].style == TACET__SERIES_CELLS) == (pass == 0)) {
                series(t, c, &f, i);
            }
        }
    }
    (void)legend(t, c, &f, f.bottom + 68);
    tacet__text_add(t, "</svg>");
}
