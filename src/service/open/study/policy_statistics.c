/* SPDX-License-Identifier: Apache-2.0 */
/* policy_statistics.c - the local policy `statistics` for the service: decision sets stay on the devices, which report
 * one direction a round (tacet/local/open/statistics_model.h). Ring: open. The features are stored with the study when
 * it is created, so that every device and every server reads reports alike. Cost: that of the model. */
#include "service/open/study/policies.h"

#include "core/fail.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include "local/open/statistics.h"

static tacet_status make_model(tacet_statistics_model **out, const tacet__definition *def, tacet_error *err) {
    const tacet_statistics_spec spec = {.kernel = def->kernel,
                                        .lengthscales = def->lengthscales,
                                        .lengthscale_count = def->lengthscale_count,
                                        .lower = def->lower,
                                        .upper = def->upper,
                                        .levels = def->levels,
                                        .d = def->d,
                                        .lo = def->reward_lo,
                                        .hi = def->reward_hi,
                                        .minimize = def->minimize,
                                        .eps = def->eps,
                                        .features = def->features,
                                        .released = def->released,
                                        .set_size = def->set_size};
    return tacet_statistics_model_create(out, &spec, err);
}

static tacet_status statistics_check(const tacet__definition *def, tacet_error *err) {
    tacet_statistics_model *model = NULL;
    if (strcmp(def->randomizer, "sphere") != 0) {
        return tacet__fail(err, TACET_INVALID, "policy 'statistics' has reports of the randomizer 'sphere'");
    }
    const tacet_status status = make_model(&model, def, err);
    tacet_statistics_model_free(model);
    return status;
}

static tacet_status statistics_create(tacet__learner *out, const tacet__definition *def, const char *ledger,
                                      const void *snapshot, size_t size, tacet_error *err) {
    tacet_statistics_model *model = NULL;
    (void)ledger; /* the devices keep theirs */
    (void)snapshot;
    (void)size;
    tacet_status status = make_model(&model, def, err);
    TACET_THEN(status, tacet_statistics_policy_create(&out->policy, model, def->rounds, err));
    out->self = model; /* the policy's */
    return status;
}

static tacet_status statistics_best(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                    tacet_error *err) {
    double x[TACET_STATISTICS_DIMS_MOST];
    double mean = 0;
    double sd = 0;
    TACET_OR_RETURN(tacet_statistics_model_best(learner->self, x, &mean, &sd, err));
    *out = json_pack("{ss so sf sf}", "kind", "best", "action", tacet__reals_json(x, def->d), "mean", mean, "sd", sd);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory making a release");
}

static tacet_status statistics_model(const tacet__learner *learner, json_t **out, tacet_error *err) {
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    tacet_status status = tacet_statistics_model_card(learner->self, &bytes, err);
    const size_t length = sodium_base64_ENCODED_LEN(bytes.size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *text = status == TACET_OK ? malloc(length) : NULL;
    if (text != NULL) {
        (void)sodium_bin2base64(text, length, bytes.data, bytes.size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
        *out = json_pack("{sI sb ss}", "reports", (json_int_t)tacet_statistics_model_count(learner->self), "informed",
                         (int)tacet_statistics_model_informed(learner->self), "model", text);
    }
    free(text);
    tacet_blob_clear(&bytes);
    return status != TACET_OK ? status
           : *out != NULL     ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory making an answer");
}

const tacet__policy_kind tacet__policy_statistics = {.name = "statistics",
                                                     .trust = TACET_TRUST_LOCAL,
                                                     .own_sets = true,
                                                     .stored_first = true,
                                                     .index_public = true,
                                                     .check = statistics_check,
                                                     .create = statistics_create,
                                                     .release = statistics_best,
                                                     .best = statistics_best,
                                                     .model = statistics_model,
                                                     .spent = tacet__local_spent};
