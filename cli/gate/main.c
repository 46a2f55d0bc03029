/* main.c - tacet-gate: what the door does, without any data behind it.
 * Ring: gate. */
#include "gate/commands.h"

static const cli_command COMMANDS[] = {
    {"noise", "raw exact noise on stdout, for anyone to test", "KIND --scale S --count N [options]",
     "Writes draws of the library's own samplers, as every mechanism uses them, so that other tools can test them. "
     "KIND is gaussian or laplace (a real draw rounded to the nearest multiple of the grid), discrete-gaussian or "
     "discrete-laplace (mass on the multiples), knorm (one vector of N coordinates with density exp(-|v|/S), rounded), "
     "or bit (1 with probability exp(-S), else 0).\n\n"
     "The grid is a power of two, S / 2^B or the next one below, and is named on stderr; every value is a whole "
     "multiple of it, exactly. Draws come from the operating system's entropy and differ from run to run unless --seed "
     "is given, which is for tests and is stamped not private.",
     "tacet noise gaussian --scale 2.5 --count 1000000 --format f64le > draws\n"
     "tacet noise laplace --scale 1 --count 10 --grid-bits 4\n"
     "tacet noise bit --scale 0.5 --count 20 --seed 7 --json",
     cmd_noise},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv) {
    static const cli_program PROGRAM = {"tacet-gate", "Exact noise and its calibration.", "gate", COMMANDS};
    return cli_main(&PROGRAM, argc, argv);
}
