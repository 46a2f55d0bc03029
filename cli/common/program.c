/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - main() of every program but the front door. Ring: programs. */
#include "common/cli.h"

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
