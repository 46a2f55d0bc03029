/* local_joint.h - the server's half of local joint DP: adds noisy reports up, keeps the public model.
 *
 * Reports come from tacet/trusted/joint_device.h. The server sees nothing else, and everything it makes of them is
 * public. Not thread-safe. */
#ifndef TACET_OPEN_LOCAL_JOINT_H
#define TACET_OPEN_LOCAL_JOINT_H

#include <stdint.h>
#include <tacet/open/joint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_local_joint tacet_local_joint;

/* noise_var: of each number of one report. The model is refreshed after `first` reports and then whenever their number
 * has grown by `growth` > 1: a matter of time, not of privacy. INVALID, NO_MEMORY. */
TACET_API tacet_status tacet_local_joint_create(tacet_local_joint **out, const tacet_joint_map *map,
                                                const tacet_joint_learner_settings *settings, double noise_var,
                                                uint64_t first, double growth, tacet_error *err);
TACET_API void tacet_local_joint_free(tacet_local_joint *server); /* NULL is allowed */
/* A report: 2r numbers. INVALID: wrong count, not finite; nothing changes. */
TACET_API tacet_status tacet_local_joint_take(tacet_local_joint *server, const double *report, size_t count,
                                              tacet_error *err);
/* Sums, count and model as bytes, and back into a server created alike; the size does not depend on the number of
 * reports. CORRUPT: damaged, impossible, or of another server, which keeps its state. NO_MEMORY. */
TACET_API tacet_status tacet_local_joint_save(const tacet_local_joint *server, tacet_blob *out, tacet_error *err);
TACET_API tacet_status tacet_local_joint_load(tacet_local_joint *server, const void *bytes, size_t size,
                                              tacet_error *err);
TACET_API uint64_t tacet_local_joint_count(const tacet_local_joint *server);
/* The public model, which devices score their arms by; owned by the server. */
TACET_API tacet_joint_learner *tacet_local_joint_model(tacet_local_joint *server);

#ifdef __cplusplus
}
#endif
#endif
