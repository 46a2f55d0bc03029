/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - all that libtacet has, in one include: what anyone may run. Made by tools/gather. */
#ifndef TACET_OPEN_H
#define TACET_OPEN_H

#include <tacet/ab/open/model.h>
#include <tacet/ab/open/posterior.h>
#include <tacet/ab/shared/plan.h>
#include <tacet/contextual/open/model.h>
#include <tacet/contextual/shared/limits.h>
#include <tacet/core/blob.h>
#include <tacet/core/policy.h>
#include <tacet/core/simrng.h>
#include <tacet/core/status.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/charge.h>
#include <tacet/dp/open/law.h>
#include <tacet/dp/open/ledger_read.h>
#include <tacet/dp/open/receipt.h>
#include <tacet/dp/open/release.h>
#include <tacet/gp/cov.h>
#include <tacet/gp/kernel.h>
#include <tacet/gp/threads.h>
#include <tacet/io/csv.h>
#include <tacet/io/file.h>
#include <tacet/io/http/log.h>
#include <tacet/local/open/local.h>
#include <tacet/local/open/statistics_model.h>
#include <tacet/local/shared/card.h>
#include <tacet/local/shared/choice.h>
#include <tacet/local/shared/ldp.h>
#include <tacet/local/shared/sphere.h>
#include <tacet/outsourced/open/modeler.h>
#include <tacet/outsourced/open/remote.h>
#include <tacet/outsourced/open/session.h>
#include <tacet/outsourced/shared/manifest.h>
#include <tacet/report/report.h>
#include <tacet/space/space.h>

#endif
