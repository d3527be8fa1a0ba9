// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/memory_snapshot.h"

#include "ingest/evidence/evidence.h"

enum { MOST_STACKS = 100000, MOST_FRAMES = 600, MOST_OOMS = 100, MOST_MARKS = 100000 };

#define MOST_TIME_US (INT64_MAX / 1000) // fits as nanoseconds

const char *const snapshot_category_words[SNAPSHOT_CATEGORIES] = {
    "unknown", "weights", "gradients", "optimizer", "activations", "inputs", "other"};

static void free_device(struct snapshot_device *device, struct budget *budget)
{
    if (device)
        budget_free(budget, device->sites, device->site_cap * sizeof *device->sites);
    budget_free(budget, device, sizeof *device);
}

void memory_snapshot_free(struct memory_snapshot *snapshot, struct budget *budget)
{
    if (!snapshot)
        return;
    for (size_t i = 0; i < SNAPSHOT_MOST_DEVICES; i++)
        free_device(snapshot->devices[i], budget);
    if (snapshot->texts.slots)
        strtab_free(&snapshot->texts);
    budget_free(budget, snapshot->stacks, snapshot->stack_cap * sizeof *snapshot->stacks);
    live_blocks_free(&snapshot->live, budget);
    budget_free(budget, snapshot->blocks, snapshot->block_cap * sizeof *snapshot->blocks);
    budget_free(budget, snapshot->ooms, snapshot->oom_cap * sizeof *snapshot->ooms);
    budget_free(budget, snapshot->marks, snapshot->mark_cap * sizeof *snapshot->marks);
    budget_free(budget, snapshot, sizeof *snapshot);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// --- the name -----------------------------------------------------------------------------------

static int64_t number_at(struct str text)
{
    int64_t number;
    size_t digits = str_digits_end(text, 0);
    return digits && digits < 8 && str_to_i64((struct str){text.at, digits}, &number) ? number : -1;
}

// torchtitan's names start with the rank, in six digits.
int64_t snapshot_rank_of_name(struct str filename)
{
    if (filename.len == 0)
        return -1;
    const char *slash = memrchr(filename.at, '/', filename.len);
    size_t from = slash ? (size_t)(slash - filename.at) + 1 : 0;
    struct str name = {filename.at + from, filename.len - from};
    for (size_t at = 0; at + 4 < name.len; at++) {
        struct str rest = {name.at + at + 4, name.len - at - 4};
        if (!str_equal_nocase((struct str){name.at + at, 4}, STR("rank")))
            continue;
        size_t gap = rest.at[0] == '_' || rest.at[0] == '-';
        return number_at((struct str){rest.at + gap, rest.len - gap});
    }
    bool titan = str_find(name, STR("_step_")) == 6;
    return titan ? number_at(name) : -1;
}

// --- the start ----------------------------------------------------------------------------------

bool memory_snapshot_start(struct evidence *evidence, struct str filename, struct err *err)
{
    uint32_t none;
    struct memory_snapshot *snapshot = budget_zalloc(evidence->budget, sizeof *snapshot, err);
    if (!snapshot)
        return false;
    evidence->memory = snapshot;
    snapshot->rank = snapshot_rank_of_name(filename);
    evidence->source = STR("pytorch");
    return strtab_init(&snapshot->texts, evidence->budget, err) &&
           memory_snapshot_stack(evidence, STR(""), SNAPSHOT_UNKNOWN, &none, err);
}

// NULL: no room.
static struct snapshot_device *device_of(struct evidence *evidence, int64_t number, struct err *err)
{
    struct snapshot_device **device = &evidence->memory->devices[number];
    if (*device)
        return *device;
    *device = budget_zalloc(evidence->budget, sizeof **device, err);
    if (*device)
        (*device)->peaks = 1;
    return *device;
}

// --- stacks -------------------------------------------------------------------------------------

// The table of texts numbers stacks: each text starts with a letter for the category, which may
// follow from calls that the text leaves out.
static bool find_stack(struct memory_snapshot *snapshot, struct str frames,
                       enum snapshot_category category, str_id *id, struct err *err)
{
    struct buf key = {0};
    buf_putc(&key, (char)('A' + (int)category));
    buf_add_shown(&key, frames);
    struct str text = {key.at, key.len > MOST_FRAMES
                                   ? str_valid_utf8((struct str){key.at, MOST_FRAMES})
                                   : key.len};
    bool full = snapshot->stack_count >= MOST_STACKS;
    bool ok = buf_ok(&key, err);
    if (ok && full)
        *id = strtab_find(&snapshot->texts, text);
    else
        ok = ok && strtab_intern_outside(&snapshot->texts, text, id, err);
    buf_free(&key);
    return ok;
}

bool memory_snapshot_stack(struct evidence *evidence, struct str frames,
                           enum snapshot_category category, uint32_t *stack, struct err *err)
{
    struct memory_snapshot *snapshot = evidence->memory;
    str_id id;
    if (!find_stack(snapshot, frames, category, &id, err))
        return false;
    *stack = id ? id - 1 : SNAPSHOT_NO_STACK; // beyond the most
    if (*stack < snapshot->stack_count)
        return true;
    enum snapshot_category *stacks =
        budget_room(evidence->budget, snapshot->stacks, &snapshot->stack_cap, *stack + (size_t)1,
                    sizeof *stacks, err);
    if (!stacks)
        return false;
    snapshot->stacks = stacks;
    while (snapshot->stack_count <= *stack)
        stacks[snapshot->stack_count++] = category;
    snapshot->has_frames |= frames.len > 0;
    return true;
}

struct str snapshot_frames(const struct memory_snapshot *snapshot, uint32_t stack)
{
    struct str text = strtab_get(&snapshot->texts, stack + 1);
    return (struct str){text.at + 1, text.len - 1};
}

// Autograd's thread has no Python frames.
enum snapshot_category snapshot_category_of(const struct memory_snapshot *snapshot, uint32_t stack)
{
    enum snapshot_category category = snapshot->stacks[stack];
    return category == SNAPSHOT_UNKNOWN && snapshot->has_frames ? SNAPSHOT_GRADIENTS : category;
}

// --- segments -----------------------------------------------------------------------------------

bool memory_snapshot_block(struct evidence *evidence, const struct snapshot_block_record *block,
                           struct err *err)
{
    struct memory_snapshot *snapshot = evidence->memory;
    struct snapshot_block *blocks =
        budget_room(evidence->budget, snapshot->blocks, &snapshot->block_cap,
                    snapshot->block_count + 1, sizeof *blocks, err);
    if (!blocks)
        return false;
    snapshot->blocks = blocks;
    blocks[snapshot->block_count++] =
        (struct snapshot_block){.address = block->address,
                                .size = block->size,
                                .stack = block->stack,
                                .in_use = snapshot_is_in_use(block->state)};
    snapshot_add_block(&snapshot->sums, &(struct snapshot_change){block->size, block->state});
    return true;
}

// What the blocks since the last segment hold.
static int64_t held_by_blocks(const struct memory_snapshot *snapshot)
{
    int64_t held = 0;
    for (size_t i = snapshot->block_settled; i < snapshot->block_count; i++)
        if (snapshot->blocks[i].in_use)
            figures_sum(&held, snapshot->blocks[i].size);
    return held;
}

// Those of PyTorch before 2.1 and of profiles have no address.
static uint64_t place_block(struct snapshot_block *block, uint64_t address)
{
    if (block->address == 0)
        block->address = address;
    return block->address + (uint64_t)block->size;
}

// What torch.cuda.empty_cache() gives back of a free block: all of a segment, or whole pages of an
// expandable one, whose first page starts where it does.
static int64_t releasable_of(const struct snapshot_segment *segment,
                             const struct snapshot_block *block)
{
    bool small = segment->type == snapshot_place(WORD_SEGMENT_TYPE, STR("small"));
    uint64_t page = (uint64_t)(small ? 2 : 20) << 20, from = block->address - segment->address;
    uint64_t first = from / page + (from % page > 0), end = (from + (uint64_t)block->size) / page;
    if (segment->private)
        return 0;
    if (!segment->expandable)
        return block->size == segment->total_size ? block->size : 0;
    return end > first ? (int64_t)((end - first) * page) : 0;
}

// Gives the blocks since the last segment to a device, which may be NULL.
static void settle_blocks(struct memory_snapshot *snapshot, struct snapshot_device *device,
                          const struct snapshot_segment *segment)
{
    uint64_t address = segment->address;
    for (; snapshot->block_settled < snapshot->block_count; snapshot->block_settled++) {
        struct snapshot_block *block = &snapshot->blocks[snapshot->block_settled];
        address = place_block(block, address);
        block->device = device ? (uint32_t)segment->device : LIVE_NONE;
        if (block->in_use || !device)
            continue;
        device->free_blocks++;
        figures_sum(&device->releasable, releasable_of(segment, block));
        device->largest_free = larger(device->largest_free, block->size);
    }
}

static void add_to_device(struct snapshot_device *device, const struct snapshot_segment *segment)
{
    device->segments++;
    figures_sum(&device->total, segment->total_size);
    figures_sum(&device->in_use, segment->allocated_size);
    figures_sum(&device->active, segment->active_size);
}

bool memory_snapshot_segment(struct evidence *evidence, const struct snapshot_segment *segment,
                             struct err *err)
{
    struct memory_snapshot *snapshot = evidence->memory;
    struct snapshot_segment whole = *segment;
    struct snapshot_device *device = NULL;
    if (segment->profiled)
        whole.allocated_size = whole.active_size = held_by_blocks(snapshot);
    snapshot_add_segment(&snapshot->sums, &whole);
    if (segment->device < SNAPSHOT_MOST_DEVICES) {
        device = device_of(evidence, segment->device, err);
        if (!device)
            return false;
        add_to_device(device, &whole);
    }
    settle_blocks(snapshot, device, &whole);
    return true;
}

// --- events -------------------------------------------------------------------------------------

struct replay {
    struct evidence *evidence;
    struct memory_snapshot *snapshot;
    struct snapshot_device *device;
    const struct snapshot_event *event;
};

static bool site_of(const struct replay *replay, uint32_t stack, struct snapshot_site **site,
                    struct err *err)
{
    struct snapshot_device *device = replay->device;
    size_t before = device->site_cap;
    struct snapshot_site *sites =
        budget_room(replay->evidence->budget, device->sites, &device->site_cap, stack + (size_t)1,
                    sizeof *sites, err);
    if (!sites)
        return false;
    if (device->site_cap > before)
        memset(sites + before, 0, (device->site_cap - before) * sizeof *sites);
    device->sites = sites;
    *site = &sites[stack];
    return true;
}

// What a site held at the peak is kept when it changes for the first time afterwards.
static void change_site(const struct snapshot_device *device, struct snapshot_site *site,
                        int64_t bytes, int64_t blocks)
{
    if (site->peak != device->peaks) {
        site->before_change = site->now;
        site->peak = device->peaks;
    }
    figures_sum(&site->now.bytes, bytes);
    site->now.blocks += blocks;
}

// Ends the block that was at that address, if any.
static bool end_block(const struct replay *replay, struct err *err)
{
    const struct snapshot_event *event = replay->event;
    struct live_blocks *live = &replay->snapshot->live;
    struct snapshot_site *site;
    const struct live_block *block =
        live_blocks_find(live, (uint32_t)event->device, event->address);
    if (!block)
        return true;
    if (!site_of(replay, block->stack, &site, err))
        return false;
    change_site(replay->device, site, -block->size, -1);
    live_blocks_remove(live, block);
    return true;
}

static bool replay_alloc(const struct replay *replay, struct err *err)
{
    const struct snapshot_event *event = replay->event;
    struct snapshot_device *device = replay->device;
    struct snapshot_site *site;
    const struct live_block block = {event->address, event->size, event->time_us, event->stack,
                                     (uint32_t)event->device};
    if (!end_block(replay, err) || !site_of(replay, event->stack, &site, err))
        return false;
    change_site(device, site, event->size, 1);
    site->allocations++;
    figures_sum(&site->allocated_bytes, event->size);
    figures_sum(&device->allocated, event->size);
    if (device->allocated > device->peak) {
        device->peak = device->allocated;
        device->peak_us = event->time_us;
        device->peaks++;
    }
    return live_blocks_add(&replay->snapshot->live, replay->evidence->budget, &block, err);
}

static bool replay_oom(const struct replay *replay, struct err *err)
{
    const struct snapshot_event *event = replay->event;
    struct memory_snapshot *snapshot = replay->snapshot;
    struct snapshot_device *device = replay->device;
    if (device->ooms++ >= MOST_OOMS || snapshot->oom_count >= MOST_OOMS)
        return true;
    struct snapshot_oom *ooms =
        budget_room(replay->evidence->budget, snapshot->ooms, &snapshot->oom_cap,
                    snapshot->oom_count + 1, sizeof *ooms, err);
    if (!ooms)
        return false;
    snapshot->ooms = ooms;
    ooms[snapshot->oom_count++] = (struct snapshot_oom){
        (uint32_t)event->device, event->stack,      event->time_us,  event->size,
        event->device_free,      device->allocated, device->reserved};
    for (size_t i = 0; i < device->site_cap; i++)
        device->sites[i].oom = device->sites[i].now;
    return true;
}

static void replay_reserved(struct snapshot_device *device, int64_t bytes)
{
    figures_sum(&device->reserved, bytes);
    device->peak_reserved = larger(device->peak_reserved, device->reserved);
}

static bool replay_action(const struct replay *replay, struct err *err)
{
    const struct snapshot_event *event = replay->event;
    switch (snapshot_effect(event->action)) {
    case SNAPSHOT_ALLOC: return replay_alloc(replay, err);
    case SNAPSHOT_FREE:
        figures_sum(&replay->device->allocated, -event->size);
        return end_block(replay, err);
    case SNAPSHOT_RESERVE: replay_reserved(replay->device, event->size); break;
    case SNAPSHOT_RELEASE: replay_reserved(replay->device, -event->size); break;
    case SNAPSHOT_OOM: return replay_oom(replay, err);
    case SNAPSHOT_NO_EFFECT: break;
    }
    return true;
}

// Times in the ring do not go back; where none are recorded, the number of the event serves as its
// time.
static int64_t time_of(struct replay *replay, const struct snapshot_event *event)
{
    const struct snapshot_device *device = replay->device;
    replay->snapshot->untimed |= event->time_us <= 0;
    if (replay->snapshot->untimed)
        return device->last_us + 1;
    return larger(event->time_us < MOST_TIME_US ? event->time_us : MOST_TIME_US, device->last_us);
}

bool memory_snapshot_event(struct evidence *evidence, const struct snapshot_event *event,
                           struct err *err)
{
    struct memory_snapshot *snapshot = evidence->memory;
    if (event->device >= SNAPSHOT_MOST_DEVICES)
        return true;
    snapshot_add_event(&snapshot->sums, event->device,
                       &(struct snapshot_change){event->size, event->action});
    struct snapshot_device *device = device_of(evidence, event->device, err);
    if (!device)
        return false;
    struct snapshot_event timed = *event;
    struct replay replay = {evidence, snapshot, device, &timed};
    device->last_us = timed.time_us = time_of(&replay, event);
    if (device->events++ == 0)
        device->first_us = timed.time_us;
    if (!replay_action(&replay, err))
        return false;
    level_curve_add(&device->curve, timed.time_us, device->allocated, device->reserved);
    return true;
}

// --- marks --------------------------------------------------------------------------------------

bool memory_snapshot_annotation(struct evidence *evidence,
                                const struct snapshot_annotation *annotation, struct err *err)
{
    struct memory_snapshot *snapshot = evidence->memory;
    bool step = str_starts_with(annotation->name, STR("ProfilerStep"));
    bool optimizer = str_starts_with(annotation->name, STR("Optimizer.step"));
    snapshot->sums.annotations++;
    if (!annotation->start || (!step && !optimizer) || snapshot->mark_count >= MOST_MARKS ||
        annotation->device >= SNAPSHOT_MOST_DEVICES)
        return true;
    struct snapshot_mark *marks =
        budget_room(evidence->budget, snapshot->marks, &snapshot->mark_cap,
                    snapshot->mark_count + 1, sizeof *marks, err);
    if (!marks)
        return false;
    snapshot->marks = marks;
    marks[snapshot->mark_count++] =
        (struct snapshot_mark){annotation->time_us, (uint32_t)annotation->device, step};
    return true;
}

// --- the end ------------------------------------------------------------------------------------

static void drop_device(struct evidence *evidence, uint32_t number)
{
    struct memory_snapshot *snapshot = evidence->memory;
    snapshot_drop(&snapshot->sums, number);
    free_device(snapshot->devices[number], evidence->budget);
    snapshot->devices[number] = NULL;
}

// Sizes of blocks are rounded up, those of requests are not.
static void sum_rounding(struct memory_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->block_count; i++) {
        const struct snapshot_block *block = &snapshot->blocks[i];
        const struct live_block *live =
            block->in_use ? live_blocks_find(&snapshot->live, block->device, block->address) : NULL;
        if (live && block->size > live->size)
            figures_sum(&snapshot->sums.rounded_on[block->device], block->size - live->size);
    }
}

