/* SPDX-License-Identifier: Apache-2.0 */
/* runs.c - requests as keys, outcomes, and which simulation does what. Ring: programs. */
#include "runs.h"

#include "core/fail.h"
#include "core/memory.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lab_outcome_clear(lab_outcome *o) {
    free(o->value);
    json_decref(o->detail);
    *o = (lab_outcome){0};
}

tacet_status lab_outcome_set(lab_outcome *o, const double *value, size_t trials, tacet_error *err) {
    *o = (lab_outcome){.trials = trials, .value = TACET__ZALLOC(double, trials)};
    if (o->value == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", trials);
    }
    memcpy(o->value, value, trials * sizeof *value);
    return TACET_OK;
}

tacet_status lab_run(lab_outcome *out, const lab_request *r, tacet_error *err) {
    *out = (lab_outcome){0};
    switch (r->model) {
    case LAB_OUTSOURCED:
        return lab_outsourced_run(out, r, err);
    case LAB_CENTRAL:
        return lab_central_run(out, r, err);
    case LAB_LOCAL_STATISTICS:
        return lab_local_statistics_run(out, r, err);
    case LAB_LOCAL:
        return lab_local_run(out, r, err);
    case LAB_CONTEXTUAL:
        break;
    }
    return lab_contextual_run(out, r, err);
}

tacet_status lab_run_mean(double *out, const lab_request *request, tacet_error *err) {
    lab_outcome outcome = {0};
    const tacet_status status = lab_run(&outcome, request, err);
    *out = 0;
    for (size_t i = 0; status == TACET_OK && i < outcome.trials; i++) {
        *out += outcome.value[i] / (double)outcome.trials;
    }
    lab_outcome_clear(&outcome);
    return status;
}

/* 16 hexadecimal digits of a file's content. */
static tacet_status file_print(char out[17], const char *path, tacet_error *err) {
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%.160s: %s", path, strerror(errno));
    }
    unsigned char bytes[4096];
    unsigned char hash[crypto_generichash_BYTES_MIN];
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    size_t got = 0;
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0) {
        (void)crypto_generichash_update(&state, bytes, got);
    }
    const bool bad = ferror(file) != 0;
    (void)fclose(file);
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    (void)sodium_bin2hex(out, 17, hash, 8);
    return bad ? tacet__fail(err, TACET_IO, "%.160s: reading failed", path) : TACET_OK;
}

static const char *words(const char *text) {
    return text != NULL ? text : "-";
}

static int outsourced_key(char *out, size_t size, const lab_outsourced_request *o, tacet_error *err) {
    char content[17] = "-";
    char target[17] = "-";
    if ((o->table.data != NULL && file_print(content, o->table.data, err) != TACET_OK) ||
        (o->table.target_data != NULL && file_print(target, o->table.target_data, err) != TACET_OK)) {
        return -1;
    }
    return snprintf(out, size,
                    "outsourced %s table=%s:%s:%s:%s:%s:%s:%zu:%d%d%d sigma_min=%.17g radius=%.17g l=%.17g var=%.17g "
                    "noise=%.17g mean=%.17g n=%zu "
                    "d=%zu mechanism=%s modeler=%s eps=%.17g delta=%.17g dims=%zu queries=%zu initial=%zu",
                    o->scenario, content, words(o->table.inputs), words(o->table.log_inputs), target,
                    words(o->table.target), words(o->table.scales), o->table.rows, o->table.log_target,
                    o->table.minimize, o->table.standardize, o->table.sigma_min, o->radius, o->lengthscale,
                    o->signal_var, o->noise_var, o->mean, o->candidates, o->dim, o->mechanism, o->modeler, o->eps,
                    o->delta, o->dims, o->queries, o->initial);
}

static int central_key(char *out, size_t size, const lab_central_request *j, const char *model) {
    return snprintf(out, size,
                    "%s %s algorithm=%s noise=%s world=%zu:%.17g:%.17g eps=%.17g delta=%.17g rounds=%zu arms=%zu",
                    model, j->scenario, j->algorithm, j->published_noise ? "published" : "proven", j->world.dim,
                    j->world.lengthscale, j->world.noise, j->eps, j->delta, j->rounds, j->arms);
}

static int local_key(char *out, size_t size, const lab_local_request *l, tacet_error *err) {
    char content[2][17] = {"-", "-"};
    const bool light = strcmp(l->scenario, "light") == 0;
    const bool stocks = strcmp(l->scenario, "stocks") == 0;
    for (size_t i = 0; i < 2 && (light || stocks); i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%.4000s/%s", words(l->folder),
                       stocks   ? "stocks.csv"
                       : i == 0 ? "light_train.csv"
                                : "light_test.csv");
        if (file_print(content[i], path, err) != TACET_OK) {
            return -1;
        }
    }
    return snprintf(out, size,
                    "local %s tables=%s:%s kernel=%s l=%.17g noise=%s:%.17g n=%zu d=%zu support=%zu mechanism=%s "
                    "algorithm=%s parameters=%s range=%s eps=%.17g rounds=%zu relative=%d eager=%d",
                    l->scenario, content[0], content[1], l->kernel, l->lengthscale, l->noise, l->noise_scale, l->arms,
                    l->dim, l->support, l->mechanism, l->algorithm, l->parameters, l->range, l->eps, l->rounds,
                    l->relative, l->eager);
}

static int contextual_key(char *out, size_t size, const lab_contextual_request *u) {
    return snprintf(
        out, size,
        "contextual algorithm=%s kernel=%s l=%.17g noise=%.17g eps=%.17g d=%zu+%zu actions=%zu rounds=%zu draws=%zu",
        u->algorithm, u->kernel, u->lengthscale, u->noise, u->eps, u->dim_action, u->dim_context, u->actions, u->rounds,
        u->draws);
}

tacet_status lab_request_key(char *out, size_t size, const lab_request *r, tacet_error *err) {
    int length = -1;
    switch (r->model) {
    case LAB_OUTSOURCED:
        length = outsourced_key(out, size, &r->of.outsourced, err);
        break;
    case LAB_CENTRAL:
    case LAB_LOCAL_STATISTICS:
        length = central_key(out, size, &r->of.central, r->model == LAB_CENTRAL ? "central" : "local-statistics");
        break;
    case LAB_LOCAL:
        length = local_key(out, size, &r->of.local, err);
        break;
    case LAB_CONTEXTUAL:
        length = contextual_key(out, size, &r->of.contextual);
        break;
    }
    if (length < 0) {
        return err != NULL && err->status != TACET_OK ? err->status
                                                      : tacet__fail(err, TACET_INVALID, "a request has no key");
    }
    const size_t at = (size_t)length;
    const int more =
        at < size ? snprintf(out + at, size - at, " trials=%zu seed=%llu", r->trials, (unsigned long long)r->seed) : -1;
    return more >= 0 && at + (size_t)more < size
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "the settings are too long for a key");
}
