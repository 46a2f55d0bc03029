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
#include <tacet/local/trusted/device_ledger.h>
#include <tacet/local/trusted/statistics_report.h>
#include <unistd.h>

typedef struct request {
    const char *ticket, *reward, *mechanism, *ledger, *to;
    cli_span range;
    cli_reals point; /* of a study whose decision sets stay on the devices; NULL: of another */
    double eps, budget;
    tacet_device_address address; /* server NULL: nothing is sent */
} request;

static bool read_reward(const char *text, double *out) {
    char line[128];
    if (strcmp(text, "-") != 0) {
        return cli_number(out, text);
    }
    if (fgets(line, sizeof line, stdin) == NULL) {
        return false;
    }
    line[strcspn(line, "\r\n")] = '\0';
    const bool ok = cli_number(out, line);
    sodium_memzero(line, sizeof line);
    return ok;
}

/* An existing ledger keeps its budget; a new one needs one. */
static tacet_status open_ledger(tacet_ledger **out, const request *r, tacet_error *err) {
    tacet_ledger_settings settings;
    tacet_ledger_settings_defaults(&settings);
    settings.accounting = TACET_ACCOUNTING_BASIC;
    settings.delta = 0;
    if (isnan(r->budget)) {
        settings.use_stored = true;
        settings.create = false;
    } else {
        settings.eps = r->budget;
    }
    return tacet_ledger_open(out, r->ledger, &settings, err);
}

/* Before anything is drawn or charged. */
static tacet_status connect_service(tacet_device_service **out, const request *r, const tacet_ldp *ldp,
                                    tacet_error *err) {
    *out = NULL;
    if (r->address.server == NULL) {
        return TACET_OK;
    }
    const tacet_status status = tacet_device_service_open(out, &r->address, err);
    return status != TACET_OK ? status : tacet_device_service_agree(*out, ldp, err);
}

static tacet_status randomizer(tacet_ldp *out, const request *r, tacet_error *err) {
    tacet_ldp_kind kind = TACET_LDP_SPHERE;
    const tacet_status status = r->point.at != NULL ? TACET_OK : tacet_ldp_parse(&kind, r->mechanism, err);
    return status == TACET_OK ? tacet_ldp_init(out, kind, r->eps, r->range.lo, r->range.hi, err) : status;
}

/* The point that was played and its reward, by the model and the round that the server tells. */
static tacet_status report_point(tacet_device_service *server, const tacet_ldp *ldp, const tacet_device_store *store,
                                 tacet_device_answer *answer, const request *r, double reward, tacet_error *err) {
    tacet_statistics_model *model = NULL;
    uint64_t round = 0;
    tacet_status status = tacet_device_service_model(server, &model, err);
    if (status == TACET_OK && r->point.count != tacet_statistics_model_dim(model)) {
        status = tacet_error_set(err, TACET_INVALID, "--point needs %zu numbers with commas",
                                 tacet_statistics_model_dim(model));
    }
    status = status != TACET_OK ? status : tacet_device_service_round(server, &round, r->ticket, err);
    status = status != TACET_OK
                 ? status
                 : tacet_statistics_report(model, ldp, store, answer, r->ticket, round, r->point.at, reward, err);
    tacet_statistics_model_free(model);
    return status;
}

