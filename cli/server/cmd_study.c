/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_study.c - tacet study list, show, archive, snapshot, token: what is stored, beside a running server or without
 * one. Ring: trusted. Shows definitions and counts; never a decision set, a reward or a state. */
#include "server/commands.h"

#include "core/fail.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *model_name(const tacet__study *s) {
    return s->model == TACET__STUDY_CENTRAL ? "central" : "local";
}

static const char *state_name(const tacet__study *s) {
    return s->state == TACET__STUDY_ARCHIVED ? "archived" : "active";
}

static json_t *study_json(const tacet__study *s) {
    return json_pack("{ss ss ss sI sI sI sI}", "name", s->name, "trust", model_name(s), "state", state_name(s),
                     "created", (json_int_t)s->created, "suggested", (json_int_t)s->suggested, "observed",
                     (json_int_t)s->observed, "released", (json_int_t)s->released);
}

static tacet_status list_one(const tacet__study *s, void *user, tacet_error *err) {
    (void)err;
    if (!cli_json_wanted()) {
        printf("%-32s %-8s %-9s %10" PRIu64 " suggested %10" PRIu64 " observed\n", s->name, model_name(s),
               state_name(s), s->suggested, s->observed);
    }
    (void)json_array_append_new(user, study_json(s));
    return TACET_OK;
}

