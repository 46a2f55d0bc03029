/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - all that libtacet-device has, in one include. Made by tools/gather. */
#ifndef TACET_DEVICE_H
#define TACET_DEVICE_H

#include <tacet/core/status.h>
#include <tacet/local/shared/card.h>
#include <tacet/local/shared/ldp.h>
#include <tacet/local/trusted/device.h>
#include <tacet/local/trusted/statistics_report.h>

#endif
