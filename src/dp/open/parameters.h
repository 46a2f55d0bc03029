/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.h - numbers among the parameters of a charge, as the gate writes them: one object without blanks. Nothing
 * is allocated, so that want of memory cannot pass for a number that is missing, or change one (jansson drops what it
 * has no memory for in the middle of a number). Ring: shared. */
#pragma once

/* 0: no field of this name, two of them, no number, or a text that is cut off. */
double tacet__parameter_number(const char *parameters, const char *name);
