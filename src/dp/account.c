/* account.c - composition of charges: basic, zero-concentrated, Gaussian, mixed; parallel parts; a filter.
 * Ring: gate. Source: Dwork et al. 2006 (basic); Bun, Steinke 2016 (zCDP); Dong, Roth, Su 2022 (Gaussian DP);
 * McSherry 2009 (parallel); Feldman, Zrnic 2021, Whitehouse et al. 2023, Koskela et al. 2023 (filters).
 * Differs: one tally holds the sums of every rule, so that a rule is a way of reading it; sums are rounded up.
 * Proofs: src/dp/accounting.md. Cost: O(1) per tally operation, O(log parts) to find a part, O(parts) to add one.
 */
#include <tacet/dp/account.h>

#include <tacet/dp/open/calibrate.h>

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Ten charges of 0.1 must fit a budget of 1, although 0.1 as a double is a little more and sums are rounded up. */
static const double TOLERANCE = 1.0 + 0x1p-40;

static double add(double a, double b) {
    return b > 0.0 ? nextafter(a + b, INFINITY) : a;
}

void tacet_tally_init(tacet_tally *tally) {
    memset(tally, 0, sizeof *tally);
}

static double square(double x) {
    return nextafter(x * x, INFINITY);
}

/* What follows from eps-DP, unless the charge knows better (an exponential mechanism has rho = eps^2/8). */
static double pure_rho(const tacet_charge *c) {
    return fmin(c->rho, 0.5 * square(c->eps));
}

static double pure_mu(const tacet_charge *c) {
    double mu = INFINITY;
    (void)tacet_gdp_from_pure(&mu, c->eps, NULL); /* fails outside its range: then nothing is known */
    return fmin(c->mu, mu);
}

tacet_status tacet_tally_add(tacet_tally *tally, const tacet_charge *charge, tacet_error *err) {
    const tacet_status s = tacet_charge_check(charge, err);
    if (s != TACET_OK) {
        return s;
    }
    switch (charge->claim) {
    case TACET_CLAIM_PURE:
        tally->pure_eps = add(tally->pure_eps, charge->eps);
        tally->pure_rho = add(tally->pure_rho, pure_rho(charge));
        tally->pure_mu_sq = add(tally->pure_mu_sq, square(pure_mu(charge)));
        break;
    case TACET_CLAIM_APPROX:
        /* With probability 1 - delta an eps-DP mechanism (Kairouz, Oh, Viswanath 2015); delta is kept apart. */
        tally->approx_eps = add(tally->approx_eps, charge->eps);
        tally->approx_rho = add(tally->approx_rho, pure_rho(charge));
        tally->approx_mu_sq = add(tally->approx_mu_sq, square(pure_mu(charge)));
        tally->approx_delta = add(tally->approx_delta, charge->delta);
        break;
    case TACET_CLAIM_ZCDP:
        tally->zcdp_rho = add(tally->zcdp_rho, charge->rho);
        tally->stated_eps = add(tally->stated_eps, charge->eps);
        tally->stated_delta = add(tally->stated_delta, charge->delta);
        break;
    case TACET_CLAIM_GAUSSIAN:
        tally->gauss_mu_sq = add(tally->gauss_mu_sq, square(charge->mu));
        tally->stated_eps = add(tally->stated_eps, charge->eps);
        tally->stated_delta = add(tally->stated_delta, charge->delta);
        break;
    default: /* uncovered: shown in the ledger, not summed */
        break;
    }
    return TACET_OK;
}

void tacet_tally_join(tacet_tally *tally, const tacet_tally *other) {
    tally->pure_eps = add(tally->pure_eps, other->pure_eps);
    tally->pure_rho = add(tally->pure_rho, other->pure_rho);
    tally->pure_mu_sq = add(tally->pure_mu_sq, other->pure_mu_sq);
    tally->approx_eps = add(tally->approx_eps, other->approx_eps);
    tally->approx_rho = add(tally->approx_rho, other->approx_rho);
    tally->approx_mu_sq = add(tally->approx_mu_sq, other->approx_mu_sq);
    tally->approx_delta = add(tally->approx_delta, other->approx_delta);
    tally->zcdp_rho = add(tally->zcdp_rho, other->zcdp_rho);
    tally->gauss_mu_sq = add(tally->gauss_mu_sq, other->gauss_mu_sq);
    tally->stated_eps = add(tally->stated_eps, other->stated_eps);
    tally->stated_delta = add(tally->stated_delta, other->stated_delta);
}

