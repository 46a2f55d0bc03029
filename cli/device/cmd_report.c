/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `tacet device report`: one reward, one ticket, one report.
 * Ring: trusted. Messages never hold the reward. */
#include "device/commands.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/local/trusted/service.h>
#include <unistd.h>

static int run(const cli_command *self, const char *mechanism, cli_span range, double eps, tacet_device_errand *errand,
               double reward) {
    tacet_error err = {0};
    tacet_ldp ldp;
    tacet_ldp_kind kind = TACET_LDP_SPHERE;
    tacet_device_answer answer = {0};
    bool drawn = false;
    tacet_status status = errand->point != NULL ? TACET_OK : tacet_ldp_parse(&kind, mechanism, &err);
    TACET_THEN(status, tacet_ldp_init(&ldp, kind, eps, range.lo, range.hi, &err));
    errand->ldp = &ldp;
    TACET_THEN(status, tacet_device_run(errand, &answer, &drawn, reward, &err));
    errand->ldp = NULL;
    if (status != TACET_OK) {
        const int code = drawn ? cli_fail(self, &err) : cli_refuse(self, &err);
        if (drawn) {
            cli_say(self, "the report is kept; the same command sends the same bits");
        }
        return code;
    }
    if (answer.clipped) {
        cli_say(self, "the reward lies outside %g:%g and was clipped", range.lo, range.hi);
    }
    return cli_tell(cli_object("ticket report mechanism eps lo hi repeated sent private", J(errand->ticket),
                               J(answer.report), J(tacet_ldp_name(ldp.kind)), J(ldp.eps), J(ldp.lo), J(ldp.hi),
                               J(answer.repeated), JB(errand->address.server != NULL), JB(true)),
                    "{report:.17g}\n");
}

int cmd_report(int argc, char **argv, const cli_command *self) {
    tacet_device_errand r = {.to_whom = "server", .budget = (double)NAN, .address = {.patience = SERVICE_PATIENCE}};
    const char *mechanism = "hybrid", *text = NULL;
    cli_span range = {0};
    cli_reals point = {0}; /* of a study whose decision sets stay on the devices; NULL: of another */
    double eps = NAN;
    bool failed = false;
    const cli_option options[] = {
        CLI_NEED("ticket", &r.ticket, "NAME", "Names the question: the server's round. At most 200 bytes."),
        CLI_OPT("value", &text, "Y", "The reward; - reads it from stdin."),
        CLI_OPT("failed", &failed, NULL,
                "There is no reward: an ordinary report about the middle of the range, so that nothing shows."),
        CLI_NEED("range", &range, "LO:HI", "Public range of the reward; what lies outside is clipped."),
        CLI_NEED("eps", &eps, "E", "Of this report; 2^-10 to 32."),
        CLI_NEED("ledger", &r.ledger, "FILE", "The device's memory and account."),
        CLI_OPT("budget-eps", &r.budget, "E", "Creates the ledger: eps of all reports together."),
        SERVICE_OPTIONS(r.address, false),
        CLI_OPT("point", &point, "X,Y",
                "A study of decision sets that stay on the devices: the point that was played. With --server; the "
                "report is of point and reward, with pure eps, by the mechanism sphere."),
        CLI_OPT("mechanism", &mechanism, "NAME", "hybrid (default) or laplace."),
        {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    double reward = 0;
    /* Before a ledger is made for nothing. */
    if (r.ticket[0] == '\0' || strlen(r.ticket) > TACET_DEVICE_TICKET_MOST) {
        return cli_usage(self, "--ticket has 1 to %d bytes", (int)TACET_DEVICE_TICKET_MOST);
    }
    if (point.at != NULL && r.address.server == NULL) {
        return cli_usage(self, "--point needs --server: the study's public model says how a report is made");
    }
    if (failed == (text != NULL)) {
        return cli_usage(self, "either --value Y or --failed is needed");
    }
    if (failed) {
        reward = range.lo / 2 + range.hi / 2;
    } else if (!cli_value(&reward, text)) {
        return cli_usage(self, "the reward is not a number");
    }
    if (isnan(r.budget) && access(r.ledger, F_OK) != 0 && errno == ENOENT) {
        return cli_usage(self, "there is no ledger at %s yet: --budget-eps creates it", r.ledger);
    }
    r.point = point.at;
    r.point_count = point.count;
    const int code = run(self, mechanism, range, eps, &r, reward);
    sodium_memzero(&reward, sizeof reward);
    return code;
}
