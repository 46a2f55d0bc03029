/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - soak: a suggestion service under load and faults, and the proof that nothing acknowledged was lost, nothing
 * was charged twice, and every noise was drawn once.
 *
 *     soak --bin build/bin --store DIR|postgresql://… [--seconds S] [--servers N] [--observations N]
 *          [--cluster 'tests/support/pgcluster.sh FOLDER'] [--row FILE --part NAME]
 *
 * Phases, in shares of the seconds: load without faults on the local study, then on the central one (rates, latencies,
 * memory); both under kill -9 of servers and of the database; a disk that is full. Then the servers are stopped and the
 * stores are read. The random moments are seeded. --row: a row of docs/soak.md is appended there. Exit code 1 when
 * anything was lost, doubled or wrong. */
#include "soak.h"

#include "gp/linalg.h"
#include "io/http/client.h"

#include <curl/curl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <unistd.h>

static const double CALM_SHARE = 0.2; /* for each study */
enum { CALM_PAIRS = 200, CALM_SECONDS = 120 };
static const double FULL_SHARE = 0.1;
static tacet_simrng chaos;

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct tally {
    size_t pairs, retries, repeats, wrong;
    const char *first;
} tally;

static tally count(soak *s) {
    tally t = {0};
    for (size_t study = 0; study < SOAK_STUDIES; study++) {
        for (size_t i = 0; i < SOAK_CLIENTS; i++) {
            const soak_journal *j = &s->journals[study][i];
            for (size_t k = 0; k < j->count; k++) {
                t.pairs += j->pairs[k].observed;
            }
            t.retries += j->retries;
            t.repeats += j->repeats;
            t.wrong += j->wrong;
            t.first = j->wrong > 0 ? j->first : t.first;
        }
    }
    return t;
}

/* Milliseconds of a pair at two quantiles, over one study. */
static void quantiles(soak *s, size_t study, double *p50, double *p99) {
    size_t total = 0;
    size_t at = 0;
    for (size_t i = 0; i < SOAK_CLIENTS; i++) {
        total += s->journals[study][i].timed;
    }
    double *all = calloc(total + 1, sizeof *all);
    if (all == NULL) {
        soak_die("out of memory");
    }
    for (size_t i = 0; i < SOAK_CLIENTS; i++) {
        const soak_journal *j = &s->journals[study][i];
        for (size_t k = 0; k < j->timed; k++) {
            all[at++] = 1e3 * j->seconds[k];
        }
    }
    qsort(all, total, sizeof *all, ascending);
    *p50 = all[total / 2];
    *p99 = all[total - 1 - total / 100];
    free(all);
}

/* Load without faults; the resident memory after half of it and at its end. */
static size_t early_kilobytes;

static void sample_memory(soak *s, double until) {
    const double left = until - soak_now();
    soak_sleep(left / 2);
    early_kilobytes = soak_server_kilobytes(s, 0);
}

static void calm(soak *s, int study, double seconds) {
    double p50 = 0;
    double p99 = 0;
    s->only = study;
    const size_t before = count(s).pairs;
    const double begin = soak_now();
    do { /* on a slow machine longer: the end asks for a batch of the central study */
        soak_drive(s, seconds, sample_memory);
    } while (count(s).pairs - before < CALM_PAIRS && soak_now() < begin + CALM_SECONDS);
    const double took = soak_now() - begin;
    const size_t late = soak_server_kilobytes(s, 0);
    quantiles(s, (size_t)study, &p50, &p99);
    const size_t pairs = count(s).pairs - before;
    printf("  %-12s %6.0f pairs a second; a pair p50 %.1f ms, p99 %.1f ms; memory %.1f -> %.1f MiB over %zu pairs\n",
           soak_study_names[study], (double)pairs / took, p50, p99, (double)early_kilobytes / 1024, (double)late / 1024,
           pairs);
    (void)fflush(stdout);
}

/* One fault: mostly kill -9 of a server, or of the database where there is one; now and then a server that stands still
 * for a while, perhaps with a lock in its hands, and one that is restarted in an orderly way. */
