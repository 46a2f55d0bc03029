/* SPDX-License-Identifier: Apache-2.0 */
/* disclosure_facts.h - what the program itself knows of a disclosure: fields of the registry and parts of the label, as
 * texts. Ring: open. */
#pragma once

#include "report/text.h"

#include <jansson.h>
#include <tacet/report/report.h>

enum { TACET__KNOWN_MOST = 16384 }; /* bytes of one text */

/* An object of texts. INVALID: a study that states no proven guarantee, or a text that is no study's status, or no
 * result of tuning; a model of a study. PARSE: a text that is no model. */
tacet_status tacet__disclose_known(json_t **out, const tacet_disclosure *d, tacet_error *err);
/* The text of a name; "" where there is none. */
const char *tacet__known(const json_t *known, const char *name);
/* The media type of a label as HTML. With `part` the page becomes its <main> alone, as XML: a page whose
 * Content-Security-Policy allows no other style can show that. */
const char *tacet__label_type(char *text, bool part);
/* Hands a text over, once it is complete. NO_MEMORY; INVALID: it is longer than any page of ours. */
tacet_status tacet__disclosure(char **out, tacet__text *page, tacet_error *err);
/* Six digits that are never below x, into out; returns out. */
enum { TACET__ABOVE = 32 };
char *tacet__above(char *out, double x);
