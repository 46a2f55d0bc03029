/* SPDX-License-Identifier: Apache-2.0 */
/* curate_price.c - which mechanism a curator takes who names none, and what a release costs.
 * Ring: trusted. From public numbers alone, so that neither tells anything of the records. Taken is the proven
 * mechanism that adds noise to the columns themselves and has the least standard deviation per coordinate for their
 * number, eps and delta; one that needs a delta is considered only where a delta is given. Cost: a calibration for
 * each. */
#include "outsourced/trusted/curate_price.h"

#include "core/fail.h"
#include "outsourced/shared/form.h"
#include "dp/open/charge_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "dp/mechanism.h"
#include "space/internal.h"

#include <tacet/dp/open/calibrate.h>

/* As Gaussian curves, the charge of a release and the cap of a budget of the same eps are rounded in opposite
 * directions. */
static const double ROUNDING = 1e-9;

const char *tacet_curate_name(tacet_curate_mechanism mechanism) {
    const tacet__form *form = (int)mechanism >= 0 ? tacet__form_at((size_t)mechanism) : NULL;
    return form != NULL ? form->name : NULL;
}

const tacet_law *tacet_curate_law(tacet_curate_mechanism mechanism) {
    return tacet_curate_name(mechanism) != NULL ? tacet__form_at((size_t)mechanism)->law : NULL;
}

tacet_status tacet_curate_parse(tacet_curate_mechanism *out, const char *name, tacet_error *err) {
    for (size_t i = 0; tacet__form_at(i) != NULL; i++) {
        if (strcmp(tacet__form_at(i)->name, name) == 0) {
            *out = (tacet_curate_mechanism)i;
            return TACET_OK;
        }
    }
    if (strcmp(name, "auto") == 0) {
        *out = TACET_CURATE_AUTO;
        return TACET_OK;
    }
    return tacet__fail(err, TACET_INVALID, "'%.40s' is none of auto, %s", name, tacet__form_names);
}

tacet_status tacet__curate_spread(double *out, tacet_curate_mechanism mechanism, size_t numbers, double eps,
                                  double delta, tacet_error *err) {
    const tacet__form *form = (int)mechanism >= 0 ? tacet__form_at((size_t)mechanism) : NULL;
    tacet_mechanism_kind kind = 0;
    double scale = 0;
    *out = NAN;
    if (form == NULL || form->law == NULL || form->projects) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "this mechanism does not add proven noise to the columns themselves");
    }
    if (!form->law->pure && !(delta > 0)) {
        return tacet__fail(err, TACET_UNSUPPORTED, "%s needs a delta", form->name);
    }
    tacet_status status = tacet_mechanism_of_law(&kind, form->law, err);
    TACET_THEN(status, tacet_mechanism_scale_for(&scale, kind, eps, form->law->pure ? 0 : delta, 1,
                                                 numbers > 0 ? numbers : 1, err));
    if (status == TACET_OK) {
        *out = form->law->spread(scale, numbers > 0 ? numbers : 1);
    }
    return status;
}

tacet_status tacet_curate_resolve(tacet_curate_settings *s, tacet_error *err) {
    if (s->mechanism != TACET_CURATE_AUTO) {
        return TACET_OK;
    }
    if (s->space == NULL) {
        return tacet__fail(err, TACET_INVALID, "the columns of a table are needed: their space");
    }
    if (!(s->eps > 0 && isfinite(s->eps))) {
        return tacet__fail(err, TACET_INVALID, "eps must be above 0");
    }
    if (!(s->delta >= 0 && s->delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "delta must be at least 0 and below 1");
    }
    double least = INFINITY;
    tacet_error why = {0};
    for (size_t i = 0; tacet__form_at(i) != NULL; i++) {
        double spread = 0;
        tacet_error trial = {0};
        if (tacet__curate_spread(&spread, (tacet_curate_mechanism)i, tacet_space_numbers(s->space), s->eps, s->delta,
                                 &trial) == TACET_OK &&
            spread < least) {
            least = spread;
            s->mechanism = (tacet_curate_mechanism)i;
        }
        why = trial.status == TACET_INVALID ? trial : why;
    }
    if (!isfinite(least)) {
        return tacet__fail(err, TACET_INVALID, "%s",
                           why.status != TACET_OK ? why.message
                                                  : "no mechanism can be calibrated to this eps and delta");
    }
    s->delta = tacet_curate_law(s->mechanism)->pure ? 0 : s->delta;
    return TACET_OK;
}

