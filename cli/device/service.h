/* service.h - the suggestion service as a device sees it. */
#ifndef TACET_CLI_DEVICE_SERVICE_H
#define TACET_CLI_DEVICE_SERVICE_H

#include "common/cli.h"

#include <tacet/local/shared/ldp.h>

/* Where it is and who asks: the options that every command over the wire has. */
typedef struct service_address {
    const char *server, *authority, *token_file, *study;
    double patience; /* seconds to go on asking a server that is away */
} service_address;

enum { SERVICE_PATIENCE = 30 };

/* For the tables of options. `needed`: whether the command is nothing without a server. */
#define SERVICE_OPTIONS(address, needed)                                                                               \
    {"server", CLI_STRING, &(address).server, "URL", "The suggestion service: https://host:port.", needed},            \
        {"study", CLI_STRING, &(address).study, "NAME", "The study, with --server.", needed},                          \
        {"authority",                                                                                                  \
         CLI_STRING,                                                                                                   \
         &(address).authority,                                                                                         \
         "FILE",                                                                                                       \
         "PEM of the authority that signed the server's certificate, with --server.",                                  \
         needed},                                                                                                      \
        {"token-file", CLI_STRING, &(address).token_file, "FILE", "Holds the device's token, with --server.", needed}, \
    {                                                                                                                  \
        "patience", CLI_DOUBLE, &(address).patience, "S",                                                              \
            "Seconds to go on asking while the server is away. Default 30.", false                                     \
    }

typedef struct service service;

/* INVALID: an option is missing or no address. NOT_FOUND: a file. */
tacet_status service_open(service **out, const service_address *address, tacet_error *err);
void service_close(service *s); /* NULL is allowed */
/* Refuses (CONFLICT) unless the study asks for reports of exactly this randomiser: a server that asks for more does not
 * get it, and one that expects other noise would learn nonsense. */
tacet_status service_agree(service *s, const tacet_ldp *ldp, tacet_error *err);
/* A suggestion; the same key again gives the same one. *out is the server's answer: ticket, index, action. */
tacet_status service_suggest(service *s, json_t **out, const char *key, tacet_error *err);
/* Sends a report until it is acknowledged. The same bits for a ticket may be sent any number of times. */
tacet_status service_observe(service *s, const char *ticket, double report, tacet_error *err);

#endif
