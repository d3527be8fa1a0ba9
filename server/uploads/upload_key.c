// SPDX-License-Identifier: Apache-2.0
// Reads Idempotency-Key and distinguishes uploads.
#include "server/uploads/upload_key.h"

#include "ingest/base/hash.h"
#include "ingest/base/secrets.h"
#include "server/store/store_resumable.h"

static uint64_t add(uint64_t hash, struct str text)
{
    return hash_u64(hash ^ hash_bytes(text.at, text.len));
}

static uint64_t add_number(uint64_t hash, int64_t number)
{
    return hash_u64(hash ^ (uint64_t)number);
}

static uint64_t add_pairs(uint64_t hash, const struct run_tag *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = add(add(hash, pairs[i].key), pairs[i].value);
    return add_number(hash, (int64_t)count);
}

static uint64_t add_run(uint64_t hash, const struct run_request *run)
{
    struct str project = run->project.len ? run->project : STR("default");
    hash = add(add(add(hash, run->name), project), run->note);
    hash = add_pairs(add_pairs(hash, run->tags, run->tag_count), run->meta, run->meta_count);
    hash = add_number(add(hash, run->step_pattern), run->world_size);
    return add_number(hash, run->warmup_steps ? *run->warmup_steps : INT64_MIN);
}

int64_t upload_key_hash(const struct upload_form *form)
{
    uint64_t hash = add_number(add_run(0, &form->run), form->replace);
    for (size_t i = 0; i < form->part_count; i++) {
        const struct intake_part *part = &form->parts[i];
        hash = add_number(add(hash, part->filename), part->rank);
        hash = add(hash, str_of(blob_spool_sha256(part->spool)));
    }
    if (form->role.len) // hashes of older versions had no role
        hash = add(hash, form->role);
    return (int64_t)(hash >> 1);
}

static bool check(struct str text, struct err *err)
{
    bool visible = text.len > 0 && text.len <= STORE_KEY_MAX_BYTES;
    for (size_t i = 0; visible && i < text.len; i++)
        visible = text.at[i] > ' ' && text.at[i] <= '~';
    return visible || err_set(err, ERR_USAGE,
                              "found an Idempotency-Key of %zu bytes, expected 1 to %zu visible "
                              "characters",
                              text.len, STORE_KEY_MAX_BYTES);
}

// A key that must not be stored as it is is replaced by its hash.
static bool hide_secret(const struct request *request, struct str *text, struct err *err)
{
    struct secret secret;
    if (!secrets_find(*text, 0, &secret))
        return true;
    char *hidden = arena_printf(request->arena, err, "hash-%016llx",
                                (unsigned long long)hash_bytes(text->at, text->len));
    if (hidden)
        *text = str_of(hidden);
    return hidden != NULL;
}

bool upload_key_read(const struct request *request, struct upload_key *key, struct err *err)
{
    struct str text = request_header(request, "Idempotency-Key");
    *key = (struct upload_key){.text = STR("")};
    if (!text.at)
        return true;
    if (!check(text, err) || !hide_secret(request, &text, err))
        return false;
    key->text = text;
    return true;
}