static void fault(soak *s) {
    enum { KINDS = 8, DATABASE = 3 };
    const size_t kind = tacet_simrng_below(&chaos, KINDS);
    const size_t i = tacet_simrng_below(&chaos, s->server_count);
    if (kind < DATABASE && s->cluster != NULL && !s->failover) {
        soak_database_kill(s);
    } else if (kind == KINDS - 1) {
        soak_server_pause(s, i, 0.5 * tacet_simrng_uniform(&chaos));
    } else {
        const bool orderly = kind == KINDS - 2;
        soak_server_kill(s, i, orderly ? SIGTERM : SIGKILL);
        *(orderly ? &s->restarts : &s->server_kills) += 1;
        soak_sleep(0.1 * tacet_simrng_uniform(&chaos));
        soak_server_start(s, i);
    }
}

/* Pairs of a study that were begun: a client begins the next when one was acknowledged. */
static size_t acknowledged_of(const soak *s, size_t study) {
    size_t pairs = 0;
    for (size_t i = 0; i < SOAK_CLIENTS; i++) {
        pairs += s->journals[study][i].count;
    }
    return pairs;
}

static size_t acknowledged(const soak *s) {
    return acknowledged_of(s, 0) + acknowledged_of(s, 1);
}

/* The longest time without an acknowledged pair of a study, from now on. */
static double watch_gap(soak *s, double seconds) {
    const double begin = soak_now();
    double longest = 0;
    double last[SOAK_STUDIES] = {begin, begin};
    size_t before[SOAK_STUDIES] = {acknowledged_of(s, 0), acknowledged_of(s, 1)};
    while (soak_now() < begin + seconds) {
        soak_sleep(0.02);
        for (size_t study = 0; study < SOAK_STUDIES; study++) {
            const size_t now = acknowledged_of(s, study);
            const double gap = soak_now() - last[study];
            longest = gap > longest ? gap : longest;
            if (now > before[study]) {
                before[study] = now;
                last[study] = soak_now();
            }
        }
    }
    return longest;
}

/* Server 0 is stopped under load, perhaps in the middle of a batch; then all clients come to it, and it is cut off from
 * the database, so that all of them are told to try again and find another one; then it is killed. The others must go
 * on with both studies within ten seconds of each, and server 0, when it wakes up or sees the database again, can write
 * nothing that rests on what it held. */
static void take_away(soak *s) {
    (void)pthread_mutex_lock(&s->lock);
    const pid_t pid = s->servers[0].pid;
    (void)pthread_mutex_unlock(&s->lock);
    (void)kill(pid, SIGSTOP);
    s->pauses++;
    s->gaps[0] = watch_gap(s, s->away);
    (void)kill(pid, SIGCONT);
    if (s->cut_store[0] != '\0') {
        atomic_fetch_add(&s->gathered, 1);
        soak_sleep(1);
        soak_proxy_cut(true);
        s->partitions++;
        s->gaps[1] = watch_gap(s, s->away);
        soak_proxy_cut(false);
    }
    soak_server_kill(s, 0, SIGKILL);
    s->server_kills++;
    s->gaps[2] = watch_gap(s, s->away / 2);
    soak_server_start(s, 0);
}

static void kill_at_random(soak *s, double until) {
    if (s->cluster != NULL && !s->failover && s->server_count > 1 && s->away > 0) {
        take_away(s);
    }
    while (soak_now() < until) {
        soak_sleep(0.1 + 0.7 * tacet_simrng_uniform(&chaos));
        fault(s);
    }
}

/* A standby that is away: commits wait, their waits are cancelled, and nothing of them may be acknowledged before it is
 * back. Then the primary dies under load, and the standby is promoted. */
static void fail_over(soak *s, double until) {
    const double begin = soak_now();
    const double all = until - begin;
    while (soak_now() < begin + 0.25 * all) {
        soak_sleep(0.2);
        fault(s);
    }
    for (int i = 0; i < 2; i++) {
        soak_database_verb(s, "cut");
        soak_sleep(0.5);
        soak_database_verb(s, "cancel");
        soak_sleep(0.3);
        soak_database_verb(s, "cancel");
        soak_database_verb(s, "mend");
        s->cancelled++;
        soak_sleep(0.05 * all);
    }
    const double dead = soak_now();
    soak_database_verb(s, "failover");
    s->database_kills++;
    const size_t before = acknowledged(s) + 2 * SOAK_CLIENTS; /* those in flight do not count */
    while (acknowledged(s) < before && soak_now() < dead + 60) {
        soak_sleep(0.01);
    }
    s->failover_seconds = soak_now() - dead;
    soak_database_verb(s, "again"); /* the one that was replaced: unfenced, and first in the servers' list */
    s->stale = true;
    for (size_t i = 0; i < s->server_count; i++) {
        soak_server_kill(s, i, SIGTERM);
        soak_server_start(s, i);
        s->restarts++;
    }
    kill_at_random(s, until);
}

