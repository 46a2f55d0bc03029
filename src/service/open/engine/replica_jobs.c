/* SPDX-License-Identifier: Apache-2.0 */
/* replica_jobs.c - what jobs do to a study: observations, looks, its status, releases, more rounds.
 * Ring: open. Cost: O(policy) a job. */
#include "service/open/engine/replica.h"
#include "service/open/engine/waiting.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "service/open/study/person.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tacet_status find(tacet__replica *r, tacet__job *job, tacet__suggestion *out) {
    if (!tacet__studies_ticket_read(&r->study, &job->seq, job->ticket)) {
        return tacet__fail(&job->err, TACET_NOT_FOUND, "no such ticket in this study");
    }
    return tacet__studies_suggestion(r->store, &r->study, out, job->seq, &job->err);
}

static tacet_status observe(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    tacet__suggestion s;
    job->uncounted = r->study.reports_private;
    TACET_OR_RETURN(find(r, job, &s));
    if (job->failed && r->def.trust == TACET_TRUST_LOCAL) {
        return tacet__fail(
            &job->err, TACET_INVALID,
            "in a local study the device reports noise about a stand-in: 'tacet device report --failed'");
    }
    if (job->failed) {
        /* A record like any other, of a public value: whether an evaluation failed shows no more than what it gave, and
         * counts and epochs stay as they are. */
        job->value = !r->kind->failed_is_worst ? r->def.reward_lo / 2 + r->def.reward_hi / 2
                     : r->def.minimize         ? r->def.reward_hi
                                               : r->def.reward_lo;
    }
    job->clipped =
        r->def.trust == TACET_TRUST_CENTRAL && !(job->value >= r->def.reward_lo && job->value <= r->def.reward_hi);
    if (s.observed) {
        /* Bit for bit: a retry sends the same text. */
        if (memcmp(&s.value, &job->value, sizeof s.value) != 0) {
            return tacet__fail(&job->err, TACET_CONFLICT, "the ticket was observed before, with another value");
        }
        job->repeated = true;
        return TACET_OK;
    }
    if (s.expired) {
        job->expired = true;
        return tacet__fail(&job->err, TACET_STATE, "the ticket has expired: its report is not waited for any more");
    }
    if (r->study.state == TACET__STUDY_ARCHIVED) {
        return tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    tacet_status status = s.event.null
                              ? tacet_policy_drop(r->learner.policy, s.event.number, &job->err)
                              : tacet_policy_observe(r->learner.policy, s.event.number,
                                                     tacet__definition_towards(&r->def, job->value), &job->err);
    if (status == TACET_OK) {
        tacet__event event = tacet__settled_event(TACET__EVENT_OBSERVE, &s);
        event.value = job->value;
        event.null = s.event.null;
        status = tacet__replica_append(r, b, &event);
        tacet__waiting_notice(r, job->seq, false);
    }
    return status;
}

static tacet_status look_up_ticket(tacet__replica *r, tacet__job *job) {
    tacet__suggestion s;
    const tacet_status status = find(r, job, &s);
    if (status == TACET_OK) {
        job->index = s.event.index;
        job->observed = s.observed;
        job->expired = s.expired;
        tacet__replica_show(r, job);
    }
    return status;
}

/* What the eps is of: a round; what k rounds of one person cost; and what a person costs whose name comes with each
 * round, of which the cap counts. In a local study each report was sent, so that no cap helps. */
static bool tell_cost(const tacet__replica *r, const tacet_guarantee *g, json_t *body) {
    static const unsigned TIMES[] = {2, 5, 10, 50};
    json_t *guarantee = json_object_get(body, "guarantee");
    json_t *costs = json_object();
    bool good = costs != NULL;
    for (size_t i = 0; good && i < sizeof TIMES / sizeof TIMES[0]; i++) {
        char name[8];
        const double eps = tacet__eps_of_mixed_rounds(g->eps, g->delta, g->pure_eps, TIMES[i]);
        (void)snprintf(name, sizeof name, "%u", TIMES[i]);
        good = json_object_set_new(costs, name, isfinite(eps) ? json_real(eps) : json_null()) == 0;
    }
    const double person = r->def.trust == TACET_TRUST_CENTRAL
                              ? tacet__eps_of_rounds(g->eps, g->delta, (double)r->def.person_rounds)
                              : (double)INFINITY;
    good = good && json_object_set(guarantee, "eps_of_rounds", costs) == 0 &&
           json_object_set_new(guarantee, "rounds_per_person", json_integer((json_int_t)r->def.person_rounds)) == 0 &&
           json_object_set_new(guarantee, "eps_per_person", isfinite(person) ? json_real(person) : json_null()) == 0;
    json_decref(costs);
    return good;
}

static tacet_status show_status(tacet__replica *r, tacet__job *job) {
    tacet_guarantee g;
    tacet_policy_guarantee(r->learner.policy, &g);
    json_t *definition = json_loadb((const char *)r->study.definition.data, r->study.definition.size, 0, NULL);
    const bool archived = r->study.state == TACET__STUDY_ARCHIVED;
    job->body = json_pack(
        "{ss ss so sI sI sI sI s{sb so so ss ss ss}}", "name", r->name, "state", archived ? "archived" : "active",
        "definition", definition, "created", (json_int_t)r->study.created, "suggested", (json_int_t)r->study.suggested,
        "released", (json_int_t)r->study.released, "rounds_left",
        (json_int_t)(r->def.rounds > r->study.suggested ? r->def.rounds - r->study.suggested : 0), "guarantee",
        "proven", (int)g.proven, "eps", isfinite(g.eps) ? json_real(g.eps) : json_null(), "delta", json_real(g.delta),
        "protects", g.protects, "statement", g.statement, "proof", g.proof != NULL ? g.proof : "");
    if (job->body == NULL || !tell_cost(r, &g, job->body) ||
        (!r->study.reports_private &&
         json_object_set_new(job->body, "observed", json_integer((json_int_t)r->study.observed)) != 0)) {
        return tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory making an answer");
    }
    return r->kind->tell != NULL ? r->kind->tell(&r->learner, &r->def, job->body, &job->err) : TACET_OK;
}

/* What a learner believes before it was told anything is no finding. Central studies refuse it by themselves. */
static tacet_status something_known(const tacet__replica *r, tacet_error *err) {
    return r->def.trust == TACET_TRUST_LOCAL && r->study.observed == 0 && r->def.earlier_count == 0
               ? tacet__fail(err, TACET_STATE, "nothing was reported yet: there is no best point to tell")
               : TACET_OK;
}

static tacet_status make_release(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    if (r->study.state == TACET__STUDY_ARCHIVED) {
        return tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    TACET_OR_RETURN(something_known(r, &job->err));
    TACET_OR_RETURN(r->kind->release(&r->learner, &r->def, &job->body, &job->err));
    char *text = json_dumps(job->body, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (text == NULL) {
        return tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory making a release");
    }
    tacet__event event = {
        .kind = TACET__EVENT_RELEASE, .index = TACET__NO_INDEX, .body = text, .body_size = strlen(text)};
    tacet_status status = tacet__replica_append(r, b, &event);
    job->number = event.number;
    free(text);
    return status;
}

static tacet_status get_release(tacet__replica *r, tacet__job *job) {
    tacet_blob body;
    tacet_blob_init(&body);
    tacet_status status = tacet__studies_get_release(r->store, &r->study, &body, job->number, &job->err);
    if (status == TACET_OK) {
        json_error_t where;
        job->body = json_loadb((const char *)body.data, body.size, 0, &where);
        status = job->body != NULL ? TACET_OK
                 : tacet__json_no_memory(&where)
                     ? tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory reading a release")
                     : tacet__fail(&job->err, TACET_CORRUPT, "a release cannot be read");
    }
    tacet_blob_clear(&body);
    return status;
}

/* The newest first, as many as anybody reads; "released" says how many there are. */
static json_t *numbers_to(uint64_t newest) {
    enum { MOST = 1000 };
    json_t *numbers = json_array();
    for (uint64_t n = newest; n > 0 && newest - n < MOST; n--) {
        (void)json_array_append_new(numbers, json_integer((json_int_t)n));
    }
    return numbers;
}

/* What the store will then be told. The noise of a central study was planned for its rounds, so that it can have no
 * more of them; another study can, and may begin with what this one released. */
static tacet_status extend(tacet__replica *r, tacet__job *job) {
    tacet__definition more = r->def;
    if (r->study.state == TACET__STUDY_ARCHIVED) {
        return tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    if (!r->kind->extends) {
        return r->def.trust == TACET_TRUST_CENTRAL
                   ? tacet__fail(
                         &job->err, TACET_STATE,
                         "the study's noise was planned for its rounds, and it cannot have more: release its model, "
                         "and begin another with 'tacet study create --from MODEL', charged separately")
                   : tacet__fail(&job->err, TACET_STATE,
                                 "policy '%s' cannot have more rounds: its epochs follow from their number",
                                 r->kind->name);
    }
    if (job->number <= r->def.rounds) {
        return tacet__fail(&job->err, TACET_INVALID, "the study has %llu rounds: more of them must be asked for",
                           (unsigned long long)r->def.rounds);
    }
    more.rounds = job->number;
    const tacet_status status = r->kind->check(&more, &job->err);
    return status != TACET_OK ? status : tacet__policy_try(r->kind, &more, &job->err);
}

static tacet_status may_archive(tacet__replica *r, tacet__job *job) {
    (void)r;
    (void)job;
    return TACET_OK;
}

/* What was released was charged to somebody, and the account of it stays. In a local study each report was a release of
 * its device. */
static tacet_status may_delete(tacet__replica *r, tacet__job *job) {
    json_t *account = NULL;
    const bool local = r->def.trust == TACET_TRUST_LOCAL;
    const tacet_status status = local ? TACET_OK : r->kind->spent(&r->learner, &r->def, &account, &job->err);
    const bool charged = json_integer_value(json_object_get(account, "entries")) > 0;
    json_decref(account);
    if (status != TACET_OK) {
        return status;
    }
    return r->study.released > 0 || charged || (local && r->study.observed > 0)
               ? tacet__fail(&job->err, TACET_STATE, "the study has released something, and stays: archive it")
               : TACET_OK;
}

static tacet_status check_body(tacet__job *job) {
    return job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory making an answer");
}

static tacet_status releases(tacet__replica *r, tacet__job *job) {
    job->body =
        json_pack("{sI so}", "released", (json_int_t)r->study.released, "numbers", numbers_to(r->study.released));
    return check_body(job);
}

static tacet_status ledger(tacet__replica *r, tacet__job *job) {
    return r->kind->spent(&r->learner, &r->def, &job->body, &job->err);
}

static tacet_status best(tacet__replica *r, tacet__job *job) {
    TACET_OR_RETURN(something_known(r, &job->err));
    return tacet__study_best(r->kind, &r->learner, &r->def, &job->body, &job->err);
}

static tacet_status model(tacet__replica *r, tacet__job *job) {
    return r->kind->model != NULL ? r->kind->model(&r->learner, &job->body, &job->err)
                                  : tacet__fail(&job->err, TACET_NOT_FOUND, "devices of this study need no model");
}

/* The jobs of a batch came from clients that waited at the same time, so any order is right, and this one is needed:
 * suggestions and releases first, so that all they rest on was committed before, in an earlier transaction (a release
 * of a central study enters its step in the ledger at once, and must not be of an observation that is then rolled
 * back); looks last, so that none waits for an observation of its own batch. */
enum { FIRST, REPORTS, LOOKS };
const tacet__job_traits tacet__job_kinds[] = {
    [TACET__JOB_SUGGEST] = {.pass = FIRST, .writes = tacet__replica_suggest},
    [TACET__JOB_RELEASE] = {.pass = FIRST, .writes = make_release},
    [TACET__JOB_GET_RELEASE] = {.pass = FIRST, .reads = get_release},
    [TACET__JOB_RELEASES] = {.pass = FIRST, .reads = releases},
    [TACET__JOB_LEDGER] = {.pass = FIRST, .reads = ledger},
    [TACET__JOB_EXTEND] = {.pass = FIRST, .reads = extend}, /* the store is told of these two after the transaction, */
    [TACET__JOB_ARCHIVE] = {.pass = FIRST, .reads = may_archive},
    [TACET__JOB_OBSERVE] = {.pass = REPORTS, .writes = observe},
    [TACET__JOB_EXPIRE] = {.pass = REPORTS, .writes = tacet__replica_expire_asked},
    [TACET__JOB_REPORT] = {.pass = REPORTS, .writes = tacet__replica_report},
    [TACET__JOB_DELETE] = {.pass = LOOKS, .reads = may_delete}, /* and of this one */
    [TACET__JOB_LOOK] = {.pass = LOOKS, .reads = look_up_ticket},
    [TACET__JOB_STATUS] = {.pass = LOOKS, .reads = show_status},
    [TACET__JOB_BEST] = {.pass = LOOKS, .reads = best},
    [TACET__JOB_GRANTS] = {.pass = LOOKS, .reads = tacet__replica_grants},
    [TACET__JOB_MODEL] = {.pass = LOOKS, .reads = model, .is_long = true},
    [TACET__JOB_EVENTS] = {.pass = LOOKS, .reads = tacet__replica_view, .is_long = true},
    [TACET__JOB_TICKETS] = {.pass = LOOKS, .reads = tacet__replica_view, .is_long = true},
    [TACET__JOB_POSTERIOR] = {.pass = LOOKS, .reads = tacet__replica_posterior, .is_long = true},
    [TACET__JOB_TRIED] = {.pass = LOOKS, .reads = tacet__replica_posterior, .is_long = true},
    [TACET__JOB_WEIGHTS] = {.pass = LOOKS, .reads = tacet__replica_weights, .is_long = true},
};

tacet_status tacet__replica_act(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    const tacet__job_traits *kind = &tacet__job_kinds[job->kind];
    if (kind->writes == NULL) {
        return kind->reads(r, job);
    }
    const tacet_status kept = tacet__replica_keep(r, b);
    return kept == TACET_OK ? kind->writes(r, b, job) : tacet__fail(&job->err, kept, "%s", b->err.message);
}