int cmd_study_list(int argc, char **argv, const cli_command *self) {
    tacet__studies_settings settings = {0};
    tacet__studies *store = NULL;
    tacet_error err = {0};
    const cli_option options[] = {STORE_OPTIONS(settings), {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    json_t *array = json_array();
    tacet_status status = tacet__studies_open(&store, &settings, &err);
    status = status != TACET_OK ? status : tacet__studies_list(store, list_one, array, &err);
    tacet__studies_close(store);
    if (status != TACET_OK) {
        json_decref(array);
        return cli_fail(self, &err);
    }
    cli_json_print(json_pack("{so}", "studies", array));
    return CLI_EXIT_OK;
}

/* What each token has of a study: who holds its open tickets, and who took its rounds. */
typedef struct holding {
    tacet__studies *reader; /* another handle: the walk has the first */
    const tacet__study *study;
    json_t *array;
} holding;

static tacet_status hold_one(const tacet__token *t, void *user, tacet_error *err) {
    const holding *h = user;
    unsigned char hash[TACET__HOLDER_BYTES];
    tacet__held held = {0};
    tacet__holder_hash(hash, h->study, TACET__HOLDER_TOKEN, t->hash, sizeof t->hash);
    const tacet_status status = tacet__studies_held(h->reader, h->study, &held, hash, err);
    if (status == TACET_OK && held.rounds > 0) {
        if (!cli_json_wanted()) {
            printf("token %" PRIu64 " %s: %" PRIu64 " open tickets, %" PRIu64 " rounds\n", t->id, t->label, held.open,
                   held.rounds);
        }
        (void)json_array_append_new(h->array,
                                    json_pack("{sI ss sI sI}", "token", (json_int_t)t->id, "label", t->label, "open",
                                              (json_int_t)held.open, "rounds", (json_int_t)held.rounds));
    }
    return status;
}

static tacet_status list_holders(tacet__studies *store, const tacet__studies_settings *settings,
                                 const tacet__study *study, json_t *array, tacet_error *err) {
    holding h = {.study = study, .array = array};
    tacet_status status = tacet__studies_open(&h.reader, settings, err);
    status = status != TACET_OK ? status : tacet__studies_list_tokens(store, hold_one, &h, err);
    tacet__studies_close(h.reader);
    return status;
}

/* The study named on the command line. */
static int with_study(int argc, char **argv, const cli_command *self, bool archive) {
    tacet__studies_settings settings = {0};
    tacet__studies *store = NULL;
    tacet__study study;
    tacet_error err = {0};
    const char *name = NULL;
    size_t names = 1;
    const cli_option options[] = {STORE_OPTIONS(settings), {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, &name, &names, &code)) {
        return code;
    }
    if (names != 1) {
        return cli_usage(self, "which study? Give its name");
    }
    tacet__study_init(&study);
    tacet_status status = tacet__studies_open(&store, &settings, &err);
    if (status == TACET_OK && archive) {
        status = tacet__studies_archive(store, name, &err);
    }
    status = status != TACET_OK ? status : tacet__studies_get(store, &study, name, &err);
    if (status == TACET_OK) {
        json_t *definition = json_loadb((const char *)study.definition.data, study.definition.size, 0, NULL);
        if (!cli_json_wanted()) {
            printf("study %s: %s, %s\n%" PRIu64 " suggested, %" PRIu64 " observed, %" PRIu64 " released\n", study.name,
                   model_name(&study), state_name(&study), study.suggested, study.observed, study.released);
            if (!archive) {
                (void)json_dumpf(definition, stdout, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
                putchar('\n');
            }
        }
        json_t *object = study_json(&study);
        json_t *held = json_array();
        if (!archive && (study.model == TACET__STUDY_LOCAL || !settings.open_only)) {
            status = list_holders(store, &settings, &study, held, &err);
        }
        (void)json_object_set_new(object, "held", held);
        (void)json_object_set_new(object, "definition", definition);
        if (status == TACET_OK) {
            cli_json_print(object);
        } else {
            json_decref(object);
        }
    }
    tacet__study_clear(&study);
    tacet__studies_close(store);
    return status == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}

int cmd_study_show(int argc, char **argv, const cli_command *self) {
    return with_study(argc, argv, self, false);
}

int cmd_study_archive(int argc, char **argv, const cli_command *self) {
    return with_study(argc, argv, self, true);
}

/* --- snapshots -----------------------------------------------------------------------------------------------------
 */

enum { STUDIES_MOST = 100000 };

typedef struct names {
    char (*list)[TACET__STUDY_NAME_MOST + 1];
    size_t count;
} names;

static tacet_status note_name(const tacet__study *s, void *user, tacet_error *err) {
    names *n = user;
    void *more = n->count < STUDIES_MOST ? realloc(n->list, (n->count + 1) * sizeof *n->list) : NULL;
    if (more == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory listing the studies");
    }
    n->list = more;
    memcpy(n->list[n->count++], s->name, sizeof s->name);
    return TACET_OK;
}

static tacet_status save_one(const tacet__engine_settings *settings, const char *name, json_t *array,
                             tacet_error *err) {
    uint64_t replayed = 0;
    uint64_t events = 0;
    const tacet_status status = tacet__engine_save(settings, &replayed, &events, name, err);
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            printf("study %s: saved after event %" PRIu64 ", %" PRIu64 " of them replayed\n", name, events, replayed);
        }
        (void)json_array_append_new(array, json_pack("{ss sI sI}", "name", name, "events", (json_int_t)events,
                                                     "replayed", (json_int_t)replayed));
    }
    return status;
}

int cmd_study_snapshot(int argc, char **argv, const cli_command *self) {
    tacet__metrics metrics = {0};
    tacet__engine_settings settings = {.kinds = tacet__service_kinds, .metrics = &metrics};
    tacet__studies *store = NULL;
    tacet_error err = {0};
    const char *name = NULL;
    size_t count = 1;
    names all = {0};
    const cli_option options[] = {STORE_OPTIONS(settings.store), {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, &name, &count, &code)) {
        return code;
    }
    json_t *array = json_array();
    tacet_status status = TACET_OK;
    if (count == 1) {
        status = save_one(&settings, name, array, &err);
    } else {
        status = tacet__studies_open(&store, &settings.store, &err);
        status = status != TACET_OK ? status : tacet__studies_list(store, note_name, &all, &err);
        tacet__studies_close(store);
        for (size_t i = 0; status == TACET_OK && i < all.count; i++) {
            status = save_one(&settings, all.list[i], array, &err);
        }
    }
    free(all.list);
    if (status != TACET_OK) {
        json_decref(array);
        return cli_fail(self, &err);
    }
    cli_json_print(json_pack("{so}", "studies", array));
    return CLI_EXIT_OK;
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

typedef struct wanted_token {
    uint64_t id;
    bool found;
    unsigned char hash[TACET__STUDIES_TOKEN_HASH];
} wanted_token;

static tacet_status look_for_token(const tacet__token *t, void *user, tacet_error *err) {
    wanted_token *w = user;
    (void)err;
    if (t->id == w->id) {
        w->found = true;
        memcpy(w->hash, t->hash, sizeof w->hash);
    }
    return TACET_OK;
}

int cmd_study_expire(int argc, char **argv, const cli_command *self) {
    tacet__metrics metrics = {0};
    tacet__engine_settings settings = {.kinds = tacet__service_kinds, .metrics = &metrics};
    tacet__studies *store = NULL;
    tacet_error err = {0};
    const char *name = NULL;
    size_t count = 1;
    wanted_token w = {0};
    uint64_t seconds = 0;
    const cli_option options[] = {
        STORE_OPTIONS(settings.store),
        {"token", CLI_U64, &w.id, "N", "Those that token number N asked for. Default: all.", false},
        {"older", CLI_U64, &seconds, "S", "Those that are at least S seconds old. Default 0.", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, &name, &count, &code)) {
        return code;
    }
    if (count != 1) {
        return cli_usage(self, "which study? Give its name");
    }
    tacet_status status = TACET_OK;
    if (w.id != 0) {
        status = tacet__studies_open(&store, &settings.store, &err);
        status = status != TACET_OK ? status : tacet__studies_list_tokens(store, look_for_token, &w, &err);
        tacet__studies_close(store);
        if (status == TACET_OK && !w.found) {
            status = tacet__fail(&err, TACET_NOT_FOUND, "there is no token of this number");
        }
    }
    tacet__job *job = tacet__job_create(TACET__JOB_EXPIRE);
    if (status == TACET_OK && job == NULL) {
        status = tacet__fail(&err, TACET_NO_MEMORY, "out of memory");
    }
    if (status == TACET_OK) {
        job->x = seconds;
        job->owned = w.id != 0;
        memcpy(job->owner, w.hash, sizeof job->owner);
        status = tacet__engine_once(&settings, name, job, &err);
    }
    const uint64_t expired = job != NULL ? job->number : 0;
    tacet__job_free(job);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("study %s: %" PRIu64 " open tickets expired\n", name, expired);
    }
    cli_json_print(json_pack("{ss sI}", "name", name, "expired", (json_int_t)expired));
    return CLI_EXIT_OK;
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

static const char *const ROLES[] = {
    [TACET__TOKEN_DEVICE] = "device", [TACET__TOKEN_ANALYST] = "analyst", [TACET__TOKEN_OWNER] = "owner"};

/* As date and time in UTC; 0 leaves the text as it is. */
static void print_time(char *out, size_t size, uint64_t seconds) {
    const time_t when = (time_t)seconds;
    struct tm parts;
    if (seconds != 0 && gmtime_r(&when, &parts) != NULL) {
        (void)strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
}

static tacet_status list_token(const tacet__token *t, void *user, tacet_error *err) {
    (void)err;
    const char *role = t->role >= TACET__TOKEN_DEVICE && t->role <= TACET__TOKEN_OWNER ? ROLES[t->role] : "?";
    if (!cli_json_wanted()) {
        char end[32] = "no end";
        print_time(end, sizeof end, t->expires);
        printf("%6" PRIu64 "  %-8s %-32s %-20s %s\n", t->id, role, t->study[0] != '\0' ? t->study : "(all studies)",
               end, t->label);
    }
    (void)json_array_append_new(user, json_pack("{sI ss ss ss sI sI sI sI}", "id", (json_int_t)t->id, "role", role,
                                                "study", t->study, "label", t->label, "created", (json_int_t)t->created,
                                                "expires", (json_int_t)t->expires, "open_most",
                                                (json_int_t)t->open_most, "rounds_most", (json_int_t)t->rounds_most));
    return TACET_OK;
}

typedef struct token_request {
    tacet__studies_settings store;
    const char *study, *role, *label;
    bool list;
    uint64_t drop, renew, grace, open_most, rounds_most;
    double days;
} token_request;

/* When a token that is made now ends. */
static uint64_t end_of(const token_request *r) {
    return r->days > 0 ? (uint64_t)time(NULL) + (uint64_t)(r->days * 86400) : 0;
}

static tacet_status renew_token(tacet__studies *store, const token_request *r, tacet_error *err) {
    char text[TACET__STUDIES_TOKEN_TEXT];
    const uint64_t old = r->grace > 0 ? (uint64_t)time(NULL) + r->grace : 0;
    const tacet_status status = tacet__studies_renew_token(store, text, r->renew, end_of(r), old, err);
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            printf("%s\n", text);
        }
        cli_json_print(json_pack("{ss sI}", "token", text, "renewed", (json_int_t)r->renew));
    }
    sodium_memzero(text, sizeof text);
    return status;
}

static tacet_status add_token(tacet__studies *store, const token_request *r, tacet__token_role role, tacet_error *err) {
    char text[TACET__STUDIES_TOKEN_TEXT];
    tacet__study study;
    tacet_status status = TACET_OK;
    tacet__study_init(&study);
    if (r->study != NULL) {
        status = tacet__studies_get(store, &study, r->study, err);
    }
    tacet__study_clear(&study);
    status = status != TACET_OK ? status
                                : tacet__studies_add_token_with(store, text, role, r->study, r->label, end_of(r),
                                                                r->open_most, r->rounds_most, err);
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            printf("%s\n", text);
        }
        cli_json_print(
            json_pack("{ss ss ss}", "token", text, "role", r->role, "study", r->study != NULL ? r->study : ""));
    }
    sodium_memzero(text, sizeof text);
    return status;
}

