/* SPDX-License-Identifier: Apache-2.0 */
/* test_choice.c - an arm by public weights: exactly in proportion, and none from the words that would favour some. */
#include "support/test.h"

#include <tacet/local/trusted/device.h>

TEST(every_arm_gets_its_share_of_the_words) {
    const uint32_t weights[] = {3, 0, 5, 1, 0};
    size_t counts[5] = {0};
    for (uint64_t word = 0; word < 9 * 4; word++) {
        size_t arm = 0;
        assert_true(tacet_choice(&arm, weights, 5, word + 9 * UINT64_C(123456789)));
        counts[arm]++;
    }
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(counts[i], 4 * weights[i]);
    }
}

TEST(words_of_the_incomplete_block_are_not_used) {
    const uint32_t weights[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const uint64_t total = UINT64_C(3) * UINT32_MAX, whole = UINT64_MAX / total * total;
    size_t arm = 9;
    assert_true(tacet_choice(&arm, weights, 3, whole - 1));
    assert_int_equal(arm, 2);
    assert_false(tacet_choice(&arm, weights, 3, whole));
    assert_false(tacet_choice(&arm, weights, 3, UINT64_MAX));
}

TEST(without_a_weight_there_is_no_choice) {
    const uint32_t none[] = {0, 0}, one[] = {0, 7};
    size_t arm = 9;
    assert_false(tacet_choice(&arm, none, 2, 5));
    assert_status(tacet_device_choose(&arm, none, 2, NULL), TACET_INVALID);
    assert_ok(tacet_device_choose(&arm, one, 2, NULL));
    assert_int_equal(arm, 1);
}
