/* SPDX-License-Identifier: Apache-2.0 */
/* curate.h - from a table of records to a private release: release.csv and manifest.json, charged before drawn.
 *
 * Two passes over the table in constant memory (the published mechanism alone holds the table): the first reads and
 * checks everything, so that a bad cell is found before anything is spent; the second draws.
 * src/outsourced/README.md. */
#ifndef TACET_OUTSOURCED_TRUSTED_CURATE_H
#define TACET_OUTSOURCED_TRUSTED_CURATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/core/status.h>
#include <tacet/outsourced/shared/manifest.h>
#include <tacet/space/space.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacet_curate_mechanism {
    TACET_CURATE_GAUSSIAN,
    TACET_CURATE_PUBLISHED, /* not private */
    TACET_CURATE_LAPLACE,   /* Euclidean Laplace noise: pure eps */
    TACET_CURATE_L2,        /* the same with a smaller scale, and a delta */
    TACET_CURATE_AUTO = 100 /* the proven one with the least noise: tacet_curate_resolve */
} tacet_curate_mechanism;

/* What whoever holds a part of the table is told: how its blocks are known again, and, once the release is charged, the
 * key of its noise. As private as the records. */
typedef struct tacet_curate_part {
    unsigned char mint[32], noise[32], tag[16];
    double scale; /* of the noise, by which another version is noticed */
    uint64_t first;
    bool draw;
} tacet_curate_part;

/* A table whose parts lie elsewhere, each with whoever holds its records and calls tacet_curate_part_run for it. */
typedef struct tacet_curate_engine {
    size_t parts;
    /* How many records part k has, and its tag. */
    tacet_status (*check)(void *user, size_t k, const tacet_curate_part *part, size_t *rows, unsigned char tag[16],
                          tacet_error *err);
    /* Its released lines. */
    tacet_status (*draw)(void *user, size_t k, const tacet_curate_part *part, tacet_blob *lines, tacet_error *err);
    void *user;
} tacet_curate_engine;

typedef struct tacet_curate_settings {
    const char *data;      /* CSV file, or several with commas between them; or, with `table`, the
                              URL of a database, "postgresql://…"; or: */
    const double *records; /* a table in memory, one record after the other, in the order of the columns:
                              numbers in their own units, indices of levels, days; NaN: missing */
    size_t record_count;
    const tacet_curate_engine *engine; /* or a table in parts elsewhere; then `ledger` is required, since this machine
                                          does not see records to know them again */
    const uint64_t *persons; /* of records in memory, with rows_per_person: a number for each, equal ones are one
                                person's; otherwise NULL */
    const char *table;       /* in a database: NAME or SCHEMA.NAME, a table or view; then `ledger` is
                                required. All of it is of one snapshot */
    const char *order;       /* the column by which its records are numbered; NULL: as they are stored */
    const char *person;     /* a column that says whose row it is, which never leaves; NULL: rows count by themselves */
    size_t rows_per_person; /* with it, or with persons: the first so many rows of each are released, and the charge is
                               for all of them; the others are passed over. 0: rows count by themselves */
    const char *folder;     /* receives release.csv and manifest.json; made when missing */
    const char *ledger;     /* file; NULL: beside the table, and linked from the folder; of a table in
                               memory: in the registry, where the same records find it again */
    const tacet_space *space; /* the columns, each with its public bounds and its unit; published takes plain numbers
                                 only */
    tacet_curate_mechanism mechanism;
    size_t dims;         /* published: released coordinates */
    double eps;          /* of the release */
    double delta;        /* in (0, 1); laplace: 0 */
    double budget_eps;   /* of a new ledger; 0: what this release and its outputs need, or what the ledger has */
    double budget_delta; /* likewise; 0: delta */
    bool outputs_private;
    tacet_ldp outputs;       /* when outputs_private */
    size_t queries;          /* how many may be answered */
    const char *to_whom;     /* who receives the release */
    const char *ticket;      /* names this release in the ledger */
    const char *new_budget;  /* why rows that were released before get another budget; NULL: they do not */
    bool *few;               /* may be NULL; set where the table has too few distinct rows for this machine to know it
                                again under another name: what else is released of these people must then name this
                                ledger. It depends on the records, and is for their holder */
    bool accept_not_private; /* published only: the caller knows */
    bool seeded;             /* for tests: reproducible noise, stamped not private */
    uint64_t noise_seed;
    size_t threads; /* 0: as many as there are processors. What is released does not depend on it. */
    bool (*before)(const tacet_manifest *plan, void *user); /* may be NULL; what the release will have, while nothing is
                                                               charged or written yet; false: it is not made, DENIED */
    void (*progress)(double fraction, void *user);          /* may be NULL; from any thread, one at a time */
    void *user;
    const volatile bool *stop; /* may be NULL; once another thread sets it the run ends with STATE. What was charged by
                                  then is drawn, the same, by the next run with this ticket */
} tacet_curate_settings;

