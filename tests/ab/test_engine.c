/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine.c - a log that an engine adds up from parts is released as the same bits as the log in one piece, however
 * it was cut; parts that are missing, there twice, of other rows or of another plan are refused before anything is
 * drawn or charged. */
#include "ab/trusted/internal.h"
#include "support/gate.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <unistd.h>

enum { ROWS = 1500, WIDTH = 3 };
static double rows[ROWS * WIDTH];

typedef struct engine {
    const tacet_ab_question *q;
    size_t parts, left_out, twice, passes;
    tacet_ab_pass changed; /* in this pass row 5 is another; TACET_AB_KNOWN: in none */
    size_t stale;          /* tallies of another top */
    bool swapped;          /* what changes is that row 5 and the next one change places */

    unsigned char deals[2][TACET_AB_DEAL_KEY]; /* the keys of the law and the table */
} engine;

static void swap_rows(void) {
    for (size_t i = 0; i < WIDTH; i++) {
        const double kept = rows[5 * WIDTH + i];
        rows[5 * WIDTH + i] = rows[6 * WIDTH + i];
        rows[6 * WIDTH + i] = kept;
    }
}

static tacet_space make_space(double top) {
    const tacet_space_options options = {.inputs = "action,type", .levels = "action=A|B|C,type=a|b|c|d"};
    tacet_space space;
    tacet_simrng rng = test_rng(3, 0);
    assert_ok(tacet_space_short(&space, &options, NULL));
    for (size_t i = 0; i < ROWS; i++) {
        rows[i * WIDTH] = (double)tacet_simrng_below(&rng, 3);
        rows[i * WIDTH + 1] = (double)tacet_simrng_below(&rng, 4);
        rows[i * WIDTH + 2] = top * tacet_simrng_uniform(&rng);
    }
    return space;
}

/* Parts of uneven sizes, the third of them empty, each saved and loaded as by another process, merged from the last to
 * the first. */
static tacet_status add_up(void *user, tacet_tally **out, const tacet_ab_stage *stage, tacet_error *err) {
    engine *e = user;
    tacet_tally_plan plan;
    tacet_status status = tacet_ab_stage_plan(&plan, e->q, stage, err);
    const double kept = rows[5 * WIDTH + 2];
    const bool changes = e->changed != TACET_AB_KNOWN && e->changed == stage->pass;
    e->passes++;
    if (stage->pass != TACET_AB_KNOWN) {
        memcpy(e->deals[stage->pass == TACET_AB_TABLE], stage->key, TACET_AB_DEAL_KEY);
    }
    if (changes && e->swapped) {
        swap_rows();
    } else if (changes) {
        rows[5 * WIDTH + 2] = kept / 2;
    }
    for (size_t p = e->parts; p-- > 0 && status == TACET_OK;) {
        const size_t begin = p == 3 ? ROWS * 2 / e->parts : ROWS * p / e->parts;
        const size_t end = p == 2 ? begin : ROWS * (p + 1) / e->parts;
        for (size_t again = 0; again <= (p + 1 == e->twice ? 1 : 0) && p + 1 != e->left_out && status == TACET_OK;
             again++) {
            tacet_ab_stage asked = *stage;
            asked.top += e->stale > 0 ? 1 : 0;
            tacet_tally *one = NULL, *loaded = NULL;
            tacet_blob blob;
            tacet_blob_init(&blob);
            assert_ok(tacet_ab_part_tally(&one, e->q, &asked, rows + begin * WIDTH, end - begin, begin, NULL));
            assert_ok(tacet_tally_save(one, &blob, NULL));
            status = tacet_tally_load(&loaded, &plan, blob.data, blob.size, err);
            tacet_blob_clear(&blob);
            tacet_tally_free(one);
            if (status == TACET_OK && *out == NULL) {
                *out = loaded;
                continue;
            }
            status = status == TACET_OK && end > begin ? tacet_tally_merge(*out, loaded, err) : status;
            tacet_tally_free(loaded);
        }
    }
    if (changes && e->swapped) {
        swap_rows();
    }
    rows[5 * WIDTH + 2] = kept;
    return status;
}

