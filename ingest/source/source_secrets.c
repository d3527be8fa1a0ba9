// SPDX-License-Identifier: Apache-2.0
// Counts the secrets in what is read through it.
#include "ingest/source/source.h"

#include <stdlib.h>

struct secrets {
    struct source source;
    struct source *below;
    struct secret_tally *tally;
};

static bool secrets_read(struct source *source, void *bytes, size_t cap, size_t *got,
                         struct err *err)
{
    struct secrets *secrets = (struct secrets *)source;
    if (!source_read(secrets->below, bytes, cap, got, err))
        return false;
    if (*got)
        secret_tally_add(secrets->tally, (struct str){bytes, *got});
    return true;
}

static void secrets_close(struct source *source)
{
    struct secrets *secrets = (struct secrets *)source;
    secret_tally_end(secrets->tally);
    source_close(secrets->below);
    free(source);
}

static uint64_t secrets_consumed(const struct source *source)
{
    return source_consumed(((const struct secrets *)source)->below);
}

static const struct source_ops secrets_ops = {
    .read = secrets_read, .close = secrets_close, .consumed = secrets_consumed};

struct source *source_secrets_open(struct source *below, struct secret_tally *tally,
                                   struct err *err)
{
    struct secrets *secrets = malloc(sizeof *secrets);
    if (!secrets) {
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *secrets = (struct secrets){{&secrets_ops}, below, tally};
    return &secrets->source;
}
