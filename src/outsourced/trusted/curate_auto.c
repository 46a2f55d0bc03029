/* SPDX-License-Identifier: Apache-2.0 */
/* curate_auto.c - which mechanism a curator takes who names none.
 * Ring: trusted. The proven mechanism that adds noise to the columns themselves and has the least standard deviation
 * per coordinate for their number, eps and delta: public numbers only, so that the choice tells nothing of the records.
 * One that needs a delta is considered only where a delta is given. Cost: a calibration for each. */
#include <tacet/outsourced/trusted/curate.h>

#include "core/fail.h"
#include "outsourced/shared/form.h"
#include "outsourced/trusted/curate_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "dp/mechanism.h"
#include "outsourced/shared/typed.h"

static size_t numbers_of(const tacet_curate_settings *s) {
    return s->space != NULL ? tacet_typed_numbers(s->space) : s->column_count;
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
    if (!(s->eps > 0 && isfinite(s->eps)) || !(s->delta >= 0 && s->delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "eps must be above 0 and delta between 0 and 1");
    }
    double least = INFINITY;
    tacet_error why = {0};
    for (size_t i = 0; tacet__form_at(i) != NULL; i++) {
        double spread = 0;
        tacet_error trial = {0};
        if (tacet__curate_spread(&spread, (tacet_curate_mechanism)i, numbers_of(s), s->eps, s->delta, &trial) ==
                TACET_OK &&
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
        if (tacet__curate_spread(&spread, (tacet_curate_mechanism)i, numbers_of(asked), asked->eps, asked->delta,
                                 NULL) != TACET_OK) {
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

double tacet_curate_sigma_laplace(const tacet_curate_settings *s, const tacet_manifest *m) {
    const size_t numbers = m->space.count > 0 ? m->column_count : m->dims; /* levels get no noise */
    double gaussian = 0, laplace = 0;
    const bool known =
        numbers > 0 && s->mechanism == TACET_CURATE_GAUSSIAN && !s->seeded &&
        tacet__curate_spread(&gaussian, TACET_CURATE_GAUSSIAN, numbers, s->eps, s->delta, NULL) == TACET_OK &&
        tacet__curate_spread(&laplace, TACET_CURATE_LAPLACE, numbers, s->eps, 0, NULL) == TACET_OK;
    return known && laplace < gaussian ? laplace / gaussian * m->sigma : NAN;
}
