// SPDX-License-Identifier: Apache-2.0
// A hash table of accounts.
#include "tests/tracegen/ledger.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (hash ^ 0xff) * UINT64_C(1099511628211);
}

static uint64_t hash_of(enum ledger_table table, const char *key, const char *detail)
{
    return mix_text(mix_text(UINT64_C(14695981039346656037) + table, key), detail);
}

static bool matches(const struct account *account, enum ledger_table table, const char *key,
                    const char *detail)
{
    return account->table == table && strcmp(account->key, key) == 0 &&
           strcmp(account->detail, detail) == 0;
}

// The account's slot, or the free one where it belongs.
static size_t *find(struct ledger *ledger, enum ledger_table table, const char *key,
                    const char *detail)
{
    size_t mask = ledger->slot_count - 1;
    size_t at = hash_of(table, key, detail) & mask;
    while (ledger->slots[at] &&
           !matches(&ledger->accounts[ledger->slots[at] - 1], table, key, detail))
        at = (at + 1) & mask;
    return &ledger->slots[at];
}

static void widen(struct ledger *ledger)
{
    ledger->capacity = ledger->capacity * 2 + 64;
    ledger->accounts = realloc(ledger->accounts, ledger->capacity * sizeof *ledger->accounts);
    free(ledger->slots);
    ledger->slot_count = 256;
    while (ledger->slot_count < 2 * ledger->capacity)
        ledger->slot_count *= 2;
    ledger->slots = calloc(ledger->slot_count, sizeof *ledger->slots);
    if (!ledger->accounts || !ledger->slots)
        outfile_die("found no memory for %zu accounts", ledger->capacity);
    for (size_t i = 0; i < ledger->count; i++) {
        const struct account *account = &ledger->accounts[i];
        *find(ledger, account->table, account->key, account->detail) = i + 1;
    }
}

static struct account *open_account(struct ledger *ledger, enum ledger_table table, const char *key,
                                    const char *detail)
{
    if (ledger->count == ledger->capacity)
        widen(ledger);
    size_t *slot = find(ledger, table, key, detail);
    if (!*slot) {
        ledger->accounts[ledger->count++] =
            (struct account){.table = table, .key = key, .detail = detail};
        *slot = ledger->count;
    }
    return &ledger->accounts[*slot - 1];
}

void ledger_add(struct ledger *ledger, enum ledger_table table, const char *key, const char *detail,
                const struct ledger_entry *entry)
{
    struct account *account = open_account(ledger, table, key, detail);
    struct ledger_entry *sum = &account->sum;
    account->events++;
    sum->calls += entry->call == 0 || entry->call != sum->call;
    sum->call = entry->call;
    sum->total_ns += entry->total_ns;
    sum->owned_ns += entry->owned_ns;
    sum->bytes = table == LEDGER_WORK ? entry->bytes : sum->bytes + entry->bytes;
    sum->flops = entry->flops;
}

void ledger_free(struct ledger *ledger)
{
    free(ledger->accounts);
    free(ledger->slots);
}

const char *ledger_phase(enum phase phase)
{
    static const char *const names[PHASE_COUNT] = {
        [PHASE_FORWARD] = "forward",
        [PHASE_BACKWARD] = "backward",
        [PHASE_RECOMPUTE] = "recompute",
    };
    return names[phase];
}

const char *ledger_copy(const struct instruction *work)
{
    static const char *const ways[] = {
        [COPY_HTOD] = "HtoD", [COPY_DTOH] = "DtoH", [COPY_DTOD] = "DtoD", [COPY_PTOP] = "PtoP"};
    return work->code == CODE_SET ? "memset" : ways[work->way];
}

const char *ledger_host_memory(const struct instruction *work)
{
    if (work->code == CODE_SET || work->way == COPY_DTOD || work->way == COPY_PTOP)
        return "";
    return work->pageable ? "pageable" : "pinned";
}
