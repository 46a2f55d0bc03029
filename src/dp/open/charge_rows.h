/* SPDX-License-Identifier: Apache-2.0 */
/* charge_rows.h - what a charge for one row is for somebody who has several. Ring: shared. Proof: src/dp/persons.md. */
#pragma once

#include <stdbool.h>
#include <tacet/dp/open/charge.h>

/* Turns claim and numbers of one row into those of `rows` of them. `apart`: each row is released by itself, with noise
 * of its own, so that their costs compose; otherwise one noise hides all, and the costs are those of a group. 0 and 1:
 * nothing changes. INVALID: their delta would be above a thousandth. */
tacet_status tacet__charge_rows(tacet_charge *charge, size_t rows, bool apart, tacet_error *err);