// What is allocated is never below 0 nor above what is reserved, and a free that was requested is
// completed or awaited at the end. If not, events are missing, as with skip_actions.
static bool lacks_events(const struct memory_snapshot *snapshot, uint32_t number)
{
    const struct snapshot_device *device = snapshot->devices[number];
    const struct trace_sums *trace = &snapshot->sums.traces[number];
    int64_t begin = snapshot_allocated_before(snapshot, number), lowest = begin;
    int64_t awaiting = larger(figures_minus(device->active, device->in_use), 0);
    figures_sum(&lowest, trace->lowest);
    bool fits = snapshot->sums.profiled || begin <= snapshot_reserved_before(device);
    return lowest < 0 || !fits || (trace->freed == 0 && trace->asked > awaiting);
}

static void forget_replay(struct memory_snapshot *snapshot, uint32_t number)
{
    struct snapshot_device *device = snapshot->devices[number];
    snapshot->incomplete = device->incomplete = true;
    device->allocated = device->peak = 0;
    snapshot_forget(&snapshot->sums, number);
}

void memory_snapshot_done(struct evidence *evidence, size_t traces)
{
    struct memory_snapshot *snapshot = evidence->memory;
    if (snapshot->sums.profiled && traces > 0 && traces <= SNAPSHOT_MOST_DEVICES)
        drop_device(evidence, (uint32_t)traces - 1);
    sum_rounding(snapshot);
    for (uint32_t i = 0; i < SNAPSHOT_MOST_DEVICES; i++)
        if (snapshot->devices[i] && snapshot->devices[i]->events > 0 && lacks_events(snapshot, i))
            forget_replay(snapshot, i);
}