/* Behind a balancer: one server after the other is stopped in order and started again. */
static void roll(soak *s, double until) {
    for (size_t i = 0; soak_now() < until; i = (i + 1) % s->server_count) {
        soak_sleep(0.5);
        soak_server_kill(s, i, SIGTERM);
        soak_server_start(s, i);
        s->restarts++;
        soak_sleep(1.5); /* the balancer looks every second */
    }
}

/* Whether a server says what the central study's status is. */
static bool is_served(soak *s) {
    char authority[SOAK_PATH + 16];
    char path[128];
    tacet__client_settings settings;
    tacet__client *wire = NULL;
    tacet__answer answer = {0};
    (void)snprintf(authority, sizeof authority, "%s/ca.pem", s->keys);
    (void)snprintf(path, sizeof path, "/v1/studies/%s", soak_study_names[1]);
    tacet__client_defaults(&settings);
    settings.url = s->servers[0].url;
    settings.authority = authority;
    settings.token = s->token;
    soak_server_start(s, 0);
    for (int i = 0; i < 50 && (answer.status == 0 || answer.status == 503); i++) {
        soak_sleep(0.1);
        if (wire != NULL || tacet__client_open(&wire, &settings, NULL) == TACET_OK) {
            (void)tacet__client_request(wire, &answer, "GET", path, NULL, NULL);
        }
    }
    const bool served = answer.status == 200;
    tacet__client_close(wire);
    soak_server_kill(s, 0, SIGTERM);
    return served;
}

/* A folder of before is put back whole: its central study is refused, and served again from the folder of now. */
static bool rolled_back_is_refused(soak *s) {
    char command[4 * SOAK_PATH];
    (void)snprintf(command, sizeof command, "mv %s %s.now && mv %s.before %s", s->store, s->store, s->store, s->store);
    soak_shell(command);
    const bool refused = !is_served(s);
    (void)snprintf(command, sizeof command, "rm -r %s && mv %s.now %s", s->store, s->store, s->store);
    soak_shell(command);
    const bool good = refused && is_served(s);
    printf("  the store put back to before the faults: %s\n", good      ? "refused, and served from the one of now"
                                                              : refused ? "refused, and the one of now, too"
                                                                        : "SERVED");
    return good;
}

/* Servers whose files may hardly grow: they must refuse, and stay up; then room is made. */
static void fill_disk(soak *s, double until) {
    const double middle = soak_now() + (until - soak_now()) * 0.6;
    const double latest = middle + 30; /* a slow machine takes a while to fill anything */
    while (soak_now() < middle || (atomic_load(&s->refusals) == 0 && soak_now() < latest)) {
        soak_sleep(0.05);
    }
    if (!soak_server_alive(s, 0)) {
        soak_die("a server did not survive a full disk");
    }
    soak_server_kill(s, 0, SIGKILL);
    s->limit = 0;
    soak_server_start(s, 0);
}

/* False: it was never full, so nothing was shown. */
static bool full_disk(soak *s, double seconds) {
    enum { ROOM = 1 << 19 }; /* bytes of any one file: SQLite's log is full after some hundred rounds */
    soak_server_kill(s, 0, SIGTERM);
    s->limit = ROOM;
    soak_server_start(s, 0);
    atomic_store(&s->refusals, 0);
    soak_drive(s, seconds, fill_disk);
    s->refused = atomic_load(&s->refusals);
    printf("  full disk    %zu requests refused with 503, the server stayed up%s\n", s->refused,
           s->refused > 0 ? " and went on when there was room" : "; the disk was never full: nothing is shown");
    return s->refused > 0;
}

