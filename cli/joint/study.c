/* study.c - a joint-DP study in a folder: study.json, ledger.db, state (private, 0600), lock.
 * Ring: programs (trusted: the state holds raw sums and open rounds). A command reads the state, does one thing, writes
 * the state beside itself and renames it, and only then answers: what was answered is stored. A release is made from
 * a state that was read, so what it rests on is stored too, and the ledger knows it before it is used
 * (src/dp/streams/README.md, section 5). Cost: features of the box and the whole ledger, once a command. */
#include "joint/commands.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "io/file/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFINITION_MOST = 1 << 16, STATE_MOST = 1 << 28, NODES_MOST = 625 };

static tacet_status take_lock(joint_study *s, tacet_error *err) {
    char path[TACET__PATH];
    const tacet_status status = tacet__path(path, s->folder, "lock", err);
    if (status != TACET_OK) {
        return status;
    }
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock < 0 || flock(s->lock, LOCK_EX) != 0) {
        return tacet__fail(err, errno == ENOENT ? TACET_NOT_FOUND : TACET_IO, "%s: %s", path, strerror(errno));
    }
    return TACET_OK;
}

/* Domain, features, map: functions of the definition alone. */
static tacet_status make_map(joint_study *s, tacet_error *err) {
    const joint_definition *def = &s->def;
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    s->domain = (tacet_domain){.kind = TACET_DOMAIN_BOX, .d = def->d, .lower = def->lower, .upper = def->upper};
    tacet_kernel_spec_defaults(&spec);
    tacet_status status = tacet_kernel_parse(&spec, def->kernel, err);
    spec.d = def->d;
    spec.lengthscales = def->lengthscales;
    spec.lengthscale_count = def->d;
    if (status == TACET_OK) {
        status = tacet_kernel_create(&kernel, &spec, err);
    }
    if (status == TACET_OK) {
        const size_t order = def->d == 1 ? 40 : (size_t)floor(pow(NODES_MOST, 1.0 / (double)def->d) + 1e-9);
        status = tacet_features_create_mercer(&s->features, kernel, &s->domain, order, def->features, err);
    }
    tacet_kernel_free(kernel);
    if (status == TACET_OK) {
        const size_t m = tacet_features_dim(s->features);
        status = tacet_central_map_create(&s->map, s->features, &s->domain, def->released < m ? def->released : m,
                                          def->reward_lo, def->reward_hi, err);
    }
    return status;
}

static void fill_settings(joint_study *s) {
    tacet_central_settings_defaults(&s->settings);
    s->settings.eps = s->def.eps;
    s->settings.delta = s->def.delta;
    s->settings.rounds = s->def.rounds;
    s->settings.open_most = s->def.open_most;
    s->settings.learner.set_size = s->def.set_size;
    s->ask = (tacet_ask){.ledger = s->ledger,
                         .ticket = "study",
                         .what = "all suggestions of a joint-DP study",
                         .to_whom = s->def.to_whom,
                         .covered_fields = "decision set,reward",
                         .uncovered_fields = "time and number of rounds",
                         .covered_records = "each round, towards all other rounds"};
}

static tacet_status open_ledger(joint_study *s, bool create, tacet_error *err) {
    char path[TACET__PATH];
    tacet_ledger_settings set;
    tacet_ledger_settings_defaults(&set);
    set.eps = s->def.eps;
    set.delta = s->def.delta;
    set.create = create;
    tacet_status status = tacet__path(path, s->folder, "ledger.db", err);
    return status == TACET_OK ? tacet_ledger_open(&s->ledger, path, &set, err) : status;
}

static void begin(joint_study *s, const char *folder) {
    memset(s, 0, sizeof *s);
    s->folder = folder;
    s->lock = -1;
    tacet_blob_init(&s->state);
}

void joint_study_close(joint_study *s) {
    tacet_policy_free(s->policy);
    tacet_central_map_free(s->map);
    tacet_features_free(s->features);
    tacet_ledger_close(s->ledger);
    tacet_blob_clear(&s->state);
    if (s->lock >= 0) {
        (void)close(s->lock);
    }
}

