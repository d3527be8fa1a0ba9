// SPDX-License-Identifier: Apache-2.0
// Accounts of what device events cost, by purpose.
#pragma once

#include "tests/tracegen/program.h"

#include <stddef.h>
#include <stdint.h>

enum ledger_table {
    LEDGER_OPS,         // by operator
    LEDGER_MODULES,     // by module path and phase
    LEDGER_WORK,        // by operator and shapes, if the work is known
    LEDGER_GROUPS,      // by process group, "" for kernels without one
    LEDGER_COLLECTIVES, // by process group and kind
    LEDGER_CATEGORIES,  // of kernels
    LEDGER_COPIES,      // by direction and host memory
    LEDGER_TABLES
};

struct ledger_entry {
    int64_t calls, total_ns, owned_ns, bytes, flops;
    uint32_t call; // of the operator: events of one call count as one; 0: each counts alone
};

struct account {
    enum ledger_table table;
    const char *key, *detail;
    int64_t events;
    struct ledger_entry sum; // bytes and flops of work are per call, not a sum
};

struct ledger {
    struct account *accounts; // in the order of their first entries
    size_t count, capacity;
    size_t *slots; // hash table of index + 1
    size_t slot_count;
};

// The texts are borrowed and must outlive the ledger.
void ledger_add(struct ledger *ledger, enum ledger_table table, const char *key, const char *detail,
                const struct ledger_entry *entry);
void ledger_free(struct ledger *ledger);

const char *ledger_phase(enum phase phase);
// "HtoD", "memset", ...; "pinned", "pageable" or "".
const char *ledger_copy(const struct instruction *work);
const char *ledger_host_memory(const struct instruction *work);
