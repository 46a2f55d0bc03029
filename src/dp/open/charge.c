/* SPDX-License-Identifier: Apache-2.0 */
/* charge.c - what a charge may say: texts that print, numbers that fit the claim.
 * Ring: shared. Source: pure DP as zCDP, Bun & Steinke 2016, Prop. 1.4; pure DP as Gaussian DP, from the trade-off
 * functions of Dong, Roth & Su 2022 (src/dp/ledger/README.md has the step). Cost: one pass over the texts. */
#include <tacet/dp/open/charge.h>

#include "core/fail.h"
#include "dp/open/entry.h"

#include <math.h>
#include <string.h>

static const struct {
    tacet_accounting accounting;
    const char *name;
} ACCOUNTINGS[] = {
    {TACET_ACCOUNTING_BASIC, "basic"},
    {TACET_ACCOUNTING_ZCDP, "zcdp"},
    {TACET_ACCOUNTING_GAUSSIAN, "gaussian"},
};
enum { ACCOUNTING_COUNT = sizeof ACCOUNTINGS / sizeof ACCOUNTINGS[0] };

const char *tacet_accounting_name(tacet_accounting accounting) {
    for (size_t i = 0; i < ACCOUNTING_COUNT; i++) {
        if (ACCOUNTINGS[i].accounting == accounting) {
            return ACCOUNTINGS[i].name;
        }
    }
    return "?";
}

const char *tacet_claim_name(tacet_claim claim) {
    static const char *const NAMES[] = {"uncovered", "pure", "approx", "zcdp", "gaussian"};
    const unsigned index = (unsigned)claim;
    return index < sizeof NAMES / sizeof NAMES[0] ? NAMES[index] : "?";
}

/* The smallest mu, rounded up, at which N(0,1) against N(mu,1) is at least as far apart as anything eps-DP allows:
 * Phi(-mu/2) = 1/(1 + e^eps). Infinity where that is below what a double can say. */
static double pure_as_gaussian(double eps) {
    const double target = 1 / (1 + exp(eps));
    double low = 0;
    double high = 64; /* Phi(-32) is the edge of the normal range */
    if (!(0.5 * erfc(high / (2 * sqrt(2))) < target)) {
        return INFINITY;
    }
    for (int i = 0; i < 100; i++) {
        const double middle = 0.5 * (low + high);
        if (0.5 * erfc(middle / (2 * sqrt(2))) > target) {
            low = middle;
        } else {
            high = middle;
        }
    }
    /* erfc is good to a few units in the last place: near eps = 0 that is an absolute error in mu. */
    return high * (1 + 1e-12) + 1e-15;
}

static void claim(tacet_charge *charge, tacet_claim kind, double eps, double delta, double rho, double mu) {
    charge->claim = kind;
    charge->eps = eps;
    charge->delta = delta;
    charge->rho = rho;
    charge->mu = mu;
}

void tacet_charge_init(tacet_charge *charge) {
    memset(charge, 0, sizeof *charge);
    charge->mechanism = "none";
    claim(charge, TACET_CLAIM_UNCOVERED, INFINITY, 1, INFINITY, INFINITY);
}

void tacet_charge_pure(tacet_charge *charge, double eps) {
    claim(charge, TACET_CLAIM_PURE, eps, 0, nextafter(eps * eps / 2, INFINITY), pure_as_gaussian(eps));
}

void tacet_charge_approx(tacet_charge *charge, double eps, double delta) {
    claim(charge, TACET_CLAIM_APPROX, eps, delta, INFINITY, INFINITY);
}

void tacet_charge_zcdp(tacet_charge *charge, double rho, double eps, double delta) {
    claim(charge, TACET_CLAIM_ZCDP, eps, delta, rho, INFINITY);
}

void tacet_charge_gaussian(tacet_charge *charge, double mu, double eps, double delta) {
    claim(charge, TACET_CLAIM_GAUSSIAN, eps, delta, nextafter(mu * mu / 2, INFINITY), mu);
}

/* Length of the UTF-8 character at s; 0 when it is none, or a control character. */
static size_t character(const unsigned char *s) {
    if (s[0] < 0x80) {
        return s[0] >= 0x20 && s[0] != 0x7f ? 1 : 0;
    }
    const size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) { /* a terminating zero stops here too */
            return 0;
        }
    }
    const bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool surrogate = s[0] == 0xed && s[1] > 0x9f;
    const bool beyond = s[0] == 0xf4 && s[1] > 0x8f;
    const bool c1_control = s[0] == 0xc2 && s[1] < 0xa0;
    return overlong || surrogate || beyond || c1_control ? 0 : length;
}

