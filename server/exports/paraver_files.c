// SPDX-License-Identifier: Apache-2.0
#include "server/exports/paraver_files.h"

#include "ingest/base/hash.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_NAMES ((size_t)1 << 18)
#define MOST_TEXT  ((size_t)16 << 20)
#define MOST_LABEL ((size_t)400)

const uint32_t prv_types[PRV_KINDS] = {
    [PRV_API] = 63000000,  [PRV_MEMORY] = 63000001, [PRV_KERNEL] = 63000006,
    [PRV_NCCL] = 63000007, [PRV_NOTE] = 9600,       [PRV_OPERATOR] = 9700,
};

static const char *const labels[PRV_KINDS] = {
    [PRV_API] = "CUDA library call", [PRV_MEMORY] = "CUDA memory operation",
    [PRV_KERNEL] = "CUDA kernel",    [PRV_NCCL] = "NCCL kernel",
    [PRV_NOTE] = "NVTX range",       [PRV_OPERATOR] = "PyTorch operator",
};

// --- names --------------------------------------------------------------------------------------

void prv_names_init(struct prv_names *names)
{
    *names = (struct prv_names){.budget = {.limit = UINT64_MAX}};
    groups_init(&names->groups, &names->budget);
}

void prv_names_free(struct prv_names *names)
{
    groups_free(&names->groups);
    free(names->list);
    buf_free(&names->text);
}

