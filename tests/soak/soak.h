/* SPDX-License-Identifier: Apache-2.0 */
/* soak.h - a service under load and faults: servers that are killed, clients that keep a journal, and the proof from
 * the stores that what was acknowledged is there, once. */
#pragma once

#include "service/open/engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { SOAK_CLIENTS = 16, SOAK_SERVERS = 3, SOAK_PATH = 512, SOAK_KEY = 40, SOAK_STUDIES = 2, SOAK_ARMS = 20 };

/* A suggestion and its observation, as a client knows them. */
typedef struct soak_pair {
    char key[SOAK_KEY];
    char ticket[TACET__TICKET_TEXT];
    uint64_t index;
    double value;
    bool suggested; /* acknowledged */
    bool observed;  /* acknowledged */
} soak_pair;

typedef struct soak_journal {
    soak_pair *pairs;
    size_t count, capacity;
    size_t retries;  /* requests sent again: no answer, or the service was away */
    size_t repeats;  /* sent again although acknowledged: must get the same answer */
    size_t wrong;    /* answers that must not be */
    char first[200]; /* the first of them */
    double *seconds; /* of each pair that went through without a retry */
    size_t timed, timed_capacity;
} soak_journal;

typedef struct soak_server {
    pid_t pid; /* 0: down */
    char url[128];
    unsigned generation; /* counts starts: clients connect anew */
} soak_server;

typedef struct soak {
    const char *bin;     /* folder of the programs */
    const char *work;    /* temporary folder */
    const char *store;   /* folder or postgresql:// */
    const char *cluster; /* "SCRIPT FOLDER" of tests/support/pgcluster.sh; NULL: no database to kill */
    size_t server_count;
    char cut_store[SOAK_PATH]; /* of server 0: the same store by a way that can be cut; "": none */
    char keys[SOAK_PATH];
    char token[TACET__STUDIES_TOKEN_TEXT];
    pthread_mutex_t lock; /* of servers */
    soak_server servers[SOAK_SERVERS];
    size_t limit; /* bytes a server's files may have; 0: no limit */
    atomic_bool running;
    atomic_uint gathered;   /* counts the calls to server 0: each sends all clients there */
    atomic_size_t refusals; /* 503 and 507 */
    size_t refused;         /* of them, on a full disk */
    const char *row, *part; /* the file for a row of docs/soak.md, and what the row is called; NULL: no row */
    int only;               /* the study all clients use; -1: each its own */
    soak_journal journals[SOAK_STUDIES][SOAK_CLIENTS];
    tacet_blob first_state; /* of the central study, before its first round */
    double gaps[3];    /* the longest time without an acknowledged pair of a study while server 0 was stopped for twelve
                          seconds, cut off from the database, or dead; 0: not tried */
    double away;       /* seconds for which server 0 is stopped and cut off, before it is killed; 0: not done */
    double gap_most;   /* seconds that the others may take then */
    const char *front; /* URL of a balancer that clients ask instead; NULL: none */
    const char *ports; /* "A,B,C": where servers listen, so that the balancer finds them again; NULL: anywhere */
    bool failover;     /* the database is a primary with a synchronous standby */
    double failover_seconds; /* from the kill of the primary to the first acknowledged pair */
    size_t cancelled;        /* times that commits were left on one machine alone */
    size_t server_kills, database_kills, pauses, partitions, restarts;
    size_t hasty; /* servers that were stopped and could not save, because the database did not answer */
    bool stale;   /* the primary that was replaced came back, first in the servers' list */
} soak;

extern const char *const soak_study_names[SOAK_STUDIES]; /* local, central */
extern const tacet__policy_kind *const soak_kinds[];

/* All end the program with a message when what they need cannot be had. */
void soak_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void soak_must(tacet_status status, const tacet_error *err, const char *what);
double soak_now(void);
void soak_sleep(double seconds);

/* cluster.c */
void soak_run_program(const soak *s, const char *const *argv); /* waits; exit code 0 or die */
void soak_server_start(soak *s, size_t i);                     /* returns once it answers */
void soak_server_kill(soak *s, size_t i, int signal);          /* and waits for it */
void soak_server_pause(soak *s, size_t i, double seconds);     /* SIGSTOP, then SIGCONT */
bool soak_server_alive(soak *s, size_t i);
size_t soak_server_kilobytes(soak *s, size_t i);          /* resident */
double soak_servers_cpu(soak *s);                         /* seconds of processor time so far, of all servers */
void soak_database_kill(soak *s);                         /* kill -9, then a start */
void soak_database_verb(const soak *s, const char *verb); /* of tests/support/pgcluster.sh */
void soak_shell(const char *command);

/* proxy.c */
void soak_proxy_start(soak *s); /* fills in s->cut_store */
void soak_proxy_cut(bool cut);

/* studies.c */
void soak_studies_make(soak *s, uint64_t rounds);
tacet__engine_settings soak_engine_settings(const soak *s);

/* clients.c: drives all clients for some seconds. */
void soak_drive(soak *s, double seconds, void (*meanwhile)(soak *s, double until));

/* verify.c */
typedef struct soak_verdict {
    size_t suggestions, observations; /* in the store */
    size_t lost;                      /* acknowledged and not there, or not as acknowledged */
    size_t twice;                     /* keys with two suggestions, suggestions with two observations */
    size_t unequal;                   /* replayed suggestions that came out otherwise, or another final state */
    size_t batches;                   /* of the central study that its ledger was charged for, one after the other */
    size_t charges;                   /* entries of that ledger; as many is right */
    double spent_eps, budget_eps;
} soak_verdict;
void soak_verify(soak *s, soak_verdict *out); /* all servers must be down */

/* startup.c: a store with many observations, and the seconds until a server on it has answered its first suggestion. */
double soak_startup(soak *s, size_t observations);
