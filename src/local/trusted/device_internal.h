/* device_internal.h - a device on a given noise source, for audits and tests. Ring: trusted. */
#ifndef TACET_SRC_LOCAL_TRUSTED_DEVICE_INTERNAL_H
#define TACET_SRC_LOCAL_TRUSTED_DEVICE_INTERNAL_H

#include <tacet/dp/noise.h>
#include <tacet/local/trusted/device.h>

/* What tacet_device_report does, without the object. The noise is borrowed. */
tacet_status tacet__device_answer(tacet_noise *noise, const tacet_ldp *ldp, const tacet_device_store *store,
                                  tacet_device_answer *out, const char *ticket, double reward, tacet_error *err);

#endif