static int run(const cli_command *self, const request *r, double reward) {
    tacet_error err = {0};
    tacet_ldp ldp;
    tacet_ledger *ledger = NULL;
    tacet_device *device = NULL;
    tacet_device_service *server = NULL;
    tacet_device_ledger memory;
    tacet_device_store store;
    tacet_device_answer answer = {0};
    tacet_status status = randomizer(&ldp, r, &err);
    if (status == TACET_OK) {
        status = connect_service(&server, r, &ldp, &err);
    }
    if (status == TACET_OK) {
        status = open_ledger(&ledger, r, &err);
    }
    if (status == TACET_OK) {
        tacet_device_ledger_init(&memory, &store, ledger, r->to);
        status = tacet_device_open(&device, &ldp, &store, &err);
    }
    if (status == TACET_OK) {
        status = r->point.at != NULL ? report_point(server, &ldp, &store, &answer, r, reward, &err)
                                     : tacet_device_report(device, &answer, r->ticket, reward, &err);
    }
    const bool drawn = status == TACET_OK;
    if (drawn && server != NULL) {
        status = tacet_device_service_observe(server, r->ticket, answer.report, &err);
    }
    int code = CLI_EXIT_OK;
    if (status == TACET_OK) {
        if (answer.clipped) {
            cli_say(self, "the reward lies outside %g:%g and was clipped", r->range.lo, r->range.hi);
        }
        (void)cli_tell(cli_object("ticket report mechanism eps lo hi repeated sent private", J(r->ticket),
                                  J(answer.report), J(tacet_ldp_name(ldp.kind)), J(ldp.eps), J(ldp.lo), J(ldp.hi),
                                  J(answer.repeated), JB(server != NULL), JB(true)),
                       "{report:.17g}\n");
    } else {
        code = drawn ? cli_fail(self, &err) : cli_refuse(self, &err);
        if (drawn) {
            cli_say(self, "the report is kept; the same command sends the same bits");
        }
    }
    tacet_device_service_close(server);
    tacet_device_close(device);
    tacet_ledger_close(ledger);
    return code;
}

int cmd_report(int argc, char **argv, const cli_command *self) {
    request r = {.mechanism = "hybrid",
                 .to = "server",
                 .eps = (double)NAN,
                 .budget = (double)NAN,
                 .address = {.patience = SERVICE_PATIENCE}};
    bool failed = false;
    const cli_option options[] = {
        CLI_NEED("ticket", &r.ticket, "T", "Names the question: the server's round. At most 200 bytes."),
        CLI_OPT("reward", &r.reward, "Y", "The reward; - reads it from stdin."),
        CLI_OPT("failed", &failed, NULL,
                "There is no reward: an ordinary report about the middle of the range, so that nothing shows."),
        CLI_OPT("point", &r.point, "X,Y",
                "A study of decision sets that stay on the devices: the point that was played. With --server; the "
                "report is of point and reward, with pure eps, by the mechanism sphere."),
        CLI_NEED("range", &r.range, "LO:HI", "Public range of the reward; what lies outside is clipped."),
        CLI_NEED("eps", &r.eps, "E", "Of this report; 2^-10 to 32."),
        CLI_OPT("mechanism", &r.mechanism, "NAME",
                "laplace, staircase, duchi (one bit), piecewise, hybrid. Default hybrid."),
        CLI_NEED("ledger", &r.ledger, "FILE", "The device's memory and account."),
        CLI_OPT("budget", &r.budget, "E", "Creates the ledger: eps of all reports together."),
        CLI_OPT("to", &r.to, "WHOM", "Who receives the reports, for the ledger. Default server."),
        SERVICE_OPTIONS(r.address, false),
        {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    double reward = 0;
    /* Before a ledger is made for nothing. */
    if (r.ticket[0] == '\0' || strlen(r.ticket) > TACET_DEVICE_TICKET_MOST) {
        return cli_usage(self, "--ticket has 1 to %d bytes", (int)TACET_DEVICE_TICKET_MOST);
    }
    if (r.point.at != NULL && r.address.server == NULL) {
        return cli_usage(self, "--point needs --server: the study's public model says how a report is made");
    }
    if (failed == (r.reward != NULL)) {
        return cli_usage(self, "either --reward Y or --failed is needed");
    }
    if (failed) {
        reward = r.range.lo / 2 + r.range.hi / 2;
    } else if (!read_reward(r.reward, &reward)) {
        return cli_usage(self, "the reward is not a number");
    }
    if (isnan(r.budget) && access(r.ledger, F_OK) != 0 && errno == ENOENT) {
        return cli_usage(self, "there is no ledger at %s yet: --budget creates it", r.ledger);
    }
    const int code = run(self, &r, reward);
    sodium_memzero(&reward, sizeof reward);
    return code;
}
