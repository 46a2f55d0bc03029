/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h - what really goes into the noise, for tests of sensitivity.
 *
 * Programs of tests/sensitivity are linked with every draw of the gate wrapped (tests/CMakeLists.txt). While a
 * recording runs, each draw notes the numbers that it was about to protect, as clipped and rounded, and the sensitivity
 * that its charge is for. A second run, on a neighbour of the first one's data, is answered with the first one's
 * answers: that is what composition asks of adaptive releases, and keeps later stages comparable. So the real code is
 * driven as it ships, and a sensitivity that is too small, a value that is not clipped, or a record that is read by two
 * mechanisms shows as a movement that is larger than what was charged. */
#ifndef TACET_TESTS_SENSITIVITY_RECORDER_H
#define TACET_TESTS_SENSITIVITY_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

enum { RECORDER_DRAWS_MOST = 512 };

typedef enum recorder_form {
    RECORDER_NUMBERS,
    RECORDER_SCORES,
    RECORDER_LEVELS,
    RECORDER_REPORT,
    RECORDER_CELLS
} recorder_form;

typedef struct recorded {
    recorder_form form;
    bool by_l1;
    double sensitivity, eps, delta; /* of its charge; LEVELS: 1; REPORT: hi - lo; CELLS: 1 */
    size_t rows, count;             /* numbers are rows x count; scores: 1 x candidates */
    double *input;
    size_t outputs;
    double *output;
} recorded;

typedef struct recording {
    recorded draws[RECORDER_DRAWS_MOST];
    size_t count;
} recording;

/* Records into `into`, which starts empty. replay: the run whose answers are given again; NULL: real draws from seeded
 * noise. One at a time. */
void recorder_begin(recording *into, const recording *replay);
void recorder_end(void);
void recording_clear(recording *r);

/* How far two runs on neighbours are apart. */
typedef struct movement {
    double share[RECORDER_DRAWS_MOST]; /* of each draw: the largest movement seen, as a share of its sensitivity */
    size_t draws;
    double eps;   /* the most that one pair of neighbours cost: shares times eps, added up over the draws that moved */
    double moved; /* the most draws that one pair moved */
} movement;

/* Whether a draw had other numbers to protect. */
bool recorded_moved(const recorded *a, const recorded *b);
/* Compares two runs, draw by draw; fails where one draw moved by more than it is charged for, or where the two made
 * different draws at all. */
void movement_add(movement *m, const recording *a, const recording *b);

#endif
