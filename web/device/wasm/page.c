/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - libtacet-device as a page calls it: one exchange area in the module's memory, and a few functions.
 * Ring: trusted. In: a raw reward, which stays in the page. Out: a report.
 *
 * A store of a page answers later, and C cannot wait. So the library's `reserve` stops the first time (BUSY), with the
 * fresh key in the exchange; the page stores it durably and calls again, now with what it has stored: the key of this
 * call or of an earlier one, or the report that was drawn from it. The order of the gate is kept: nothing is drawn
 * before the page says that the reservation is durable, and the page returns nothing before the report is.
 * A study of decision sets has a card (tacet/local/shared/card.h), which the page puts here before anything else.
 * Cost: that of tacet_device_report, twice. */
#include "core/fail.h"

#include <sodium.h>
#include <stdint.h>
#include <string.h>
#include <tacet/local/trusted/statistics_report.h>

#define EXPORT(name) __attribute__((export_name(name)))

enum {
    TICKET_ROOM = 208,
    MINT_BYTES = 2 * TACET_MINT_BYTES,
    ARMS_MOST = 4096,
    NUMBERS = 1 << 14,
    CARD_BYTES = 1 << 20
};
_Static_assert(TICKET_ROOM > TACET_DEVICE_TICKET_MOST, "a ticket and its zero fit");
_Static_assert(sizeof(tacet_mint) == MINT_BYTES, "what the page stores is a mint and nothing else");

/* What the page has stored of the ticket. */
enum { STAGE_NOTHING, STAGE_RESERVED, STAGE_ANSWERED };

/* device.js reads and writes it by these offsets. */
static struct {
    char ticket[TICKET_ROOM];                           /* 0 */
    unsigned char mint[MINT_BYTES];                     /* 208 */
    double report;                                      /* 272 */
    uint32_t stage;                                     /* 280 */
    char message[sizeof((tacet_error *)NULL)->message]; /* 284 */
} page;
_Static_assert(TICKET_ROOM + MINT_BYTES + 8 + 4 == 284, "the offsets of device.js");

static tacet_ldp law;
static uint32_t weights[ARMS_MOST];
static double numbers[NUMBERS];              /* the arms of a device, one after the other; of a report, one */
static unsigned char card_bytes[CARD_BYTES]; /* as the collector sent them */
static tacet_statistics_card *card;

static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    (void)user;
    (void)ticket;
    (void)ldp;
    (void)err;
    switch (page.stage) {
    case STAGE_RESERVED:
        memcpy(mint, page.mint, MINT_BYTES);
        return TACET_OK;
    case STAGE_ANSWERED:
        *answered = true;
        *report = page.report;
        return TACET_OK;
    default:
        memcpy(page.mint, mint, MINT_BYTES);
        return TACET_BUSY;
    }
}

static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    (void)user;
    (void)ticket;
    (void)err;
    memset(page.mint, 0, MINT_BYTES);
    page.report = report;
    return TACET_OK;
}

static int tell(tacet_status status, const tacet_error *err) {
    memcpy(page.message, err->message, sizeof page.message);
    return (int)status;
}

EXPORT("tacet_page") void *tacet_page(void) {
    return &page;
}

/* Room for the weights of 4,096 arms. */
EXPORT("tacet_page_weights") void *tacet_page_weights(void) {
    return weights;
}

/* The arm to play, by the first `count` weights; -1: none. */
EXPORT("tacet_page_choose") int tacet_page_choose(int count) {
    size_t arm = 0;
    tacet_error err = {0};
    const bool fits = count > 0 && count <= ARMS_MOST;
    return fits && tell(tacet_device_choose(&arm, weights, (size_t)count, &err), &err) == 0 ? (int)arm : -1;
}

/* The law of all reports from now on. */
EXPORT("tacet_page_law") int tacet_page_law(int kind, double eps, double lo, double hi) {
    tacet_error err = {0};
    return tell(tacet_ldp_init(&law, (tacet_ldp_kind)kind, eps, lo, hi, &err), &err);
}

/* The report of page.ticket, by what is stored of it. BUSY: page.mint is to be stored first. */
EXPORT("tacet_page_report") int tacet_page_report(double reward) {
    const tacet_device_store store = {.reserve = reserve, .commit = commit};
    tacet_device *device = NULL;
    tacet_device_answer answer;
    tacet_error err = {0};
    tacet_status status = tacet_device_open(&device, &law, &store, &err);
    if (status == TACET_OK) {
        status = tacet_device_report(device, &answer, page.ticket, reward, &err);
    }
    tacet_device_close(device);
    return tell(status, &err);
}

/* --- decision sets: the arm stays here as well -------------------------------------------------------------------- */

EXPORT("tacet_page_card_room") void *tacet_page_card_room(void) {
    return card_bytes;
}

EXPORT("tacet_page_numbers") void *tacet_page_numbers(void) {
    return numbers;
}

/* The card in the room, from now on. It is the only block that lives between two calls. */
EXPORT("tacet_page_card") int tacet_page_card(int size) {
    tacet_error err = {0};
    tacet_statistics_card_free(card);
    card = NULL;
    return tell(size > 0 && size <= CARD_BYTES ? tacet_statistics_card_open(&card, card_bytes, (size_t)size, &err)
                                               : tacet__fail(&err, TACET_INVALID, "a card has at most a megabyte"),
                &err);
}

/* Coordinates of an arm; 0: there is no card. */
EXPORT("tacet_page_dim") int tacet_page_dim(void) {
    return card != NULL ? (int)tacet_statistics_card_dim(card) : 0;
}

/* Which of the `count` arms to play; -1: none. */
EXPORT("tacet_page_choose_own") int tacet_page_choose_own(int count) {
    tacet_error err = {0};
    tacet_simrng coin;
    uint64_t seed = 0;
    size_t arm = 0;
    if (card == NULL || count < 1 || (size_t)count > NUMBERS / tacet_statistics_card_dim(card)) {
        return -1;
    }
    const size_t d = tacet_statistics_card_dim(card);
    randombytes_buf(&seed, sizeof seed);
    tacet_simrng_init(&coin, seed, 0);
    return tell(tacet_statistics_card_choose(card, &arm, &coin, numbers, d, (size_t)count, &err), &err) == 0 ? (int)arm
                                                                                                             : -1;
}

/* The report of page.ticket in a study of decision sets: the arm is in the numbers' place, `round` a whole number. */
EXPORT("tacet_page_report_own") int tacet_page_report_own(double round, double reward) {
    const tacet_device_store store = {.reserve = reserve, .commit = commit};
    tacet_device_answer answer;
    tacet_error err = {0};
    if (card == NULL || !(round >= 0 && round < 0x1p53)) {
        return tell(tacet__fail(&err, TACET_STATE, "there is no card of the study, or no round"), &err);
    }
    return tell(
        tacet_statistics_report(card, &law, &store, &answer, page.ticket, (uint64_t)round, numbers, reward, &err),
        &err);
}