/* INVALID names those there are. */
TACET_API tacet_status tacet_curate_parse(tacet_curate_mechanism *out, const char *name, tacet_error *err);
/* The law of its noise; NULL: PUBLISHED, which has none, or no such mechanism. */
TACET_API const tacet_law *tacet_curate_law(tacet_curate_mechanism mechanism);
TACET_API void tacet_curate_defaults(tacet_curate_settings *settings);
/* Fills *manifest (the caller clears it). INVALID: settings. PARSE, NOT_FOUND, IO: the table, named by line and column.
 * BUDGET: the ledger refuses, or the rows were released before under another one (src/registry/README.md), or the
 * folder has a release that this ledger does not know; nothing was drawn. CONFLICT: this ticket was released already,
 * or stands for something else. DENIED: published without accept_not_private. On failure no release.csv or
 * manifest.json is written or changed, and a folder that was made for them is taken away again, unless the ledger lies
 * in it. */
TACET_API tacet_status tacet_curate_run(tacet_manifest *manifest, const tacet_curate_settings *settings,
                                        tacet_error *err);
/* The part of a release that these records make, by whoever holds them: `settings` as those of the release, with its
 * own records. Without part->draw: checks them, and fills *rows and tag. With it: appends the lines of release.csv to
 * *lines. The same part gives the same bytes however often it is run. CONFLICT: these are other records than were
 * checked, or another version of the library. Otherwise as tacet_curate_run. */
TACET_API TACET_MUST_CHECK tacet_status tacet_curate_part_run(const tacet_curate_settings *settings,
                                                              const tacet_curate_part *part, size_t *rows,
                                                              unsigned char tag[16], tacet_blob *lines,
                                                              tacet_error *err);
/* The same up to the point where something would be written or spent: *manifest (the caller clears it) tells the noise,
 * and what is wrong with settings or table comes as it would from tacet_curate_run. No ledger is opened. */
TACET_API tacet_status tacet_curate_rehearse(tacet_manifest *manifest, const tacet_curate_settings *settings,
                                             tacet_error *err);
/* The ledger that these settings charge: the one they name, else DATA.ledger.db beside the table (links followed), so
 * that releases of one table add up wherever they go. INVALID: too long. CONFLICT: the folder is that of another table.
 */
TACET_API tacet_status tacet_curate_ledger(char *out, size_t size, const tacet_curate_settings *settings,
                                           tacet_error *err);
/* Whether the URL of a database has a password in it, which everybody on the machine then reads from the list of
 * processes. */
TACET_API bool tacet_curate_url_has_password(const char *url);
/* what a space makes of a table, told to the holder of its records: everything here depends on them.
 *
 * Which cells fall outside the bounds, how many are missing or cannot be read, and which columns crowd into a corner of
 * their bounds, so that most of the range, and of the noise, is spent on nobody. No number of it may leave. */

#define TACET_SPACE_STAMP "DEPENDS ON THE RECORDS: for their holder only"

typedef struct tacet_space_cells {
    size_t missing;      /* cells; those of a column that says nothing of missing ones are unreadable as well */
    size_t outside;      /* below or above the bounds: clipped */
    size_t others;       /* in no level, counted to the level for others */
    size_t unreadable;   /* refused: not a number, no date, in no level, missing */
    uint64_t first_line; /* of an unreadable one; 0: none */
    double lowest;       /* share of the readable cells in the lowest 3 % of the scaled range; 0 for categories */
    double highest;      /* … in the highest 3 % */
    size_t rarest;       /* category: cells of its rarest level */
} tacet_space_cells;

/* Above this share in one corner a column is crowded: another scale, or tighter bounds, would spread it. */
#define TACET_SPACE_CROWDED 0.9

/* Reads the CSV file once; `out` has a place for each column of the space. NOT_FOUND names a column that the table does
 * not have. PARSE, IO: the file. */
TACET_API tacet_status tacet_space_table(tacet_space_cells *out, size_t *rows, const tacet_space *space,
                                         const char *path, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
