/* SPDX-License-Identifier: Apache-2.0 */
/* style.h - the style sheets in src/report/style, which cmake/Styles.cmake writes as texts. Ring: open. */
#pragma once

extern const char tacet__style_look[];   /* colours and charts; web/app.css has it, too */
extern const char tacet__style_report[]; /* a report */
extern const char tacet__style_label[];  /* a label, wherever it is; web/app.css has it, too */
extern const char tacet__style_sheet[];  /* a label as a page of its own */
