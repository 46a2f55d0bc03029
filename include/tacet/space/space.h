/* SPDX-License-Identifier: Apache-2.0 */
/* space.h - typed public columns: what a record, a context or a point of a study is made of.
 *
 * A space is an ordered list of columns. Everything in it is public: it is written before anybody looks at a record. A
 * *record* is one double per column in the column's own units: a number, a date as days since 1970-01-01, a level as
 * its index; NaN stands for a missing cell where the column has a flag for it. The *embedding* sends a record to
 * scaled coordinates, and its Euclidean distance is never more than the stated metric
 *   distance(a, b) = sqrt(sum over numeric columns of ((g(a) - g(b)) / unit)^2) + number of changed categories
 * (g is the identity, or the logarithm of a log column, whose unit is the logarithm of a factor; a missing flag is a
 * category). src/space/README.md has the argument. Nothing here prints a value of a record. */
#ifndef TACET_SPACE_SPACE_H
#define TACET_SPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TACET_SPACE_NAME = 64,     /* bytes of a column's or level's name, with its NUL */
    TACET_SPACE_COLUMNS = 256, /* at most */
    TACET_SPACE_LEVELS = 1024  /* of one category, at most */
};
#define TACET_SPACE_NONE SIZE_MAX

/* A kind has its entry in the table of src/space/kinds.c under the same name, or the library does not compile. */
#define TACET_SPACE_KINDS(X)                                                                                           \
    X(REAL)                                                                                                            \
    X(LOG)      /* positive; distance is a factor */                                                                   \
    X(INTEGER)  /* whole numbers */                                                                                    \
    X(CATEGORY) /* one of named levels, unordered */                                                                   \
    X(DATE)     /* a day; written YYYY-MM-DD, read also as YYYY-MM and YYYY, their first day */
#define TACET_SPACE_ENUMERATOR(kind) TACET_SPACE_##kind,
typedef enum tacet_space_kind { TACET_SPACE_KINDS(TACET_SPACE_ENUMERATOR) } tacet_space_kind;

/* What a missing cell is: empty, NA, N/A, NaN, null or ?, unless a level is called so. */
typedef enum tacet_space_missing {
    TACET_SPACE_REFUSED,  /* an error */
    TACET_SPACE_STAND_IN, /* a public value, or a level, and nothing shows that it was missing */
    TACET_SPACE_FLAG      /* numeric: a public value, and a category of two levels says that it was missing */
} tacet_space_missing;

typedef struct tacet_space_column {
    char name[TACET_SPACE_NAME];
    tacet_space_kind kind;
    double lo, hi; /* public bounds of all but categories; values outside are clipped */
    double unit;   /* this much is distance 1: an amount, a factor > 1 (log), days (date); 0: not said. Category: 1 */
    char (*levels)[TACET_SPACE_NAME]; /* category; owned by the space */
    size_t level_count;
    size_t others; /* the level of everything that is none of the levels; TACET_SPACE_NONE: refused */
    tacet_space_missing missing;
    double stand_in; /* for a missing cell: a value within the bounds, or the index of a level */
} tacet_space_column;

typedef struct tacet_space {
    tacet_space_column *columns; /* owned */
    size_t count;
} tacet_space;

TACET_API void tacet_space_init(tacet_space *space);
TACET_API void tacet_space_clear(tacet_space *space); /* NULL is allowed */
/* A column with nothing said: refused missing cells, no level for others. */
TACET_API void tacet_space_column_init(tacet_space_column *column);
/* NOT_FOUND names the column. */
TACET_API tacet_status tacet_space_find(const tacet_space *space, size_t *out, const char *name, tacet_error *err);
/* The columns of these names to the end of *out, in this order; names NULL: all that are not in it yet. NOT_FOUND, and
 * as tacet_space_add. */
TACET_API tacet_status tacet_space_pick(tacet_space *out, const tacet_space *from, const char *const *names,
                                        size_t count, tacet_error *err);