static bool add_name(struct prv_names *names, struct str text, struct err *err)
{
    struct prv_name *grown =
        budget_room(NULL, names->list, &names->room, names->count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    names->list = grown;
    size_t len = text.len < MOST_LABEL ? text.len : MOST_LABEL;
    names->list[names->count++] = (struct prv_name){.at = names->text.len, .len = len};
    buf_add(&names->text, text.at, len);
    return buf_ok(&names->text, err);
}

static bool is_full(const struct prv_names *names)
{
    return names->count >= MOST_NAMES - 1 || names->text.len > MOST_TEXT;
}

bool prv_names_value(struct prv_names *names, struct str text, uint32_t *value, struct err *err)
{
    uint32_t index;
    uint64_t hash = hash_bytes(text.at, text.len);
    if (is_full(names) && !groups_find(&names->groups, hash, hash_u64(hash ^ text.len), &index)) {
        text = STR("other names");
        hash = hash_bytes(text.at, text.len);
    }
    if (!groups_index(&names->groups, hash, hash_u64(hash ^ text.len), &index, err) ||
        (index == names->count && !add_name(names, text, err)))
        return false;
    *value = index + 1;
    return true;
}

// --- .pcf ---------------------------------------------------------------------------------------

static void put_label(const struct prv_names *names, const struct prv_name *name, struct buf *out)
{
    buf_add_shown(out, (struct str){names->text.at + name->at, name->len});
}

static void put_type(const struct prv_names *names, enum prv_kind kind, struct buf *out)
{
    buf_printf(out, "EVENT_TYPE\n0    %u    %s\nVALUES\n0      End\n", prv_types[kind],
               labels[kind]);
    for (size_t i = 0; i < names->count; i++) {
        if (!(names->list[i].kinds & 1u << kind))
            continue;
        buf_printf(out, "%zu      ", i + 1);
        put_label(names, &names->list[i], out);
        buf_putc(out, '\n');
    }
    buf_puts(out, "\n\n");
}

void prv_write_pcf(const struct prv_names *names, struct buf *out)
{
    buf_puts(out, "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
                  "LOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\n"
                  "NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n"
                  "DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\n"
                  "STATES\n0    Idle\n1    Running\n13    Group Communication\n"
                  "17    Memory transfer\n\n\n"
                  "STATES_COLOR\n0    {117,195,255}\n1    {0,0,255}\n13    {255,144,26}\n"
                  "17    {112,48,160}\n\n\n");
    for (enum prv_kind kind = 0; kind < PRV_KINDS; kind++)
        put_type(names, kind, out);
    buf_printf(out, "EVENT_TYPE\n0    %u    Bytes of the memory operation\n\n\n", PRV_BYTES_TYPE);
    buf_printf(out, "EVENT_TYPE\n0    %u    Correlation of call and kernel\n\n\n",
               PRV_CORRELATION_TYPE);
    buf_printf(out, "EVENT_TYPE\n0    %u    Kernels launched by this row so far\n\n\n",
               PRV_LAUNCHED_TYPE);
    buf_printf(out, "EVENT_TYPE\n0    %u    Launched kernels of this row ended so far\n",
               PRV_ENDED_TYPE);
}

// --- .cfg ---------------------------------------------------------------------------------------

const struct prv_view prv_views[] = {
    {"device_state.cfg", "GPU: compute, communication, copies, idle", 0, "State As Is", false},
    {"gpu_active.cfg", "GPU active", 0, "State As Is", true},
    {"gpu_useful.cfg", "GPU useful", 0, "Useful", true},
    {"gaps.cfg", "GPU gaps: nothing runs", 0, "In State", false},
    {"kernels_streams.cfg", "Kernels by name", 63000006, "Last Evt Val", false},
    {"kernels_running.cfg", "A kernel runs", 63000006, "Last Evt Val", true},
    {"nccl_streams.cfg", "Communication kernels by name", 63000007, "Last Evt Val", false},
    {"nccl_running.cfg", "Communication runs", 63000007, "Last Evt Val", true},
    {"memcpy_streams.cfg", "Copies and memsets by name", 63000001, "Last Evt Val", false},
    {"cuda_calls_host.cfg", "CUDA calls by name", 63000000, "Last Evt Val", false},
    {"nvtx.cfg", "Named ranges", 9600, "Last Evt Val", false},
};
const size_t prv_view_count = sizeof prv_views / sizeof *prv_views;

// The value of "In State": idle. Rows without states have none.
#define IN_STATE STR("In State")
#define GAPS     "window_semantic_module thread In State { 1, { 1 0.000000000000 } }\n"

static void put_head(int windows, struct buf *out)
{
    buf_printf(out, "#ParaverCFG\nConfigFile.Version: 3.4\nConfigFile.NumWindows: %d\n", windows);
}

struct shown {
    const char *title, *level;
    int id;
    bool is_open;
};

// The lines that all windows have; `made`: how a composed one is made.
static void put_place(const struct shown *shown, const char *made, struct buf *out)
{
    buf_printf(
        out,
        "\n\n################################################################################\n"
        "< NEW DISPLAYING WINDOW %s >\n"
        "################################################################################\n"
        "window_name %s\nwindow_type %s\nwindow_id %d\n%swindow_position_x 100\n"
        "window_position_y 100\nwindow_width 900\nwindow_height 240\n"
        "window_comm_lines_enabled false\nwindow_flags_enabled false\n"
        "window_noncolor_mode true\nwindow_logical_filtered true\n"
        "window_physical_filtered false\nwindow_units Nanoseconds\n"
        "window_maximum_y 1.000000000000\nwindow_minimum_y 0.000000000000\n"
        "window_compute_y_max true\nwindow_level %s\n"
        "window_scale_relative 1.000000000000\nwindow_end_time_relative 1.000000000000\n"
        "window_object appl { 1, { All } }\nwindow_begin_time_relative 0.000000000000\n"
        "window_open %s\nwindow_drawmode draw_maximum\n"
        "window_drawmode_rows draw_maximum\nwindow_pixel_size 1\n"
        "window_labels_to_draw 1\n",
        shown->title, shown->title, made[0] ? "composed" : "single", shown->id, made, shown->level,
        shown->is_open ? "true" : "false");
}

static void put_window(const struct prv_view *view, const struct shown *shown, struct buf *out)
{
    bool of_task = strcmp(shown->level, "task") == 0;
    put_place(shown, "", out);
    buf_printf(out,
               "window_selected_functions { 14, { {cpu, Active Thd}, {appl, Adding}, "
               "{task, Adding}, {thread, %s}, {node, Adding}, {system, Adding}, "
               "{workload, Adding}, {from_obj, All}, {to_obj, All}, {tag_msg, All}, "
               "{size_msg, All}, {bw_msg, All}, {evt_type, %s}, {evt_value, All} } }\n"
               "window_compose_functions { 9, { {compose_cpu, As Is}, {compose_appl, As Is}, "
               "{compose_task, %s}, {compose_thread, %s}, {compose_node, As Is}, "
               "{compose_system, As Is}, {compose_workload, As Is}, {topcompose1, As Is}, "
               "{topcompose2, As Is} } }\n",
               view->function, view->type ? "=" : "All", of_task && view->sign ? "Sign" : "As Is",
               view->sign ? "Sign" : "As Is");
    if (view->type)
        buf_printf(out, "window_filter_module evt_type 1 %u\n", view->type);
    if (str_equal(str_of(view->function), IN_STATE))
        buf_puts(out, GAPS);
}

void prv_write_view(const struct prv_view *view, struct buf *out)
{
    put_head(1, out);
    put_window(view, &(struct shown){view->title, "thread", 1, true}, out);
}

// For each rank: the two windows, the one composed of them, and the operation.
struct composed {
    struct prv_view first, second;
    const char *title, *operation;
};

static void put_composed(const struct composed *composed, struct buf *out)
{
    const struct prv_view *first = &composed->first, *second = &composed->second;
    char made[160];
    snprintf(made, sizeof made,
             "window_factors 1.000000000000 1.000000000000\nwindow_operation %s\n"
             "window_identifiers 1 2\n",
             composed->operation);
    put_head(3, out);
    put_window(first, &(struct shown){first->title, "task", 1, false}, out);
    put_window(second, &(struct shown){second->title, "task", 2, false}, out);
    put_place(&(struct shown){composed->title, "task", 3, true}, made, out);
    buf_puts(out, "window_compose_functions { 9, { {compose_cpu, As Is}, {compose_appl, As Is}, "
                  "{compose_task, As Is}, {compose_thread, As Is}, {compose_node, As Is}, "
                  "{compose_system, As Is}, {compose_workload, As Is}, {topcompose1, As Is}, "
                  "{topcompose2, As Is} } }\n");
}

void prv_write_overlap(struct buf *out)
{
    static const struct composed overlap = {
        .first = {NULL, "GPU useful of a rank", 0, "Useful", true},
        .second = {NULL, "Communication of a rank", 63000007, "Last Evt Val", true},
        .title = "Computation during communication",
        .operation = "product"};
    put_composed(&overlap, out);
}

void prv_write_in_flight(struct buf *out)
{
    static const struct composed in_flight = {
        .first = {NULL, "Kernels launched", PRV_LAUNCHED_TYPE, "Last Evt Val", false},
        .second = {NULL, "Launched kernels ended", PRV_ENDED_TYPE, "Last Evt Val", false},
        .title = "Kernels in flight",
        .operation = "substract"}; // Paraver's spelling
    put_composed(&in_flight, out);
}
