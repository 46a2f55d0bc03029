/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - public domains: checked, points brought into them, points spread over them.
 * Ring: pure. Cost: O(d) a point (a ball passes over the points of its box that are outside). */
#include "gp/domain.h"

#include <math.h>
#include <stdbool.h>

#include "core/fail.h"

tacet_status tacet__domain_check(const tacet_domain *domain, tacet_error *err) {
    if (domain == NULL || domain->d == 0) {
        return tacet__fail(err, TACET_INVALID, "a domain needs at least one dimension");
    }
    if (domain->kind == TACET_DOMAIN_BALL) {
        if (!(domain->radius > 0 && isfinite(domain->radius))) {
            return tacet__fail(err, TACET_INVALID, "the radius of a ball must be finite and above 0");
        }
        for (size_t c = 0; domain->centre != NULL && c < domain->d; c++) {
            if (!isfinite(domain->centre[c])) {
                return tacet__fail(err, TACET_INVALID, "coordinate %zu of the ball's centre is not finite", c);
            }
        }
        return TACET_OK;
    }
    if (domain->kind != TACET_DOMAIN_BOX || domain->lower == NULL || domain->upper == NULL) {
        return tacet__fail(err, TACET_INVALID, "a domain is a ball, or a box with its bounds");
    }
    for (size_t c = 0; c < domain->d; c++) {
        if (!(domain->lower[c] < domain->upper[c] && isfinite(domain->upper[c] - domain->lower[c]))) {
            return tacet__fail(err, TACET_INVALID, "the box is empty or not finite in coordinate %zu", c);
        }
        if (domain->levels != NULL && domain->levels[c] == 1) {
            return tacet__fail(err, TACET_INVALID, "coordinate %zu has one level: leave it out", c);
        }
    }
    return TACET_OK;
}

static double centre(const tacet_domain *domain, size_t c) {
    if (domain->kind == TACET_DOMAIN_BALL) {
        return domain->centre == NULL ? 0 : domain->centre[c];
    }
    return 0.5 * domain->lower[c] + 0.5 * domain->upper[c];
}

enum { SPREAD_TRIALS = 1 << 16, LEVELS_MOST = 1000000 };

/* Coordinates of the choice that c belongs to. */
static size_t choice_size(const tacet_domain *domain, size_t c) {
    size_t size = 0;
    for (size_t k = 0; k < domain->d; k++) {
        size += domain->choice[k] == domain->choice[c];
    }
    return size;
}

static bool first_of_choice(const tacet_domain *domain, size_t c) {
    size_t k = 0;
    while (domain->choice[k] != domain->choice[c]) {
        k++;
    }
    return k == c;
}

/* How many values coordinate c brings: its levels, or those of the choice whose first coordinate it is; 1: none of its
 * own; 0: any. */
static size_t values_of(const tacet_domain *domain, size_t c) {
    if (domain->kind != TACET_DOMAIN_BOX) {
        return 0;
    }
    if (domain->choice != NULL && domain->choice[c] > 0) {
        return first_of_choice(domain, c) ? choice_size(domain, c) : 1;
    }
    return domain->levels != NULL ? domain->levels[c] : 0;
}

size_t tacet__domain_agree(const tacet_domain *domain, const double *x, const double *y, size_t *columns) {
    size_t same = 0;
    *columns = 0;
    for (size_t c = 0; c < domain->d; c++) {
        const bool choice = domain->choice != NULL && domain->choice[c] > 0;
        bool equal = x[c] == y[c];
        if (choice && !first_of_choice(domain, c)) {
            continue;
        }
        for (size_t e = c + 1; choice && e < domain->d; e++) {
            equal = equal && (domain->choice[e] != domain->choice[c] || x[e] == y[e]);
        }
        same += equal;
        ++*columns;
    }
    return same;
}

/* The product of all that have values; LEVELS_MOST + 1: more. */
static size_t combinations(const tacet_domain *domain, bool *any) {
    size_t product = 1;
    *any = false;
    for (size_t c = 0; c < domain->d; c++) {
        const size_t values = values_of(domain, c);
        *any = *any || values == 0;
        product = values == 0 ? product : values > LEVELS_MOST / product ? (size_t)LEVELS_MOST + 1 : product * values;
        if (product > LEVELS_MOST) {
            return product;
        }
    }
    return product;
}

size_t tacet__domain_levels(const tacet_domain *domain) {
    bool any = false;
    const size_t product = combinations(domain, &any);
    return any || product > LEVELS_MOST ? 0 : product;
}