/* The proof must be able to fail: acknowledgements that never were have to show as lost. */
static bool control(soak *s, const soak_verdict *before) {
    soak_verdict v;
    soak_pair *pairs[SOAK_STUDIES] = {NULL, NULL};
    for (size_t study = 0; study < SOAK_STUDIES; study++) {
        soak_journal *j = &s->journals[study][study];
        for (size_t k = 0; k < j->count; k++) {
            pairs[study] = j->pairs[k].observed ? &j->pairs[k] : pairs[study];
        }
    }
    if (pairs[0] == NULL || pairs[1] == NULL) {
        return false;
    }
    pairs[0]->index++;
    pairs[1]->value += 1e-9;
    soak_verify(s, &v);
    return v.lost == before->lost + 2;
}

/* A row of the page's table (tools/soak has its head). */
static void write_row(const soak *s, const soak_verdict *v, size_t pairs) {
    char wait[24] = "";
    const double longest = s->failover ? s->failover_seconds : fmax(fmax(s->gaps[0], s->gaps[1]), s->gaps[2]);
    FILE *file = s->row != NULL ? fopen(s->row, "a") : NULL;
    if (file == NULL) {
        return;
    }
    if (longest > 0) {
        (void)snprintf(wait, sizeof wait, "%.1f", longest);
    }
    (void)fprintf(file, "| %s | %zu | %zu | %zu | %zu | %zu | %zu | %s | %zu | %zu | %zu | %zu |\n", s->part,
                  s->server_kills, s->database_kills, s->pauses + s->partitions, s->restarts, s->refused, s->cancelled,
                  wait, pairs, v->lost + v->unequal, v->twice, v->charges - v->batches);
    (void)fclose(file);
}

static int conclude(soak *s) {
    soak_verdict v;
    for (size_t i = 0; i < s->server_count; i++) {
        soak_server_kill(s, i, SIGTERM);
    }
    if (s->stale) {
        soak_database_verb(s, "halt");
    }
    soak_verify(s, &v);
    const tally t = count(s);
    printf("  kills survived %zu (servers %zu, database %zu), pauses %zu, partitions %zu, restarts %zu (%zu "
           "without saving: the database was too slow)\n",
           s->server_kills + s->database_kills, s->server_kills, s->database_kills, s->pauses, s->partitions,
           s->restarts, s->hasty);
    if (s->gaps[2] > 0) {
        printf("  server 0 taken away: stopped for %.0f s, cut off from the database as long, killed: at most %.1f, "
               "%.1f and %.1f s without an acknowledged pair of a study\n",
               s->away, s->gaps[0], s->gaps[1], s->gaps[2]);
    }
    if (s->failover) {
        printf(
            "  the primary was killed and the standby promoted: pairs again after %.1f s; commits left on one machine "
            "alone %zu times before; the old primary came back, first in the list\n",
            s->failover_seconds, s->cancelled);
    }
    printf("  %zu pairs acknowledged, %zu requests sent again without an answer, %zu pairs repeated with one\n",
           t.pairs, t.retries, t.repeats);
    printf("  in the stores: %zu suggestions, %zu observations; lost %zu, doubled %zu, replayed otherwise %zu\n",
           v.suggestions, v.observations, v.lost, v.twice, v.unequal);
    printf("  ledger of the central study: %zu batches, eps %.3g of %.3g: double charges %zu\n", v.batches, v.spent_eps,
           v.budget_eps, v.charges - v.batches);
    if (t.wrong > 0) {
        printf("  %zu wrong answers, one of them: %s\n", t.wrong, t.first);
    }
    write_row(s, &v, t.pairs);
    const bool controlled = control(s, &v);
    if (!controlled) {
        printf("  two false acknowledgements did not show as lost: the proof proves nothing\n");
    }
    const bool good = v.lost == 0 && v.twice == 0 && v.unequal == 0 && v.charges == v.batches && v.batches > 0 &&
                      v.spent_eps <= v.budget_eps && t.wrong == 0 && controlled && s->gaps[0] <= s->gap_most &&
                      s->gaps[1] <= s->gap_most && s->gaps[2] <= s->gap_most;
    printf("  %s\n", good ? "lost 0, doubled 0, charged twice 0" : "FAILED");
    return good ? 0 : 1;
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise) {
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return argv[i + 1];
        }
    }
    return otherwise;
}

