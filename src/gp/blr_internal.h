/* blr_internal.h - saving and loading the state of tacet_blr within a policy's own state. Ring: pure. */
#ifndef TACET_SRC_GP_BLR_INTERNAL_H
#define TACET_SRC_GP_BLR_INTERNAL_H

#include "core/codec.h"

#include <tacet/gp/blr.h>

void tacet__blr_write(const tacet_blr *blr, tacet__writer *w);
/* Into a model created with the same arguments; continues bit for bit. A reader that failed leaves it undefined: read
 * into a second model and swap when tacet__read_end says OK. */
void tacet__blr_read(tacet_blr *blr, tacet__reader *r);

#endif
