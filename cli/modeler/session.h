/* session.h - one run of the modeler: settings, release, journal, policy. Ring: open. */
#ifndef TACET_CLI_MODELER_SESSION_H
#define TACET_CLI_MODELER_SESSION_H

#include "journal.h"
#include "remote.h"

#include <stdint.h>
#include <tacet/core/policy.h>
#include <tacet/outsourced/open/modeler.h>

typedef struct session_settings {
    const char *state;
    const char *method; /* auto, latent, eiv */
    const char *kernel;
    double lengthscale, signal_var, noise_var, mean; /* scaled units; used as given unless fitted */
    bool fit, ard;
    bool minimize, log_target, standardize;
    size_t queries;
    size_t initial;      /* random first rows */
    const size_t *first; /* rows asked first */
    size_t first_count;
    const size_t *warm_rows; /* values known from elsewhere: not asked, not charged */
    const double *warm_values;
    size_t warm_count;
    double beta_scale, delta_ucb;
    uint64_t seed;
    void (*progress)(size_t done, size_t total, size_t best_row, double best_value, void *user);
    void *user;
} session_settings;

typedef struct session_result {
    size_t *rows;   /* asked, in order; owned */
    double *values; /* as measured; owned */
    size_t count;
    size_t best_row; /* best measured one */
    double best_value;
    size_t recommended_row;                  /* best posterior mean */
    double recommended_mean, recommended_sd; /* in the target's own units when no logarithm was taken */
    char method[16];
    double lengthscale, signal_var, noise_var, mean;
} session_result;

/* Runs, or goes on with, a session. The result is cleared on failure, but the journal keeps what was asked. */
tacet_status session_run(session_result *out, const session_settings *settings, remote *curator,
                         const tacet_manifest *manifest, const char *manifest_text, const double *rows,
                         tacet_error *err);
void session_result_clear(session_result *result);

#endif
