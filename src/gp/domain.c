/* domain.c - public domains: checked, points brought into them, points spread over them.
 * Ring: pure. Cost: O(d) a point (a ball passes over the points of its box that are outside). */
#include "gp/domain.h"

#include <math.h>

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
    }
    return TACET_OK;
}

static double centre(const tacet_domain *domain, size_t c) {
    if (domain->kind == TACET_DOMAIN_BALL) {
        return domain->centre == NULL ? 0 : domain->centre[c];
    }
    return 0.5 * domain->lower[c] + 0.5 * domain->upper[c];
}

void tacet__domain_clip(const tacet_domain *domain, double *x) {
    if (domain->kind == TACET_DOMAIN_BOX) {
        for (size_t c = 0; c < domain->d; c++) {
            const double v = isnan(x[c]) ? centre(domain, c) : x[c];
            x[c] = fmin(fmax(v, domain->lower[c]), domain->upper[c]);
        }
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

enum { SPREAD_TRIALS = 1 << 16 };

void tacet__domain_spread(const tacet_domain *domain, double *X, size_t count) {
    const size_t d = domain->d;
    double root = 2;
    for (int i = 0; i < 100; i++) {
        root = pow(1 + root, 1 / ((double)d + 1));
    }
    size_t n = 0;
    for (size_t j = 0; j < count; j++) {
        double *x = X + j * d;
        for (size_t trial = 0; trial < SPREAD_TRIALS; trial++) {
            n++;
            double norm2 = 0;
            for (size_t c = 0; c < d; c++) {
                const double u = fmod(0.5 + (double)n * pow(root, -(double)(c + 1)), 1.0);
                if (domain->kind == TACET_DOMAIN_BOX) {
                    x[c] = domain->lower[c] + u * (domain->upper[c] - domain->lower[c]);
                } else {
                    x[c] = 2 * u - 1;
                    norm2 += x[c] * x[c];
                }
            }
            if (domain->kind == TACET_DOMAIN_BOX || norm2 <= 1) {
                break;
            }
        }
        if (domain->kind == TACET_DOMAIN_BALL) {
            for (size_t c = 0; c < d; c++) {
                x[c] = centre(domain, c) + domain->radius * x[c];
            }
            tacet__domain_clip(domain, x);
        }
    }
}
