/* SPDX-License-Identifier: Apache-2.0 */
/* test_persons.c - at most so many rows of a person, whatever the rows hold: against a count that is made otherwise. */
#include "support/test.h"

#include "io/csv/persons.h"

#include <stdlib.h>
#include <tacet/core/simrng.h>
#include "io/csv/internal.h"
#include <unistd.h>

enum { ROWS = 20000, PEOPLE = 3000 };

TEST(the_first_rows_of_each_person_are_kept) {
    static size_t seen[PEOPLE];
    tacet_simrng rng;
    tacet_simrng_init(&rng, 11, 0);
    for (size_t most = 1; most <= 7; most += 3) {
        tacet__persons *p = NULL;
        memset(seen, 0, sizeof seen);
        assert_ok(tacet__persons_open(&p, most, NULL));
        for (size_t i = 0; i < ROWS; i++) {
            const uint64_t who = tacet_simrng_below(&rng, PEOPLE);
            bool keep = false;
            assert_ok(tacet__persons_keep(p, &keep, tacet__persons_hash(p, &who, sizeof who), NULL));
            assert_true(keep == (seen[who] < most));
            seen[who]++;
        }
        tacet__persons_close(p);
    }
}

/* Whose rows hold what must not decide which rows are kept: two tables with the same person column, and everything else
 * different, keep the same places. */
TEST(only_the_person_column_decides) {
    OWN_FOLDER const char *folder = test_mkdir();
    char path[512];
    unsigned char kept[2][200] = {{0}};
    for (int table = 0; table < 2; table++) {
        tacet_csv *csv = NULL;
        tacet__persons *p = NULL;
        bool found = false;
        size_t column = 0;
        (void)snprintf(path, sizeof path, "%s/%d.csv", folder, table);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        (void)fputs(table == 0 ? "who,x\n" : "x,who\n", file);
        for (int i = 0; i < 200; i++) {
            (void)(table == 0 ? fprintf(file, " p%d\t,%d\n", i * i % 17, i)
                              : fprintf(file, "%d,p%d\n", -i, i * i % 17));
        }
        assert_int_equal(fclose(file), 0);
        assert_ok(tacet_csv_open_file(&csv, path, NULL, NULL));
        assert_ok(tacet_csv_find(csv, &column, "who", NULL));
        assert_ok(tacet__persons_open(&p, 2, NULL));
        while (tacet__persons_next(p, csv, column, &found, NULL) == TACET_OK && found) {
            kept[table][tacet_csv_record(csv)] = 1;
        }
        tacet__persons_close(p);
        tacet_csv_close(csv);
        assert_int_equal(unlink(path), 0);
    }
    size_t rows = 0;
    for (size_t i = 0; i < sizeof kept[0]; i++) {
        rows += kept[0][i];
    }
    assert_int_equal(rows, 2 * 9); /* squares modulo 17 take nine values */
    assert_memory_equal(kept[0], kept[1], sizeof kept[0]);
}

/* Blanks around a name are none of it, quoted or not; blanks within, and other letters, are. */
TEST(blanks_around_a_name_make_no_other_person) {
    static const char ROWS_OF[] = "who\nAda L\n Ada L\nAda L \n\tAda L\t\n\"  Ada L \t\"\nAda  L\nAdaL\nada l\n";
    static const bool KEPT[] = {true, false, false, false, false, true, true, true};
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_TEXT char *path = test_text("%s/t.csv", folder);
    tacet_csv *csv = NULL;
    tacet__persons *p = NULL;
    bool found = false, kept[8] = {false};
    test_write(path, ROWS_OF);
    assert_ok(tacet_csv_open_file(&csv, path, NULL, NULL));
    assert_ok(tacet__persons_open(&p, 1, NULL));
    while (tacet__persons_next(p, csv, 0, &found, NULL) == TACET_OK && found) {
        kept[tacet_csv_record(csv)] = true;
    }
    assert_false(found);
    assert_memory_equal(kept, KEPT, sizeof kept);
    tacet__persons_close(p);
    tacet_csv_close(csv);
}

TEST(nobody_is_named_twice_under_one_key) {
    tacet__persons *a = NULL, *b = NULL;
    assert_status(tacet__persons_open(&a, 0, NULL), TACET_INVALID);
    assert_ok(tacet__persons_open(&a, 1, NULL));
    assert_ok(tacet__persons_open(&b, 1, NULL));
    assert_true(tacet__persons_hash(a, "Ada", 3) == tacet__persons_hash(a, "Ada", 3));
    assert_true(tacet__persons_hash(a, "Ada", 3) != tacet__persons_hash(a, "Bob", 3));
    assert_true(tacet__persons_hash(a, "Ada", 3) != tacet__persons_hash(b, "Ada", 3)); /* each has a key of its own */
    tacet__persons_close(b);
    tacet__persons_close(a);
    assert_each_alloc_fails(tacet__persons_open(&a, 3, NULL), a == NULL);
    tacet__persons_close(a);
}