int cmd_study_token(int argc, char **argv, const cli_command *self) {
    token_request r = {.label = ""};
    tacet__studies *store = NULL;
    tacet_error err = {0};
    const cli_option options[] = {
        STORE_OPTIONS(r.store),
        {"role", CLI_STRING, &r.role, "ROLE", "device, analyst or owner: makes a token and prints it, once.", false},
        {"study", CLI_STRING, &r.study, "NAME", "The study it is for. Default: all of them.", false},
        {"label", CLI_STRING, &r.label, "TEXT", "Says later whose it is.", false},
        {"days", CLI_DOUBLE, &r.days, "N",
         "With --role or --renew: how long it is good. Default: until it is withdrawn.", false},
        {"open-most", CLI_U64, &r.open_most, "N",
         "With --role: tickets it may have open in a study. Default: three quarters of what a central study may.",
         false},
        {"rounds-most", CLI_U64, &r.rounds_most, "N", "With --role: rounds it may take of a study. Default: all.",
         false},
        {"list", CLI_FLAG, &r.list, NULL, "List the tokens there are: number, role, study, end, label.", false},
        {"renew", CLI_U64, &r.renew, "N",
         "Make a token like number N in its place: the same role, study and label, another text.", false},
        {"grace", CLI_U64, &r.grace, "S", "With --renew: how many seconds the old text is good for still. Default 0.",
         false},
        {"drop", CLI_U64, &r.drop, "N", "Withdraw token number N; servers notice within 5 seconds.", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet__token_role role = TACET__TOKEN_DEVICE;
    if ((r.role != NULL) + r.list + (r.drop > 0) + (r.renew > 0) != 1) {
        return cli_usage(self, "exactly one of --role, --list, --renew and --drop says what to do");
    }
    if (!(r.days >= 0 && r.days <= 36500) || r.grace > 31536000) {
        return cli_usage(self, "--days is 0 to 36500, --grace at most a year");
    }
    while (r.role != NULL && role <= TACET__TOKEN_OWNER && strcmp(r.role, ROLES[role]) != 0) {
        role++;
    }
    if (role > TACET__TOKEN_OWNER) {
        return cli_usage(self, "--role is device, analyst or owner");
    }
    json_t *array = json_array();
    tacet_status status = tacet__studies_open(&store, &r.store, &err);
    if (status == TACET_OK && r.role != NULL) {
        status = add_token(store, &r, role, &err);
    } else if (status == TACET_OK && r.renew > 0) {
        status = renew_token(store, &r, &err);
    } else if (status == TACET_OK && r.list) {
        status = tacet__studies_list_tokens(store, list_token, array, &err);
        if (status == TACET_OK) {
            cli_json_print(json_pack("{sO}", "tokens", array));
        }
    } else if (status == TACET_OK) {
        status = tacet__studies_drop_token(store, r.drop, &err);
        if (status == TACET_OK) {
            cli_json_print(json_pack("{sI}", "dropped", (json_int_t)r.drop));
        }
    }
    json_decref(array);
    tacet__studies_close(store);
    return status == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}
