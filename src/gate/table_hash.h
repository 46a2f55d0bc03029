/* table_hash.h - how the rows of a table enter its content hash: each number as the eight bytes of its bits, lowest
 * first. Shared with who must tell a table of released rows from anything else. Ring: gate. */
#ifndef TACET_SRC_GATE_TABLE_HASH_H
#define TACET_SRC_GATE_TABLE_HASH_H

#include <sodium.h>
#include <stddef.h>

void tacet__table_hash(crypto_generichash_state *hash, const double *values, size_t count);

#endif