void tacet_tally_merge(tacet_tally *tally, const tacet_tally *other) {
    tally->pure_eps = fmax(tally->pure_eps, other->pure_eps);
    tally->pure_rho = fmax(tally->pure_rho, other->pure_rho);
    tally->pure_mu_sq = fmax(tally->pure_mu_sq, other->pure_mu_sq);
    tally->approx_eps = fmax(tally->approx_eps, other->approx_eps);
    tally->approx_rho = fmax(tally->approx_rho, other->approx_rho);
    tally->approx_mu_sq = fmax(tally->approx_mu_sq, other->approx_mu_sq);
    tally->approx_delta = fmax(tally->approx_delta, other->approx_delta);
    tally->zcdp_rho = fmax(tally->zcdp_rho, other->zcdp_rho);
    tally->gauss_mu_sq = fmax(tally->gauss_mu_sq, other->gauss_mu_sq);
    tally->stated_eps = fmax(tally->stated_eps, other->stated_eps);
    tally->stated_delta = fmax(tally->stated_delta, other->stated_delta);
}

static double basic_eps(const tacet_tally *t) {
    return add(add(t->pure_eps, t->approx_eps), t->stated_eps);
}

static double basic_delta(const tacet_tally *t) {
    return add(t->approx_delta, t->stated_delta);
}

static double total_rho(const tacet_tally *t) {
    return add(add(t->pure_rho, t->approx_rho), add(t->zcdp_rho, 0.5 * t->gauss_mu_sq));
}

static double total_mu_sq(const tacet_tally *t) {
    /* zCDP alone does not bound the trade-off curve by a Gaussian one. */
    return t->zcdp_rho > 0.0 ? INFINITY : add(add(t->pure_mu_sq, t->approx_mu_sq), t->gauss_mu_sq);
}

/* eps of a sum of rho (of mu^2) at delta; 0 for nothing spent, infinity when delta is used up or nothing is known. */
static double rho_eps(double rho, double delta) {
    double eps = rho > 0.0 ? INFINITY : 0.0;
    if (eps > 0.0) {
        (void)tacet_zcdp_eps(&eps, rho, delta, NULL);
    }
    return eps;
}

static double mu_eps(double mu_sq, double delta) {
    double eps = mu_sq > 0.0 ? INFINITY : 0.0;
    if (eps > 0.0) {
        (void)tacet_gdp_eps(&eps, nextafter(sqrt(mu_sq), INFINITY), delta, NULL);
    }
    return eps;
}

static tacet_status check_delta(double delta, tacet_error *err) {
    return delta >= 0.0 && delta < 1.0 ? TACET_OK : tacet__fail(err, TACET_INVALID, "delta must be >= 0 and < 1");
}

tacet_status tacet_tally_eps(const tacet_tally *tally, double *eps, tacet_accounting accounting, double delta,
                             tacet_error *err) {
    const tacet_status s = check_delta(delta, err);
    if (s != TACET_OK) {
        return s;
    }
    const double left = delta - tally->approx_delta;
    switch (accounting) {
    case TACET_ACCOUNTING_BASIC:
        *eps = basic_delta(tally) <= delta * TOLERANCE ? basic_eps(tally) : INFINITY;
        return TACET_OK;
    case TACET_ACCOUNTING_ZCDP:
        *eps = left >= 0.0 ? rho_eps(total_rho(tally), left) : INFINITY;
        return TACET_OK;
    case TACET_ACCOUNTING_GAUSSIAN:
        *eps = left >= 0.0 ? mu_eps(total_mu_sq(tally), left) : INFINITY;
        return TACET_OK;
    }
    return tacet__fail(err, TACET_INVALID, "no such way of accounting");
}