tacet_status joint_study_save(joint_study *s, tacet_error *err) {
    char path[TACET__PATH], beside[TACET__PATH];
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    tacet_status status = tacet__path(path, s->folder, "state", err);
    status = status != TACET_OK ? status : tacet__path(beside, s->folder, "state.new", err);
    status = status != TACET_OK ? status : tacet_policy_save(s->policy, &bytes, err);
    if (status == TACET_OK) {
        const int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
        if (file == NULL) {
            status = tacet__fail(err, TACET_IO, "%s: %s", beside, strerror(errno));
            if (fd >= 0) {
                (void)close(fd);
            }
        } else {
            (void)fwrite(bytes.data, 1, bytes.size, file);
            status = tacet__file_finish(file, beside, err);
        }
    }
    if (status == TACET_OK) {
        status = tacet__file_publish(beside, path, s->folder, err);
    }
    tacet_blob_clear(&bytes);
    return status;
}

/* A study that was refused before anything was charged leaves nothing, so that it can be made again with other numbers.
 * What stood in the folder before, and a ledger with an entry, stay. */
static void discard(joint_study *s, const tacet_error *err) {
    static const char *const FILES[] = {"ledger.db", "ledger.db-wal", "ledger.db-shm", "lock"};
    tacet_ledger_totals totals;
    char path[TACET__PATH];
    if (err == NULL || err->status != TACET_INVALID || s->ledger == NULL ||
        tacet_ledger_total(s->ledger, &totals, NULL) != TACET_OK || totals.entries != 0) {
        return;
    }
    tacet_ledger_close(s->ledger);
    s->ledger = NULL;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        if (tacet__path(path, s->folder, FILES[i], NULL) == TACET_OK) {
            (void)unlink(path);
        }
    }
    (void)rmdir(s->folder); /* stays when something else is in it */
}

tacet_status joint_study_make(joint_study *s, const char *folder, const joint_definition *def, tacet_error *err) {
    char path[TACET__PATH];
    begin(s, folder);
    s->def = *def;
    tacet_status status = make_map(s, err); /* refuses what is wrong before anything is made */
    status = status != TACET_OK ? status : tacet__folder_make(NULL, folder, err);
    status = status != TACET_OK ? status : take_lock(s, err);
    status = status != TACET_OK ? status : tacet__path(path, folder, "study.json", err);
    if (status == TACET_OK && access(path, F_OK) == 0) {
        status = tacet__fail(err, TACET_CONFLICT, "%s: there is a study already", folder);
    }
    status = status != TACET_OK ? status : open_ledger(s, true, err);
    fill_settings(s);
    status = status != TACET_OK ? status : tacet_central_create(&s->policy, s->map, &s->settings, &s->ask, err);
    status = status != TACET_OK ? status : joint_study_save(s, err);
    if (status != TACET_OK) {
        discard(s, err);
        return status;
    }
    json_t *object = joint_definition_json(def);
    char *text = tacet__json_text(object, 1);
    json_decref(object);
    status = text != NULL ? tacet__file_write(path, folder, text, 0644, err)
                          : tacet__fail(err, TACET_NO_MEMORY, "out of memory writing study.json");
    free(text);
    return status;
}

static tacet_status read_state(joint_study *s, tacet_error *err) {
    char path[TACET__PATH];
    char *bytes = NULL;
    size_t size = 0;
    struct stat st;
    tacet_status status = tacet__path(path, s->folder, "state", err);
    if (status == TACET_OK) {
        /* The reader allocates as much as it is told to expect. */
        const size_t most = stat(path, &st) == 0 && st.st_size < STATE_MOST ? (size_t)st.st_size : STATE_MOST;
        status = tacet__file_read(&bytes, &size, path, most, err);
    }
    if (status == TACET_OK) {
        status = tacet_blob_append(&s->state, bytes, size, err);
        explicit_bzero(bytes, size);
    }
    free(bytes);
    return status;
}

tacet_status joint_study_open(joint_study *s, const char *folder, tacet_error *err) {
    char path[TACET__PATH];
    char *text = NULL;
    size_t length = 0;
    begin(s, folder);
    tacet_status status = tacet__path(path, folder, "study.json", err);
    status = status != TACET_OK ? status : tacet__file_read(&text, &length, path, DEFINITION_MOST, err);
    status = status != TACET_OK ? status : take_lock(s, err);
    status = status != TACET_OK ? status : joint_definition_parse(&s->def, text, length, err);
    free(text);
    status = status != TACET_OK ? status : make_map(s, err);
    status = status != TACET_OK ? status : open_ledger(s, false, err);
    status = status != TACET_OK ? status : read_state(s, err);
    fill_settings(s);
    return status != TACET_OK
               ? status
               : tacet_central_restore(&s->policy, s->map, &s->settings, &s->ask, s->state.data, s->state.size, err);
}