/* All that is known of a kind. No other code asks which kind a column has: it asks for what it needs to know. */
typedef struct tacet_space_traits {
    const char *name;   /* in JSON; NULL: no such kind */
    const char *days;   /* after an amount: " days", or "" */
    const char *what;   /* a cell in JSON: "a number" */
    const char *bounds; /* in JSON: "two numbers, [lower,upper]" */
    bool levels;        /* named levels, which differ or not, and are randomised as such; else a number with noise */
    bool whole;         /* whole numbers: rounded, each as likely as another */
    bool factor;        /* amounts are factors: a unit of 1.1 is 10 % */
    bool text;          /* written as text; else as a number */
    tacet_space_kind noisy;        /* what noise makes of it */
    double lengthscale;            /* the usual one of a study, where coordinates lie in [-1, 1] */
    double (*stretch)(double own); /* where distances are measured, g of the metric; NULL: in own units */
    double (*shrink)(double stretched);
    /* How far apart reading and stretching may bring two equal numbers within bounds, in 2^-51, before it is scaled. */
    double (*rounding)(double lo, double hi);
    const char *(*read)(double *out, const char *text, size_t length); /* NULL, or what is wrong. NULL: levels */
    void (*print)(const tacet_space_column *column, char *out, double value);
    bool (*suffix)(double *amount, const char *text); /* what may stand after a unit; NULL: nothing */
    tacet_status (*check)(const tacet_space_column *column, tacet_error *err); /* the rules that are its own */
} tacet_space_traits;
/* Never NULL: a kind that the table does not know has no name, no distance (NaN), reads nothing and is refused. */
TACET_API const tacet_space_traits *tacet_space_traits_of(const tacet_space_column *column);

/* The width of the bounds, in units (of 0: half the width); 0 of levels. */
TACET_API double tacet_space_width(const tacet_space_column *column);

/* The JSON of a space: {"columns":[{"name":"age","kind":"real","bounds":[17,90],"unit":5}, …]}; src/space/README.md has
 * all fields. PARSE names the column and the rule. *out is cleared on failure. */
TACET_API tacet_status tacet_space_decode(tacet_space *out, const char *text, size_t length, tacet_error *err);
/* The same space as text, from malloc: every default written out. */
TACET_API tacet_status tacet_space_encode(const tacet_space *space, char **out, tacet_error *err);

/* The short form of columns that are real numbers or categories, as options say it; each a list with commas, NULL: not
 * given. */
typedef struct tacet_space_options {
    const char *inputs; /* "age,sex": the order of the columns; NULL: as the options below name them, in their order */
    const char *bounds; /* "age=17:90,bmi=10:60", or "17:90,10:60" in the order of inputs */
    const char *levels; /* "race=A|B|C,sex=M|F" */
    const char *unit;   /* "age=5,bmi=2" */
} tacet_space_options;
/* INVALID names option and item. *out is cleared on failure. */
TACET_API tacet_status tacet_space_short(tacet_space *out, const tacet_space_options *options, tacet_error *err);

/* A space to be filled in, from names alone: JSON text from malloc that tacet_space_decode refuses until it is. */
TACET_API tacet_status tacet_space_draft(char **out, const char *const *names, size_t count, tacet_error *err);

/* A cell as text into one number of a record. PARSE, with the column and the rule but never the text: missing and
 * refused, not a number, not whole, no date, in no level. A value outside the bounds is read as it is. *missing (may be
 * NULL) says whether the cell was. text[length] must be readable and no part of a number (a NUL will do). */
TACET_API tacet_status tacet_space_cell(const tacet_space_column *column, double *out, bool *missing, const char *text,
                                        size_t length, tacet_error *err);
/* A number of a record as text: "12.5", "2021-03-01", "Male", "" for a missing one. Needs TACET_SPACE_NAME bytes. */
TACET_API void tacet_space_text(const tacet_space_column *column, char *out, double value);

/* Days since 1970-01-01 of YYYY, YYYY-MM or YYYY-MM-DD (a time of day behind it is read over), years 1 to 9999. */
TACET_API bool tacet_space_day(double *out, const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