tacet_status tacet_tally_best_eps(const tacet_tally *tally, double *eps, double delta, tacet_error *err) {
    double basic = INFINITY, zcdp = INFINITY, gaussian = INFINITY;
    const tacet_status s = tacet_tally_eps(tally, &basic, TACET_ACCOUNTING_BASIC, delta, err);
    if (s != TACET_OK) {
        return s;
    }
    (void)tacet_tally_eps(tally, &zcdp, TACET_ACCOUNTING_ZCDP, delta, NULL);
    (void)tacet_tally_eps(tally, &gaussian, TACET_ACCOUNTING_GAUSSIAN, delta, NULL);
    /* Each family by its own rule, the families by basic composition, delta shared between those that need one. */
    const bool both = tally->zcdp_rho > 0.0 && tally->gauss_mu_sq > 0.0;
    const double share = (delta - tally->approx_delta) * (both ? 0.5 : 1.0);
    const double families = share >= 0.0 ? add(add(tally->pure_eps, tally->approx_eps),
                                               add(rho_eps(tally->zcdp_rho, share), mu_eps(tally->gauss_mu_sq, share)))
                                         : INFINITY;
    *eps = fmin(fmin(basic, families), fmin(zcdp, gaussian));
    return TACET_OK;
}

tacet_status tacet_budget_check(const tacet_budget *budget, tacet_error *err) {
    if (!(budget->eps >= 1e-100 && budget->eps <= 1e100)) {
        return tacet__fail(err, TACET_INVALID, "the budget's eps must be > 0 and finite, and from 1e-100 to 1e100");
    }
    if (budget->accounting == TACET_ACCOUNTING_BASIC) {
        return check_delta(budget->delta, err);
    }
    if (budget->accounting != TACET_ACCOUNTING_ZCDP && budget->accounting != TACET_ACCOUNTING_GAUSSIAN) {
        return tacet__fail(err, TACET_INVALID, "no such way of accounting");
    }
    if (!(budget->delta_approx >= 0.0 && budget->delta_approx < budget->delta)) {
        return tacet__fail(err, TACET_INVALID, "what is set aside of delta must be >= 0 and less than delta");
    }
    if (!(budget->delta - budget->delta_approx >= 1e-100 && budget->delta < 1.0)) {
        return tacet__fail(err, TACET_INVALID, "the budget's delta must be > 0 and < 1, and at least 1e-100");
    }
    return TACET_OK;
}

tacet_status tacet_budget_fits(const tacet_budget *budget, const tacet_tally *tally, tacet_error *err) {
    const tacet_status s = tacet_budget_check(budget, err);
    if (s != TACET_OK) {
        return s;
    }
    const double left = budget->delta - budget->delta_approx;
    double spent, cap, delta = tally->approx_delta, delta_cap = budget->delta_approx;
    if (budget->accounting == TACET_ACCOUNTING_BASIC) {
        spent = basic_eps(tally);
        cap = budget->eps;
        delta = basic_delta(tally);
        delta_cap = budget->delta;
    } else if (budget->accounting == TACET_ACCOUNTING_ZCDP) {
        spent = total_rho(tally);
        (void)tacet_zcdp_rho(&cap, budget->eps, left, NULL); /* its arguments were checked above */
    } else {
        spent = sqrt(total_mu_sq(tally));
        (void)tacet_gdp_mu(&cap, budget->eps, left, NULL);
    }
    if (spent <= cap * TOLERANCE && delta <= delta_cap * TOLERANCE) {
        return TACET_OK;
    }
    return tacet__fail(err, TACET_BUDGET, "the privacy budget (eps %g, delta %g, %s composition) would be exceeded",
                       budget->eps, budget->delta, tacet_accounting_name(budget->accounting));
}

typedef struct account_part {
    char *name;
    tacet_tally tally;
} account_part;

typedef struct account_group {
    char *name;
    tacet_tally dearest;
    account_part *parts; /* by name */
    size_t count, capacity;
} account_group;

struct tacet_account {
    tacet_budget budget;
    tacet_tally everybody;
    account_group *groups;
    size_t count, capacity;
};

