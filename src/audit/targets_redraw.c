/* SPDX-License-Identifier: Apache-2.0 */
/* targets_redraw.c - control: a release that draws anew when it was interrupted because of its noise.
 * Ring: audit. What `tacet curate` did before noise was minted by its reservation: the first draw is lost when its text
 * is long (a full disk, a limit on file sizes), the second one is released whatever it is. The limit lies between four
 * and five characters, the two records lie one unit apart at 9 and 10. None of this code is used by anything that
 * releases. */
#include "audit/targets.h"

#include "dp/noise/sampler.h"

#include <math.h>
#include <stdlib.h>

typedef struct redraw {
    double scale;
    int grid;
} redraw;

static tacet_status create(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    redraw *r = malloc(sizeof *r);
    (void)err;
    *state = r;
    if (r == NULL) {
        return TACET_NO_MEMORY;
    }
    r->scale = 1 / claim->eps;
    r->grid = tacet__grid_exponent(r->scale, DRAW_GRID_BITS);
    return TACET_OK;
}

static tacet_status run(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    const redraw *r = state;
    const double record = 9 + world;
    double drawn = 0;
    tacet_status status = tacet__draw_laplace(noise, &drawn, 1, r->scale, r->grid, err);
    if (status == TACET_OK && record + drawn >= 10) {
        status = tacet__draw_laplace(noise, &drawn, 1, r->scale, r->grid, err);
    }
    *statistic = record + drawn;
    return status;
}

const tacet_audit_target tacet__audit_redraw = {
    .name = "control:redraw",
    .summary = "a release that draws anew when it was interrupted because its text was long",
    .control = true,
    .pure = true,
    .create = create,
    .run = run,
    .free = free,
};
