/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - figures from data, as JSON of marks and scales, and as SVG. Ring: open. */
#pragma once

#include "report/text.h"

#include <jansson.h>
#include <tacet/core/status.h>

/* As tacet_figure (tacet/report/report.h), unchecked. NULL: there is nothing to draw, or no such figure. */
json_t *tacet__figure(const char *kind, const json_t *data);
/* From malloc. */
tacet_status tacet__figure_svg(char **out, size_t *length, const json_t *figure, int width, tacet__chart_form form,
                               tacet_error *err);