static char *model_of(const tacet_ab_question *q, engine *e, tacet_status expected) {
    const tacet_contextual_entry entry = {.ticket = "t", .to_whom = "w", .seeded = true, .seed = 11};
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    char *text = NULL;
    tacet_status status = e != NULL ? tacet_ab_log_open_engine(&log, ROWS, add_up, e, q, NULL)
                                    : tacet_ab_log_open_rows(&log, rows, ROWS, q, NULL);
    TACET_THEN(status, tacet_ab_log_release(log, &model, &entry, NULL));
    assert_int_equal(status, expected);
    if (status == TACET_OK) {
        assert_ok(tacet_ab_model_encode(model, &text, NULL));
    }
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
    return text;
}

TEST(any_cut_gives_the_bits_of_one_piece) {
    static const size_t cuts[] = {1, 2, 7};
    static const double tops[] = {1, 40}; /* one pass; and money, where rows are dealt by their numbers */
    for (size_t v = 0; v < 2; v++) {
        OWN_SPACE tacet_space space = make_space(tops[v]);
        const tacet_ab_question q = {
            .space = &space, .action_columns = 1, .reward = "y", .hi = v == 0 ? 1 : 5000, .eps = 1};
        OWN_TEXT char *whole = model_of(&q, NULL, TACET_OK);
        for (size_t k = 0; k < 3; k++) {
            engine e = {.q = &q, .parts = cuts[k]};
            OWN_TEXT char *text = model_of(&q, &e, TACET_OK);
            assert_string_equal(text, whole);
            assert_int_equal(e.passes, v == 0 ? 1 : 3);
        }
    }
}

TEST(what_is_not_all_rows_once_is_refused) {
    for (size_t v = 0; v < 2; v++) {
        OWN_SPACE tacet_space space = make_space(v == 0 ? 1 : 40);
        const tacet_ab_question q = {
            .space = &space, .action_columns = 1, .reward = "y", .hi = v == 0 ? 1 : 5000, .eps = 1};
        engine left_out = {.q = &q, .parts = 7, .left_out = 5}, twice = {.q = &q, .parts = 7, .twice = 2},
               changed = {.q = &q, .parts = 7, .changed = TACET_AB_TABLE},
               swapped = {.q = &q, .parts = 7, .changed = TACET_AB_TABLE, .swapped = true},
               stale = {.q = &q, .parts = 2, .stale = 1};
        assert_null(model_of(&q, &left_out, TACET_CONFLICT));
        assert_null(model_of(&q, &twice, TACET_CONFLICT));
        assert_null(model_of(&q, &stale, TACET_CONFLICT));
        if (v == 1) { /* the law was learnt from other rows than the table would be */
            assert_null(model_of(&q, &changed, TACET_CONFLICT));
            assert_null(model_of(&q, &swapped, TACET_CONFLICT)); /* rows are dealt by their places */
        }
    }
}

/* Money: whoever knows no key cannot tell which rows are in which part. Both parts have one key, which the ledger's key
 * file or the seed makes, and another of them makes another. */
TEST(rows_are_dealt_by_a_key_of_the_ledgers_own) {
    static const unsigned char none[TACET_AB_DEAL_KEY] = {0};
    OWN_SPACE tacet_space space = make_space(40);
    OWN_FOLDER const char *folder = test_mkdir();
    tacet_ab_question q = {.space = &space, .action_columns = 1, .reward = "y", .hi = 5000, .eps = 1};
    engine made[4];
    for (size_t i = 0; i < 4; i++) {
        OWN_TEXT char *ledger = test_text("%s/%zu.db", folder, i);
        const tacet_contextual_entry entry = {
            .ledger = i < 2 ? ledger : NULL, .ticket = "t", .to_whom = "w", .seeded = i >= 2, .seed = i};
        tacet_ab_log *log = NULL;
        tacet_ab_model *model = NULL;
        made[i] = (engine){.q = &q, .parts = 2};
        assert_ok(tacet_ab_log_open_engine(&log, ROWS, add_up, &made[i], &q, NULL));
        assert_ok(tacet_ab_log_release(log, &model, &entry, NULL));
        tacet_ab_model_free(model);
        tacet_ab_log_free(log);
        assert_memory_equal(made[i].deals[0], made[i].deals[1], sizeof none);
        assert_memory_not_equal(made[i].deals[0], none, sizeof none);
        for (size_t k = 0; k < i; k++) {
            assert_memory_not_equal(made[i].deals[0], made[k].deals[0], sizeof none);
        }
    }
}

