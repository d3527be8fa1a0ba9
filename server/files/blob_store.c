// SPDX-License-Identifier: Apache-2.0
// Finds the kind of a place and calls it.
#include "server/files/blob_store.h"

#include <stddef.h>

const struct blob_kind *const blob_kinds[] = {&blob_local, &blob_s3, NULL};

struct blob_store *blob_store_open(const char *place, struct disk_fault *fault, struct err *err)
{
    for (size_t i = 0; blob_kinds[i]; i++)
        if (blob_kinds[i]->is_place(place))
            return blob_kinds[i]->open(place, fault, err);
    err_set(err, ERR_USAGE, "%.200s is no place for files", place);
    return NULL;
}

void blob_store_close(struct blob_store *store)
{
    if (store)
        store->kind->close(store);
}

bool blob_store_put(struct blob_store *store, struct blob_key key, const struct blob_part *part,
                    struct err *err)
{
    return store->kind->put(store, key, part, err);
}

bool blob_store_read(struct blob_store *store, struct blob_key key, int *fd, uint64_t *bytes,
                     struct err *err)
{
    return store->kind->read(store, key, fd, bytes, err);
}

bool blob_store_read_past_cache(struct blob_store *store, struct blob_key key, int *fd,
                                uint64_t *bytes, struct err *err)
{
    return store->kind->read_past_cache(store, key, fd, bytes, err);
}

bool blob_store_size(struct blob_store *store, struct blob_key key, uint64_t *bytes,
                     struct err *err)
{
    return store->kind->size(store, key, bytes, err);
}

bool blob_store_remove(struct blob_store *store, struct blob_key key, struct err *err)
{
    return blob_store_remove_as_of(store, key, 0, err);
}

bool blob_store_remove_as_of(struct blob_store *store, struct blob_key key, int64_t asked_s,
                             struct err *err)
{
    return store->kind->remove(store, key, asked_s, err);
}

bool blob_store_each(struct blob_store *store, const struct blob_visitor *visitor, struct err *err)
{
    return store->kind->each(store, visitor, err);
}

bool blob_store_copy(struct blob_store *store, struct blob_key key, const char *folder,
                     struct err *err)
{
    return store->kind->copy(store, key, folder, err);
}

bool blob_store_take(struct blob_store *store, struct blob_key key, struct blob_store *from,
                     struct err *err)
{
    return store->kind->take(store, key, from, err);
}

void blob_store_sweep(struct blob_store *store, unsigned *removed)
{
    if (store->kind->sweep)
        store->kind->sweep(store, removed);
}

bool blob_store_end_uploads(struct blob_store *store, struct err *err)
{
    return !store->kind->end_uploads || store->kind->end_uploads(store, err);
}

bool blob_store_probe(struct blob_store *store, struct err *err)
{
    return store->kind->probe(store, err);
}

bool blob_store_read_mark(struct blob_store *store, char mark[BLOB_MARK_SIZE], struct err *err)
{
    return store->kind->read_mark(store, mark, err);
}

bool blob_store_write_mark(struct blob_store *store, const char *mark, struct err *err)
{
    return store->kind->write_mark(store, mark, err);
}

bool blob_store_has_pieces(const struct blob_store *store)
{
    return store->kind->pieces;
}

bool blob_store_put_piece(struct blob_store *store, const struct blob_piece *piece, int fd,
                          struct err *err)
{
    return store->kind->pieces->put(store, piece, fd, err);
}

bool blob_store_get_piece(struct blob_store *store, const struct blob_piece *piece, int fd,
                          struct err *err)
{
    return store->kind->pieces->get(store, piece, fd, err);
}

bool blob_store_remove_piece(struct blob_store *store, const struct blob_piece *piece,
                             struct err *err)
{
    return store->kind->pieces->remove(store, piece, err);
}

bool blob_store_each_piece(struct blob_store *store, const char *id,
                           const struct blob_piece_visitor *visitor, struct err *err)
{
    return store->kind->pieces->each(store, id, visitor, err);
}