/* Value k of coordinate c, and of its choice. */
static void set_value(const tacet_domain *domain, double *x, size_t c, size_t k, size_t values) {
    if (domain->choice == NULL || domain->choice[c] == 0) {
        x[c] = domain->lower[c] + (domain->upper[c] - domain->lower[c]) * (double)k / (double)(values - 1);
        return;
    }
    for (size_t e = c, at = 0; e < domain->d; e++) {
        if (domain->choice[e] == domain->choice[c]) {
            x[e] = at++ == k ? domain->upper[e] : domain->lower[e];
        }
    }
}

/* Inside the box: each coordinate with levels to its nearest one, each choice to its largest coordinate, the first of
 * equal ones. */
static void snap_values(const tacet_domain *domain, double *x) {
    for (size_t c = 0; c < domain->d; c++) {
        const size_t values = values_of(domain, c);
        size_t k = 0;
        if (values <= 1) { /* any value, or set with the first coordinate of its choice */
            continue;
        }
        if (domain->choice == NULL || domain->choice[c] == 0) {
            const double share = (x[c] - domain->lower[c]) / (domain->upper[c] - domain->lower[c]);
            k = (size_t)floor(share * (double)(values - 1) + 0.5);
        } else {
            double most = -INFINITY;
            for (size_t e = c, at = 0; e < domain->d; e++) {
                if (domain->choice[e] == domain->choice[c]) {
                    const double share = (x[e] - domain->lower[e]) / (domain->upper[e] - domain->lower[e]);
                    k = share > most ? at : k;
                    most = fmax(most, share);
                    at++;
                }
            }
        }
        set_value(domain, x, c, k, values);
    }
}

void tacet__domain_clip(const tacet_domain *domain, double *x) {
    if (domain->kind == TACET_DOMAIN_BOX) {
        for (size_t c = 0; c < domain->d; c++) {
            const double v = isnan(x[c]) ? centre(domain, c) : x[c];
            x[c] = fmin(fmax(v, domain->lower[c]), domain->upper[c]);
        }
        snap_values(domain, x);
        return;
    }
    double far = 0;
    for (size_t c = 0; c < domain->d; c++) {
        x[c] = isnan(x[c]) ? 0 : x[c] - centre(domain, c);
        far = fmax(far, fabs(x[c]));
    }
    double sum = 0;
    for (size_t c = 0; c < domain->d && far > 0; c++) {
        sum += (x[c] / far) * (x[c] / far);
    }
    const double length = far * sqrt(sum);
    double factor = length > domain->radius ? domain->radius / length : 1;
    if (!isfinite(length)) {
        factor = 0;
    }
    for (size_t c = 0; c < domain->d; c++) {
        x[c] = centre(domain, c) + (factor == 0 ? 0 : factor * x[c]);
    }
}

/* One trial: the n-th point of the recurrence. False: outside a ball. */
static bool spread_one(const tacet_domain *domain, double *x, double n, double root, size_t turn, bool in_turn) {
    double norm2 = 0;
    for (size_t c = 0; c < domain->d; c++) {
        const double u = fmod(0.5 + n * pow(root, -(double)(c + 1)), 1.0);
        const size_t values = values_of(domain, c);
        if (domain->kind == TACET_DOMAIN_BALL) {
            x[c] = 2 * u - 1;
            norm2 += x[c] * x[c];
        } else if (values == 0) {
            x[c] = domain->lower[c] + u * (domain->upper[c] - domain->lower[c]);
        } else if (values > 1) {
            set_value(domain, x, c, in_turn ? turn % values : (size_t)(u * (double)values), values);
            turn /= values;
        }
    }
    return norm2 <= 1;
}

void tacet__domain_spread(const tacet_domain *domain, double *X, size_t count) {
    const size_t d = domain->d;
    double root = 2;
    bool any = false;
    const size_t product = combinations(domain, &any);
    for (int i = 0; i < 100; i++) {
        root = pow(1 + root, 1 / ((double)d + 1));
    }
    size_t n = 0;
    for (size_t j = 0; j < count; j++) {
        double *x = X + j * d;
        bool inside = false;
        for (size_t trial = 0; trial < SPREAD_TRIALS && !inside; trial++) {
            inside = spread_one(domain, x, (double)++n, root, j, product <= count);
        }
        if (domain->kind == TACET_DOMAIN_BALL) {
            for (size_t c = 0; c < d; c++) {
                x[c] = centre(domain, c) + domain->radius * x[c];
            }
            tacet__domain_clip(domain, x);
        }
    }
}