TEST(a_ledger_is_named_and_persons_are_not_guessed) {
    static const uint64_t persons[ROWS] = {0};
    OWN_SPACE tacet_space space = make_space(1);
    tacet_ab_question q = {.space = &space, .action_columns = 1, .reward = "y", .hi = 1, .eps = 1};
    OWN_FOLDER const char *folder = test_mkdir();
    engine e = {.q = &q, .parts = 2};
    const tacet_ab_stage stage = {.pass = TACET_AB_TABLE, .rows = ROWS, .top = 1};
    tacet_contextual_entry entry = {.ticket = "t", .to_whom = "w"};
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    tacet_tally *tally = NULL;
    OWN_TEXT char *ledger = test_text("%s/ledger.db", folder);
    assert_ok(tacet_ab_log_open_engine(&log, ROWS, add_up, &e, &q, NULL));
    assert_status(tacet_ab_log_release(log, &model, &entry, NULL), TACET_INVALID);
    entry.ledger = ledger;
    assert_int_equal(access(ledger, F_OK), -1);
    assert_ok(tacet_ab_log_release(log, &model, &entry, NULL));
    tacet_ab_model_free(model);
    entry.ticket = "another"; /* the budget was that release's */
    assert_status(tacet_ab_log_release(log, &model, &entry, NULL), TACET_BUDGET);
    tacet_ab_log_free(log);
    /* What a person's rows cost is told of rows that others counted, too. */
    entry = (tacet_contextual_entry){.ticket = "t", .to_whom = "w", .seeded = true};
    q.rows_per_person = 3;
    assert_ok(tacet_ab_log_open_engine(&log, ROWS, add_up, &e, &q, NULL));
    q.rows_per_person = 0; /* of the parts, which know nothing of persons */
    assert_ok(tacet_ab_log_release(log, &model, &entry, NULL));
    assert_true(tacet_ab_model_facts(model)->person_rows == 3 && tacet_ab_model_facts(model)->person_eps == 3);
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
    /* A tally is of one deal, and of one space. */
    tacet_tally_plan plan, other;
    tacet_ab_stage dealt = stage;
    dealt.key[0] = 1;
    assert_ok(tacet_ab_stage_plan(&plan, &q, &stage, NULL));
    assert_ok(tacet_ab_stage_plan(&other, &q, &dealt, NULL));
    assert_memory_not_equal(plan.hash, other.hash, sizeof plan.hash);
    space.columns[1].levels[0][0] = 'x';
    assert_ok(tacet_ab_stage_plan(&other, &q, &stage, NULL));
    assert_memory_not_equal(plan.hash, other.hash, sizeof plan.hash);
    q.rows_per_person = 1000001; /* more than anybody has */
    assert_status(tacet_ab_log_open_engine(&log, ROWS, add_up, &e, &q, NULL), TACET_INVALID);
    q.persons = persons;
    q.rows_per_person = 1;
    assert_status(tacet_ab_part_tally(&tally, &q, &stage, rows, 10, 0, NULL), TACET_UNSUPPORTED);
    assert_status(tacet_ab_log_open_engine(&log, ROWS, add_up, &e, &q, NULL), TACET_UNSUPPORTED);
    assert_null(tally);
}
