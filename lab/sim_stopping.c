/* SPDX-License-Identifier: Apache-2.0 */
/* sim_stopping.c - `simulate stopping`: running A/B tests with 0/1 rewards, through the shipped policy with seeded
 * noise, looked at after every release.
 * Ring: lab. The first arm has --rate, the others --rate times --lift. Prints how often any pair was ever called
 * different on the wrong side (with --lift 1: on any), how often an arm was outside its limits, how often and after how
 * many tickets the lifted arm was claimed to be ahead of the first. Cost: about .1 us a ticket. */
#include "commands.h"
#include "trials.h"

#include <math.h>
#include <stdlib.h>
#include "ab/trusted/study.h"
#include <tacet/core/simrng.h>

typedef struct result {
    double tickets; /* until a claim that is true; NaN: none */
    bool wrong;     /* a claim that is false, ever */
    bool outside;   /* an arm outside its limits, ever */
} result;

typedef struct job {
    size_t rounds, trials, arms;
    double rate, lift, eps;
    uint64_t seed;
    result *results;
} job;

/* Whether anything is claimed: a later arm ahead of an earlier one is right where there is a lift. */
static void look(result *r, const job *j, const tacet_ab_test *test, size_t ticket) {
    for (size_t a = 0; a < j->arms; a++) {
        const double earns = j->rate * (a == 0 ? 1 : j->lift);
        const tacet_ab_limits l = tacet_ab_test_limits(test, a);
        r->outside = r->outside || l.lower > earns || l.upper < earns;
        for (size_t b = 0; b < j->arms; b++) {
            const bool ahead = a != b && tacet_ab_test_compare(test, a, b).lower > 0;
            const double truth = (b == 0 ? 0 : j->lift - 1) - (a == 0 ? 0 : j->lift - 1);
            r->wrong = r->wrong || (ahead && !(truth > 0));
            if (ahead && truth > 0 && isnan(r->tickets)) {
                r->tickets = (double)ticket;
            }
        }
    }
}

static tacet_status trial(void *user, size_t k, tacet_error *err) {
    const job *j = user;
    result *r = &j->results[k];
    tacet_ab_study_settings s;
    tacet_policy *policy = NULL;
    tacet_noise *noise = NULL;
    tacet_simrng rng;
    const tacet_round none = {0};
    double tickets = 0;
    tacet_ab_study_settings_defaults(&s);
    s.arms = j->arms;
    s.rounds = j->rounds;
    s.eps = j->eps;
    s.coin_seed = j->seed + k;
    *r = (result){.tickets = NAN};
    tacet_simrng_init(&rng, j->seed + k, 1);
    tacet_status status = tacet_noise_open_seeded(&noise, j->seed + k, 2, err);
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "sums", .to_whom = "nobody"};
    TACET_THEN(status, tacet_ab_study_create(&policy, &s, &ask, err));
    for (size_t t = 0; t < j->rounds && status == TACET_OK; t++) {
        tacet_suggestion at;
        status = tacet_policy_suggest(policy, &at, &none, err);
        const double reward = tacet_simrng_uniform(&rng) < j->rate * (at.index == 0 ? 1 : j->lift) ? 1 : 0;
        TACET_THEN(status, tacet_policy_observe(policy, at.ticket, reward, err));
        const tacet_ab_test *test = tacet_ab_study_test(policy);
        if (status == TACET_OK && tacet_ab_test_tickets(test) > tickets) {
            tickets = tacet_ab_test_tickets(test);
            look(r, j, test, t);
            if (!isnan(r->tickets)) {
                break;
            }
        }
    }
    tacet_policy_free(policy);
    tacet_noise_close(noise);
    return status;
}

static void report(const job *j, double *x, double seconds) {
    size_t claimed = 0, wrong = 0, outside = 0;
    double mean = 0, se = 0;
    for (size_t k = 0; k < j->trials; k++) {
        wrong += j->results[k].wrong ? 1 : 0;
        outside += j->results[k].outside ? 1 : 0;
        if (!isnan(j->results[k].tickets)) {
            x[claimed++] = j->results[k].tickets;
        }
    }
    lab_mean_se(&mean, &se, x, claimed);
    json_t *object = cli_object("rate lift arms eps rounds trials wrong outside claimed tickets tickets_se seconds",
                                J(j->rate), J(j->lift), J(j->arms), J(j->eps), J(j->rounds), J(j->trials), J(wrong),
                                J(outside), J(claimed), J(mean), J(se), J(seconds));
    (void)cli_tell(object, "{trials} tests of {arms} arms, rate {rate:.4g}, lift {lift:.4g}, eps = {eps:.4g}, up to "
                           "{rounds} tickets\n"
                           "a false claim at any look: {wrong}; a true one: {claimed}, after {tickets:.0f} "
                           "({tickets_se:.0f}) tickets\nan arm outside its limits at any look: {outside}\n");
}

int lab_sim_stopping(int argc, char **argv, const cli_command *self) {
    job j = {.rounds = 200000, .trials = 400, .arms = 2, .rate = 0.04, .lift = 1, .eps = 1, .seed = 1};
    const cli_option options[] = {
        CLI_OPT("rate", &j.rate, "P", "Share of rewards of the first arm. Default 0.04."),
        CLI_OPT("lift", &j.lift, "X", "The other arms' share is so many times that. Default 1: no difference."),
        CLI_OPT("trials", &j.trials, "N", "Default 400."),
        CLI_OPT("seed", &j.seed, "S", "Default 1."),
        {0}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (j.trials == 0 || !(j.rate > 0 && j.lift > 0 && j.rate * j.lift <= 1 && j.rate <= 1)) {
        return cli_usage(self, "--trials is above 0, --rate and --rate times --lift are shares");
    }
    const double begin = cli_seconds();
    double *scratch = calloc(j.trials, sizeof *scratch);
    j.results = calloc(j.trials, sizeof *j.results);
    const tacet_status status = j.results == NULL || scratch == NULL
                                    ? tacet_error_set(&err, TACET_NO_MEMORY, "out of memory")
                                    : lab_trials_run(j.trials, trial, &j, &err);
    if (status == TACET_OK) {
        report(&j, scratch, cli_seconds() - begin);
    } else {
        code = cli_refuse(self, &err);
    }
    free(scratch);
    free(j.results);
    return code;
}
