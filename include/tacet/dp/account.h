/* account.h - what many charges amount to together, and a filter that refuses the one that would be too much.
 *
 * A tally is a handful of sums, one per way of composing; adding is rounded up. Pure functions over plain data, any
 * thread; a tacet_account adds the bookkeeping of parallel composition (groups of disjoint parts, see charge.h) in
 * memory, for one thread at a time. The durable account is the ledger.
 * A filter's rule is fixed when the budget is made and not chosen as charges come, which is what keeps it valid when
 * the charges themselves depend on earlier answers (src/dp/accounting.md). */
#ifndef TACET_DP_ACCOUNT_H
#define TACET_DP_ACCOUNT_H

#include <stddef.h>
#include <tacet/dp/open/charge.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sums by what was claimed. Infinite: a charge stated nothing that this way of composing could add. */
typedef struct tacet_tally {
    double pure_eps, pure_rho, pure_mu_sq;       /* pure charges: sum of eps, of rho, of mu^2 */
    double approx_eps, approx_rho, approx_mu_sq; /* (eps, delta) charges, their delta set aside in … */
    double approx_delta;
    double zcdp_rho;                 /* zCDP charges */
    double gauss_mu_sq;              /* Gaussian charges */
    double stated_eps, stated_delta; /* zCDP and Gaussian charges as the (eps, delta) each was stated with */
} tacet_tally;

typedef struct tacet_budget {
    tacet_accounting accounting; /* the filter's rule */
    double eps;                  /* > 0 */
    double delta;                /* in [0, 1); 0 only with BASIC */
    double delta_approx;         /* ZCDP, GAUSSIAN: the part of delta set aside for charges that are (eps, delta)-DP;
                                    0 <= delta_approx < delta. Default 0: such charges are refused */
} tacet_budget;

TACET_API void tacet_tally_init(tacet_tally *tally); /* nothing spent */
/* One more charge, on all records; an uncovered charge adds nothing. INVALID: the charge (tacet_charge_check). */
TACET_API tacet_status tacet_tally_add(tacet_tally *tally, const tacet_charge *charge, tacet_error *err);
/* Sequential: both were spent on the same records. */
TACET_API void tacet_tally_join(tacet_tally *tally, const tacet_tally *other);
/* Parallel: each was spent on records the other never touched; the larger sum of each kind, which covers either. */
TACET_API void tacet_tally_merge(tacet_tally *tally, const tacet_tally *other);
/* The eps spent at this delta (0 <= delta < 1) under one rule; infinity when the rule cannot say. */
TACET_API tacet_status tacet_tally_eps(const tacet_tally *tally, double *eps, tacet_accounting accounting, double delta,
                                       tacet_error *err);
/* The least eps that any valid way of composing gives at this delta, mixed ways included. For charges that were fixed
 * beforehand; infinity when there is none. */
TACET_API tacet_status tacet_tally_best_eps(const tacet_tally *tally, double *eps, double delta, tacet_error *err);

/* INVALID names the field. */
TACET_API tacet_status tacet_budget_check(const tacet_budget *budget, tacet_error *err);
/* BUDGET: the tally exceeds it by more than a 2^-40th, or holds charges that the rule cannot add. */
TACET_API tacet_status tacet_budget_fits(const tacet_budget *budget, const tacet_tally *tally, tacet_error *err);

typedef struct tacet_account tacet_account;

/* INVALID: the budget. NO_MEMORY. */
TACET_API tacet_status tacet_account_create(tacet_account **out, const tacet_budget *budget, tacet_error *err);
TACET_API void tacet_account_free(tacet_account *account); /* NULL is allowed */
/* The filter: BUDGET when the charge does not fit, INVALID when it is no charge, NO_MEMORY; nothing changes then. */
TACET_API TACET_MUST_CHECK tacet_status tacet_account_admit(tacet_account *account, const tacet_charge *charge,
                                                            tacet_error *err);
/* What has been admitted: charges on everybody, plus each group's parts merged. */
TACET_API void tacet_account_total(const tacet_account *account, tacet_tally *out);

#ifdef __cplusplus
}
#endif
#endif
