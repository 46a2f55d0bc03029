/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - main() of a test program that has none of its own. */
#include "support/test.h"

int main(void) {
    return test_main();
}
