/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_outsourced.c - tacet audit outsourced: whoever knows a few records of a release tries to read all the others.
 * Ring: audit. Run by the curator, who has the truth to compare with; prints distances, never records. */
#include "commands.h"

#include <tacet/audit/audit.h>

int cmd_outsourced(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL, *data = NULL;
    size_t known = 0;
    tacet_manifest m;
    tacet_rebuild r;
    tacet_error err = {0};
    const cli_option options[] = {
        CLI_NEED("release", &folder, "DIR", "the folder 'tacet curate' wrote"),
        CLI_NEED("data", &data, "FILE", "the records it was made from: the attacker's knowledge, and the truth"),
        CLI_NEED("known", &known, "K", "how many records the attacker knows"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (tacet_rebuild_release(&r, &m, folder, data, known, 1, &err) != TACET_OK) {
        return cli_refuse(self, &err);
    }
    /* Expected: a release that claims privacy withstands it, the published mechanism does not. */
    const int code = r.succeeded && m.is_private ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    (void)cli_tell(cli_object("mechanism private rows known succeeded recovered rms blind largest _percent _of",
                              J(m.mechanism), J(m.is_private), J(m.rows), J(known), J(r.succeeded), J(r.recovered),
                              J(r.rms), J(r.blind), J(r.largest), J(100 * r.recovered),
                              J(r.blind > 0 ? 100 * r.rms / r.blind : 0)),
                   "{mechanism} release of {rows} records; the attacker knows {known} of them\n"
                   "  typical error of the rebuilt records   {rms:.3g} (in units of the protected distance)\n"
                   "  the same for a blind guess             {blind:.3g}\n"
                   "  records read exactly                   {_percent:.1f} %\n"
                   "  grade: {?succeeded|EVERY RECORD CAN BE READ}{!succeeded|no record is read; the attacker is left "
                   "with {_of:.0f} % of the error of a blind guess}\n");
    tacet_manifest_clear(&m);
    return code;
}