void tacet__curate_others(tacet_manifest *m, const tacet_curate_settings *asked) {
    const tacet__form *form = tacet__form_find(m->mechanism);
    const bool own_law = form != NULL && form->law != NULL && !form->projects;
    double own = 0;
    m->other_count = 0;
    for (size_t i = 0; tacet__form_at(i) != NULL && own_law; i++) {
        double spread = 0;
        if (tacet__curate_spread(&spread, (tacet_curate_mechanism)i, tacet_space_numbers(asked->space), asked->eps,
                                 asked->delta, NULL) != TACET_OK) {
            continue;
        }
        if (strcmp(tacet__form_at(i)->name, m->mechanism) == 0) {
            own = spread;
        } else if (m->other_count < TACET_MANIFEST_OTHERS) {
            tacet_manifest_other *other = &m->others[m->other_count++];
            (void)snprintf(other->mechanism, sizeof other->mechanism, "%s", tacet__form_at(i)->name);
            other->sigma = spread;
        }
    }
    /* On the scale of this release, whose sensitivity is 1 and a little. */
    for (size_t i = 0; i < m->other_count; i++) {
        m->others[i].sigma *= own > 0 ? m->sigma / own : 1;
    }
}

tacet_status tacet__curate_price(tacet_charge *out, const tacet_curate_settings *s, tacet_error *err) {
    const tacet_law *law = tacet_curate_law(s->mechanism);
    const bool levels = tacet_space_categories(s->space) > 0;
    double mu = 0;
    tacet_status status = TACET_OK;
    tacet_charge_init(out);
    if (law->pure) {
        tacet_charge_pure(out, s->eps);
    } else if (law->density == TACET_DENSITY_NORMAL && !levels) {
        status = tacet_gdp_mu(&mu, s->eps, s->delta, err);
        tacet_charge_gaussian(out, mu * (1 + 1e-9), s->eps, s->delta); /* above what solving for it rounds */
    } else {
        tacet_charge_approx(out, s->eps, s->delta);
    }
    return status != TACET_OK ? status : tacet__charge_rows(out, s->rows_per_person, true, err);
}

tacet_status tacet__curate_person_price(tacet_manifest *m, const tacet_curate_settings *s, tacet_error *err) {
    tacet_charge charge;
    if (s->rows_per_person == 0) {
        return TACET_OK;
    }
    const tacet_status status = tacet__curate_price(&charge, s, err);
    (void)snprintf(m->person, sizeof m->person, "%s", s->person != NULL ? s->person : "");
    m->person_rows = s->rows_per_person;
    m->person_eps = charge.eps;
    m->person_delta = charge.delta;
    return status;
}

bool tacet__curate_adds_up(const tacet_curate_settings *s) {
    const tacet_law *law = tacet_curate_law(s->mechanism);
    return (law != NULL && law->density == TACET_DENSITY_EUCLIDEAN) || tacet_space_categories(s->space) > 0;
}

tacet_status tacet__curate_budget(double *eps, double *delta, const tacet_curate_settings *s, tacet_error *err) {
    const double each = (double)(s->rows_per_person > 1 ? s->rows_per_person : 1);
    const double answers = s->outputs_private ? each * s->outputs.eps : 0;
    tacet_charge price;
    double measured = 0;
    tacet_charge_init(&price);
    tacet_status status = tacet_curate_law(s->mechanism) != NULL ? tacet__curate_price(&price, s, err) : TACET_OK;
    const bool priced = tacet_curate_law(s->mechanism) != NULL && status == TACET_OK;
    *delta = s->budget_delta > 0 ? s->budget_delta : priced && tacet__curate_adds_up(s) ? price.delta : s->delta;
    *eps = s->budget_eps > 0          ? s->budget_eps
           : !priced                  ? s->eps * (1 + ROUNDING)
           : tacet__curate_adds_up(s) ? price.eps + answers
                                      : price.eps * (1 + ROUNDING);
    if (status != TACET_OK || s->budget_eps > 0 || !priced || tacet__curate_adds_up(s) || answers == 0) {
        return status;
    }
    status = tacet_gdp_from_pure(&measured, answers, err);
    TACET_THEN(status, tacet_gdp_eps(eps, hypot(price.mu, measured) * (1 + ROUNDING), *delta, err));
    *eps *= 1 + ROUNDING;
    return status;
}