tacet_status tacet_account_create(tacet_account **out, const tacet_budget *budget, tacet_error *err) {
    *out = NULL;
    const tacet_status s = tacet_budget_check(budget, err);
    if (s != TACET_OK) {
        return s;
    }
    tacet_account *account = TACET__ZALLOC(tacet_account, 1);
    if (account == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for an account");
    }
    account->budget = *budget;
    *out = account;
    return TACET_OK;
}

void tacet_account_free(tacet_account *account) {
    if (account == NULL) {
        return;
    }
    for (size_t g = 0; g < account->count; g++) {
        for (size_t p = 0; p < account->groups[g].count; p++) {
            free(account->groups[g].parts[p].name);
        }
        free(account->groups[g].parts);
        free(account->groups[g].name);
    }
    free(account->groups);
    free(account);
}

/* Where the part is, or would be inserted. */
static size_t part_place(const account_group *group, const char *name, bool *found) {
    size_t lo = 0, hi = group->count;
    *found = false;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int order = strcmp(group->parts[mid].name, name);
        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* The group of this name, made when there is none; NULL when out of memory. An empty group costs nothing. */
static account_group *group_of(tacet_account *account, const char *name) {
    for (size_t g = 0; g < account->count; g++) {
        if (strcmp(account->groups[g].name, name) == 0) {
            return &account->groups[g];
        }
    }
    void *groups = account->groups;
    const bool grown = tacet__grow(&groups, &account->capacity, account->count + 1, sizeof *account->groups);
    account->groups = groups;
    char *copy = grown ? strdup(name) : NULL;
    if (copy == NULL) {
        return NULL;
    }
    account_group *group = &account->groups[account->count++];
    memset(group, 0, sizeof *group);
    group->name = copy;
    return group;
}

/* Likewise a part of a group, which has nothing spent when it is new. */
static account_part *part_of(account_group *group, const char *name) {
    bool found = false;
    const size_t at = part_place(group, name, &found);
    if (found) {
        return &group->parts[at];
    }
    void *parts = group->parts;
    const bool grown = tacet__grow(&parts, &group->capacity, group->count + 1, sizeof *group->parts);
    group->parts = parts;
    char *copy = grown ? strdup(name) : NULL;
    if (copy == NULL) {
        return NULL;
    }
    memmove(&group->parts[at + 1], &group->parts[at], (group->count - at) * sizeof *group->parts);
    group->count++;
    group->parts[at].name = copy;
    tacet_tally_init(&group->parts[at].tally);
    return &group->parts[at];
}

/* Everything but the group `except`, each other group at its dearest part. */
static void total_without(const tacet_account *account, tacet_tally *out, const account_group *except) {
    *out = account->everybody;
    for (size_t g = 0; g < account->count; g++) {
        if (&account->groups[g] != except) {
            tacet_tally_join(out, &account->groups[g].dearest);
        }
    }
}

void tacet_account_total(const tacet_account *account, tacet_tally *out) {
    total_without(account, out, NULL);
}

tacet_status tacet_account_admit(tacet_account *account, const tacet_charge *charge, tacet_error *err) {
    tacet_tally total, next;
    tacet_tally_init(&next);
    tacet_status s = tacet_tally_add(&next, charge, err);
    if (s != TACET_OK) {
        return s;
    }
    account_group *group = NULL;
    account_part *part = NULL;
    if (charge->group != NULL) {
        group = group_of(account, charge->group);
        part = group != NULL ? part_of(group, charge->part) : NULL;
        if (part == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for an account");
        }
        tacet_tally_join(&next, &part->tally);
    } else {
        tacet_tally_join(&next, &account->everybody);
    }
    if (group != NULL) {
        tacet_tally dearest = group->dearest;
        tacet_tally_merge(&dearest, &next);
        total_without(account, &total, group);
        tacet_tally_join(&total, &dearest);
        s = tacet_budget_fits(&account->budget, &total, err);
        if (s == TACET_OK) {
            part->tally = next;
            group->dearest = dearest;
        }
        return s;
    }
    const tacet_tally before = account->everybody;
    account->everybody = next;
    tacet_account_total(account, &total);
    s = tacet_budget_fits(&account->budget, &total, err);
    if (s != TACET_OK) {
        account->everybody = before;
    }
    return s;
}
