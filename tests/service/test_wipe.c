/* SPDX-License-Identifier: Apache-2.0 */
/* test_wipe.c - what was in a JSON text is not in memory once it is freed. The heap of this process is searched for a
 * word that is nowhere else; without the wiping free, it is found. */
#include "support/test.h"

#include "io/http/wipe.h"

#include <jansson.h>

enum { WORD = 96, TAIL = 48 }; /* the end of a block survives free's own bookkeeping */

/* Not in the program's own bytes: made when it is needed. */
static void spell(char out[WORD + 1]) {
    for (size_t i = 0; i < WORD; i++) {
        out[i] = (char)('a' + (i * i + 5 * i + 3) % 23);
    }
    out[WORD] = '\0';
}

/* How often the end of the word is on the heap. The needle is kept with its bits turned round. */
static size_t remains(void) {
    char line[512];
    unsigned char needle[TAIL];
    char word[WORD + 1];
    unsigned char *from = NULL;
    unsigned char *to = NULL;
    size_t found = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    (void)setvbuf(maps, NULL, _IONBF, 0);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "[heap]") != NULL) {
            void *a = NULL;
            void *b = NULL;
            assert_int_equal(sscanf(line, "%p-%p", &a, &b), 2);
            from = a;
            to = b;
        }
    }
    (void)fclose(maps);
    spell(word);
    for (size_t i = 0; i < TAIL; i++) {
        needle[i] = (unsigned char)~word[WORD - TAIL + i];
    }
    memset(word, 0, sizeof word);
    for (const unsigned char *at = from; at != NULL && at + TAIL <= to; at++) {
        size_t i = 0;
        while (i < TAIL && at[i] == (unsigned char)~needle[i]) {
            i++;
        }
        found += i == TAIL;
    }
    return found;
}

/* Reads and forgets a text with the word in it, as a handler does with a body. */
static void handle(void) {
    char word[WORD + 1];
    char body[2 * WORD + 64];
    spell(word);
    (void)snprintf(body, sizeof body, "{\"key\":\"%s\",\"%s\":[0.5,{\"x\":1}]}", word, word);
    json_t *read = json_loads(body, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(read, "key")), word);
    json_decref(read);
    memset(word, 0, sizeof word);
    memset(body, 0, sizeof body);
}

TEST(test_block) {
    unsigned char *block = malloc(1000);
    memset(block, 7, 1000);
    tacet__wipe_block(block);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(block[i], 0);
    }
    tacet__wipe_free(block);
    tacet__wipe_block(NULL);
    tacet__wipe_free(NULL);
}

TEST(test_json) {
    json_set_alloc_funcs(malloc, tacet__wipe_free);
    handle();
    assert_int_equal(remains(), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (getenv("TACET_VALGRIND") == NULL) { /* these keep freed memory elsewhere, or as it was */
        json_set_alloc_funcs(malloc, free);
        handle();
        assert_true(remains() > 0); /* the search can find it */
    }
#endif
}