// --- outcome -------------------------------------------------------------------------------------

bool snapshot_is_replayed(const struct snapshot_device *device)
{
    return device->events > 0 && !device->incomplete;
}

struct snapshot_use snapshot_use_at_peak(const struct snapshot_device *device,
                                         const struct snapshot_site *site)
{
    return site->peak == device->peaks ? site->before_change : site->now;
}

int64_t snapshot_allocated_before(const struct memory_snapshot *snapshot, uint32_t device)
{
    return snapshot_before(&snapshot->sums, device, snapshot->devices[device]->allocated);
}

int64_t snapshot_reserved_before(const struct snapshot_device *device)
{
    return figures_minus(device->total, device->reserved);
}

static bool is_from_before(const struct memory_snapshot *snapshot,
                           const struct snapshot_block *block)
{
    return block->in_use && !live_blocks_find(&snapshot->live, block->device, block->address);
}

void snapshot_add_before(const struct memory_snapshot *snapshot, uint32_t device,
                         struct snapshot_use *by_stack)
{
    for (size_t i = 0; i < snapshot->block_count; i++) {
        const struct snapshot_block *block = &snapshot->blocks[i];
        if (block->device != device || !is_from_before(snapshot, block))
            continue;
        figures_sum(&by_stack[block->stack].bytes, block->size);
        by_stack[block->stack].blocks++;
    }
}
