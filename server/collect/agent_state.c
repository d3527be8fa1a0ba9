// SPDX-License-Identifier: Apache-2.0
#include "server/collect/agent_state.h"

#include <stdio.h>

#define SECOND_NS  1000000000LL
#define SILENT_NS  (60 * SECOND_NS)
#define OFFER_NS   (30 * SECOND_NS)
#define CAPTURE_NS (3600 * SECOND_NS)

struct agent_process *agent_state_see(struct agent_state *state, const char *name,
                                      const struct fabric_message *message, int64_t now_ns)
{
    struct agent_process *process = NULL;
    for (size_t i = 0; i < state->process_count; i++)
        if (strcmp(state->processes[i].name, name) == 0)
            process = &state->processes[i];
    if (!process && state->process_count == AGENT_MOST_PROCESSES)
        return NULL;
    if (!process) {
        process = &state->processes[state->process_count++];
        *process = (struct agent_process){.rank = -1};
        snprintf(process->name, sizeof process->name, "%s", name);
    }
    process->own_pid = message->pids[0];
    process->job = message->job;
    process->seen_ns = now_ns;
    return process;
}

static bool is_ancestor(const struct agent_process *process, const struct fabric_message *message)
{
    for (size_t i = 1; i < message->pid_count; i++)
        if (process->own_pid == message->pids[i])
            return true;
    return false;
}

void agent_state_place(const struct agent_state *state, struct agent_process *process,
                       const struct fabric_message *message)
{
    process->is_worker = false;
    for (size_t i = 0; process->rank >= 0 && i < state->process_count; i++) {
        const struct agent_process *other = &state->processes[i];
        if (other->rank == process->rank && other->job == process->job &&
            other->uid == process->uid && is_ancestor(other, message))
            process->is_worker = true;
    }
}

size_t agent_state_list(const struct agent_state *state, const struct agent_process **listed,
                        size_t most)
{
    size_t count = 0;
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; count < most && i < state->process_count; i++) {
            const struct agent_process *process = &state->processes[i];
            if ((process->rank < 0 || process->is_worker) == others)
                listed[count++] = process;
        }
    return count;
}

void agent_state_age(struct agent_state *state, int64_t now_ns)
{
    for (size_t i = 0; i < state->process_count;)
        if (now_ns - state->processes[i].seen_ns > SILENT_NS)
            state->processes[i] = state->processes[--state->process_count];
        else
            i++;
    for (size_t i = 0; i < AGENT_MOST_CAPTURES; i++) {
        struct agent_capture *capture = &state->captures[i];
        if (!capture->since_ns || now_ns - capture->since_ns <= CAPTURE_NS)
            continue;
        capture->since_ns = 0;
        for (size_t j = 0; j < state->process_count; j++) {
            state->processes[j].given &= ~(1u << i);
            state->processes[j].started &= ~(1u << i);
        }
    }
}

bool agent_state_add(struct agent_state *state, const struct fabric_capture *capture,
                     int64_t now_ns)
{
    struct agent_capture *room = NULL;
    for (size_t i = 0; i < AGENT_MOST_CAPTURES; i++) {
        struct agent_capture *known = &state->captures[i];
        if (known->since_ns && strcmp(known->what.id, capture->id) == 0)
            return true;
        room = known->since_ns || room ? room : known;
    }
    if (room)
        *room = (struct agent_capture){*capture, now_ns};
    return room != NULL;
}

static bool is_for(const struct fabric_capture *capture, const struct agent_process *process)
{
    char job[32];
    bool found = capture->rank_count == 0;
    snprintf(job, sizeof job, "%lld", (long long)process->job);
    for (size_t i = 0; i < capture->rank_count; i++)
        found = found || capture->ranks[i] == process->rank;
    return found && (!capture->job[0] || strcmp(capture->job, job) == 0);
}

const struct fabric_capture *agent_state_take(struct agent_state *state,
                                              struct agent_process *process, int64_t now_ns,
                                              bool *is_first)
{
    if (process->is_busy)
        process->started |= process->given;
    for (size_t i = 0; !process->is_busy && i < AGENT_MOST_CAPTURES; i++) {
        const struct agent_capture *capture = &state->captures[i];
        if (!capture->since_ns || now_ns - capture->since_ns > OFFER_NS ||
            !is_for(&capture->what, process) || (process->started & 1u << i))
            continue;
        *is_first = !(process->given & 1u << i);
        process->given |= 1u << i;
        return &capture->what;
    }
    return NULL;
}

void agent_state_start(struct agent_state *state, const char *id, int32_t own_pid)
{
    for (size_t i = 0; i < AGENT_MOST_CAPTURES; i++) {
        if (!state->captures[i].since_ns || strcmp(state->captures[i].what.id, id) != 0)
            continue;
        for (size_t j = 0; j < state->process_count; j++)
            if (state->processes[j].own_pid == own_pid)
                state->processes[j].started |= 1u << i;
    }
}