static tacet_status check_text(const char *text, const char *name, size_t least, size_t most, tacet_error *err) {
    const size_t length = text == NULL ? 0 : strnlen(text, most + 1);
    if (length < least) {
        return tacet__fail(err, TACET_INVALID, "charge: %s is missing", name);
    }
    if (length > most) {
        return tacet__fail(err, TACET_INVALID, "charge: %s is longer than %zu bytes", name, most);
    }
    for (size_t i = 0; i < length;) {
        const size_t step = character((const unsigned char *)text + i);
        if (step == 0) {
            return tacet__fail(err, TACET_INVALID, "charge: %s has a control character or is not UTF-8", name);
        }
        i += step;
    }
    return TACET_OK;
}

#define TEXT(field, name, least, most)                                                                                 \
    { offsetof(tacet_charge, field), name, least, most }
/* In the order in which a record has them: a text more would be another format. */
const tacet__charge_field tacet__charge_fields[TACET__CHARGE_TEXTS] = {
    TEXT(what, "what", 1, TACET_CHARGE_TEXT_MOST),
    TEXT(to_whom, "to whom", 1, TACET_CHARGE_TEXT_MOST),
    TEXT(mechanism, "mechanism", 1, TACET_CHARGE_TEXT_MOST),
    TEXT(parameters, "parameters", 0, TACET_CHARGE_PARAMS_MOST),
    TEXT(group, "group", 0, TACET_CHARGE_TEXT_MOST),
    TEXT(part, "part", 0, TACET_CHARGE_TEXT_MOST),
    TEXT(covered_fields, "covered fields", 0, TACET_CHARGE_TEXT_MOST),
    TEXT(uncovered_fields, "uncovered fields", 0, TACET_CHARGE_TEXT_MOST),
    TEXT(covered_records, "covered records", 0, TACET_CHARGE_TEXT_MOST),
};

const char *tacet__charge_text(const tacet_charge *charge, size_t i) {
    const char *text = NULL;
    memcpy(&text, (const char *)charge + tacet__charge_fields[i].at, sizeof text);
    return text;
}

static tacet_status check_texts(const tacet_charge *c, tacet_error *err) {
    for (size_t i = 0; i < TACET__CHARGE_TEXTS; i++) {
        const tacet__charge_field *f = &tacet__charge_fields[i];
        TACET_OR_RETURN(check_text(tacet__charge_text(c, i), f->name, f->least, f->most, err));
    }
    const bool group = c->group != NULL && c->group[0] != '\0';
    const bool part = c->part != NULL && c->part[0] != '\0';
    if (group != part) {
        return tacet__fail(err, TACET_INVALID, "charge: group and part go together");
    }
    return TACET_OK;
}

tacet_status tacet_charge_check(const tacet_charge *c, tacet_error *err) {
    if (c == NULL) {
        return tacet__fail(err, TACET_INVALID, "a charge is missing");
    }
    if (!(c->eps > 0) || !(c->rho > 0) || !(c->mu > 0)) {
        return tacet__fail(err, TACET_INVALID, "charge: eps, rho and mu must be > 0 (infinity: not claimed)");
    }
    if (!(c->delta >= 0 && c->delta <= 1)) {
        return tacet__fail(err, TACET_INVALID, "charge: delta must be in [0, 1] (1: not claimed)");
    }
    bool fits = false;
    switch (c->claim) {
    case TACET_CLAIM_UNCOVERED:
        fits = isinf(c->eps) && isinf(c->rho) && isinf(c->mu) && c->delta == 1;
        break;
    case TACET_CLAIM_PURE:
        fits = isfinite(c->eps) && c->delta == 0;
        break;
    case TACET_CLAIM_APPROX:
        fits = isfinite(c->eps) && c->delta > 0 && c->delta < 1;
        break;
    case TACET_CLAIM_ZCDP:
        fits = isfinite(c->rho);
        break;
    case TACET_CLAIM_GAUSSIAN:
        fits = isfinite(c->mu);
        break;
    }
    if (!fits) {
        return tacet__fail(err, TACET_INVALID, "charge: the numbers do not fit the claim '%s'",
                           tacet_claim_name(c->claim));
    }
    return check_texts(c, err);
}
