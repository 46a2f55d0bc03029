/* SPDX-License-Identifier: Apache-2.0 */
/* definition.h - what a study is: its definition, read from JSON, checked, and written in one canonical form.
 * Ring: open. Everything in a definition is public: anyone who may ask for the study gets all of it.
 *
 * Directions: a policy always maximizes. A study that minimizes is given to its policy with rewards negated (and the
 * range [lo, hi] as [-hi, -lo]): negation is exact, so a report that is possible stays possible, and rounding cannot
 * tell the two directions apart. tacet__definition_towards and tacet__definition_back are the only two places that do
 * it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tacet/local/shared/ldp.h>
#include <tacet/core/policy.h>
#include <tacet/core/status.h>
#include <tacet/space/space.h>

enum {
    TACET__DEFINITION_NAME = 48, /* bytes of a name, without the NUL */
    TACET__DEFINITION_WORD = 16, /* of a kernel, a policy, a randomiser */
    TACET__DEFINITION_TEXT = 1000,
    TACET__DEFINITION_DIMS = 64,
    TACET__DEFINITION_ARMS = 4096,    /* points of a fixed domain */
    TACET__DEFINITION_BYTES = 4 << 20 /* bytes of JSON */
};

typedef struct tacet__definition {
    char name[TACET__DEFINITION_NAME + 1]; /* a-z 0-9 _ -, begins with a letter: it stands in paths */
    char *description;                     /* owned; "" when there is none */
    tacet_trust trust;                     /* CENTRAL or LOCAL */
    char policy[TACET__DEFINITION_WORD];
    bool minimize;
    uint64_t rounds;   /* T: suggestions at the most */
    double eps, delta; /* central: of the whole study, for one round; local: of each report (delta 0). delta 0: pure */
    /* The domain: a fixed list of points, or a box in which each round brings its own decision set. */
    size_t d;
    size_t count;      /* points; 0: decision sets */
    double *points;    /* d x count, column-major; owned */
    tacet_space space; /* whose candidates the points are (space_domain.h); count 0: none; owned */
    double *records;   /* the candidates in the columns' own units, space.count x count; owned */
    size_t candidates; /* how many were asked for */
    size_t *levels;    /* box: d, owned; so many evenly spaced values, 0: any; NULL: any everywhere */
    double *lower;     /* d, d: the box; owned; NULL with points */
    double *upper;
    size_t context_dim;    /* contextual policies: each round brings a context of so many numbers; 0: none */
    double *context_lower; /* context_dim each: public bounds; owned */
    double *context_upper;
    tacet_space context_space; /* whose embedding the contexts are; count 0: they are plain numbers; owned */
    /* Public knowledge of the function. */
    char kernel[TACET__DEFINITION_WORD]; /* "se", "matern12", … */
    double *lengthscales;                /* owned; 1 or d + context_dim */
    size_t lengthscale_count;
    size_t
        *groups; /* d, owned: the kernel is a sum over groups of coordinates, and this is each one's group; NULL: one */
    double *covariance;          /* count x count, owned: of the points, in place of a kernel; NULL: none. Local */
    double reward_lo, reward_hi; /* in the clients' units */
    double typical_reward;       /* central, ab: what an unseen arm is taken to return, in these units */
    double *earlier; /* earlier_count triples, owned: a point's index, a public value of it, its standard deviation */
    size_t earlier_count;
    bool bound_given;          /* local: the definition states `bound` */
    double mean, bound, noise; /* local: prior mean, |f - mean|_H, |y - f| at the most */
    /* Local. */
    char randomizer[TACET__DEFINITION_WORD]; /* "hybrid", … */
    char parameters[TACET__DEFINITION_WORD]; /* "tight", … */
    uint64_t ticket_seconds;                 /* both: how long a ticket is waited for, at least; 0: for ever */
    uint64_t person_rounds;                  /* both: how many rounds of a person count; later ones are null records */
    double round_eps; /* central: eps of one round, so that the rounds of a person that count cost eps together */
    /* Central. */
    size_t open_most;          /* tickets that may wait for their reward at a time */
    size_t set_most;           /* arms a decision set may have */
    size_t set_size;           /* arms a decision set typically has */
    size_t features, released; /* of the model; local: of these, so many are reported */
    uint64_t each; /* fixed, over a space: a point is played so often in a row, and the sum of its rewards released; 0:
                      rewards are released in batches over the candidates */
    uint64_t late; /* contextual, ab: epochs are released so many rounds after their end */
    uint64_t coin_seed;
} tacet__definition;

#define TACET__DEFINITION_FORMAT "tacet-study-1"

/* Local, with decision sets that stay on the devices. */
static inline bool tacet__definition_device_sets(const tacet__definition *s) {
    return s->trust == TACET_TRUST_LOCAL && strcmp(s->policy, "statistics") == 0;
}

/* Rewards are released at once. */
static inline bool tacet__definition_direct(const tacet__definition *s) {
    return strcmp(s->policy, "fixed") == 0;
}

void tacet__definition_init(tacet__definition *def);
void tacet__definition_clear(tacet__definition *def); /* NULL is allowed */
/* From a JSON text. PARSE names the field and the rule it breaks; *out is cleared on failure. Whether the policy exists
 * and takes the study is the registry's question. */
tacet_status tacet__definition_decode(tacet__definition *out, const char *text, size_t length, tacet_error *err);
/* The canonical text (from malloc): every field that applies, defaults written out, keys sorted, numbers with 17
 * digits. Decoding it and encoding again gives the same bytes. */
tacet_status tacet__definition_encode(const tacet__definition *def, char **out, tacet_error *err);
/* An array of numbers; NULL: no memory. */
json_t *tacet__reals_json(const double *values, size_t count);
bool tacet__definition_name_valid(const char *name);

/* The range the policy sees; a value on its way to the policy; a value on its way back. */
void tacet__definition_range(const tacet__definition *def, double *lo, double *hi);
double tacet__definition_towards(const tacet__definition *def, double value);
double tacet__definition_back(const tacet__definition *def, double value);