int main(int argc, char **argv) {
    static soak s = {.only = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
    s.bin = option(argc, argv, "--bin", NULL);
    s.work = option(argc, argv, "--work", NULL);
    s.store = option(argc, argv, "--store", NULL);
    s.cluster = option(argc, argv, "--cluster", NULL);
    s.away = strtod(option(argc, argv, "--away", "0"), NULL);
    s.gap_most = strtod(option(argc, argv, "--gap", "10"), NULL);
    s.front = option(argc, argv, "--front", NULL);
    s.ports = option(argc, argv, "--ports", NULL);
    s.row = option(argc, argv, "--row", NULL);
    s.part = option(argc, argv, "--part", "");
    s.failover = strcmp(option(argc, argv, "--failover", "no"), "yes") == 0;
    s.server_count = strtoull(option(argc, argv, "--servers", "1"), NULL, 10);
    const double seconds = strtod(option(argc, argv, "--seconds", "30"), NULL);
    const size_t observations = strtoull(option(argc, argv, "--observations", "0"), NULL, 10);
    if (s.bin == NULL || s.work == NULL || s.store == NULL || s.server_count < 1 || s.server_count > SOAK_SERVERS ||
        !(seconds > 0) || (s.cluster != NULL && strchr(s.cluster, ' ') == NULL)) {
        fprintf(stderr, "usage: soak --bin DIR --work DIR --store DIR|URL [--seconds S] [--servers 1|2|3]\n"
                        "            [--observations N] [--cluster 'SCRIPT FOLDER' [--failover yes] [--away S --gap "
                        "S]]\n"
                        "            [--front URL --ports A,B,C --keys DIR] [--row FILE --part NAME]\n");
        return 2;
    }
    tacet_threads(1); /* as the programs have it: the last bits of a policy depend on it */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    tacet_simrng_init(&chaos, 8, 0);
    const bool sqlite = strncmp(s.store, "postgres", 8) != 0;
    const char *keys = option(argc, argv, "--keys", NULL);
    (void)snprintf(s.keys, sizeof s.keys, "%s%s", keys != NULL ? keys : s.work, keys != NULL ? "" : "/keys");
    const char *const init[] = {"tacet-server",        "server", "init", "--dir", s.keys, "--host",
                                "localhost,127.0.0.1", NULL};
    if (keys == NULL) {
        soak_run_program(&s, init);
    }
    if (observations > 0) {
        soak_studies_make(&s, observations + 1000);
        const double took = soak_startup(&s, observations);
        const double worked = soak_servers_cpu(&s); /* what else the machine does is not the server's */
        printf(
            "  start-up with %zu stored observations: %.2f s to the first suggestion, %.2f s of processor, %.1f MiB\n",
            observations, took, worked, (double)soak_server_kilobytes(&s, 0) / 1024);
        FILE *file = s.row != NULL ? fopen(s.row, "a") : NULL;
        if (file != NULL) {
            (void)fprintf(file,
                          "\nA server on a store of %zu observations answers after %.2f s of processor, in %.0f MiB.\n",
                          observations, worked, (double)soak_server_kilobytes(&s, 0) / 1024);
            (void)fclose(file);
        }
        soak_server_kill(&s, 0, SIGTERM);
        return worked < 2 ? 0 : 1;
    }
    soak_studies_make(&s, 4000000);
    if (s.away > 0) {
        soak_proxy_start(&s);
    }
    for (size_t i = 0; i < s.server_count; i++) {
        soak_server_start(&s, i);
    }
    calm(&s, 0, seconds * CALM_SHARE);
    calm(&s, 1, seconds * CALM_SHARE);
    s.only = -1;
    if (sqlite) { /* for rolled_back_is_refused */
        char command[3 * SOAK_PATH];
        soak_server_kill(&s, 0, SIGTERM);
        (void)snprintf(command, sizeof command, "cp -rp %s %s.before", s.store, s.store);
        soak_shell(command);
        soak_server_start(&s, 0);
    }
    const double full = sqlite ? seconds * FULL_SHARE : 0;
    soak_drive(&s, seconds * (1 - 2 * CALM_SHARE) - full,
               s.front != NULL ? roll
               : s.failover    ? fail_over
                               : kill_at_random);
    const bool shown = !sqlite || full_disk(&s, full);
    const int code = conclude(&s);
    return shown && (!sqlite || rolled_back_is_refused(&s)) ? code : 1;
}
