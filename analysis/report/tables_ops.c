// SPDX-License-Identifier: Apache-2.0
// The tables of operators, modules and categories.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_operators[] = {
    TEXT("name", "Name of the operator; empty for the device events without one."),
    TEXT("category", "Category with most of its own device time; empty when it launched nothing."),
    TEXT("direction", "forward, backward (of the autograd engine) or both, by what it launched "
                      "itself or below; empty when it launched nothing."),
    I64("calls", "count", "Calls on the host."),
    I64("launching_calls", "count", "Calls that launched at least one device event themselves."),
    I64("kernels", "count", "Device events that it launched itself."),
    I64("self_ns", "ns",
        "Union of the device events that each call launched itself, summed over the calls."),
    I64("total_ns", "ns",
        "Union of the device events below each call, nested operators included, summed over the "
        "calls that do not stand below another call of the same name. Below 64 other names only "
        "what a call launched itself counts."),
    I64("owned_ns", "ns",
        "Owned time of the device events that it launched itself; all rows sum to the busy time "
        "exactly."),
    F64("window_share", "share", "Owned time divided by the time of the whole trace."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
    I64("host_ns", "ns", "Sum of the durations of its calls on the host."),
    I64("median_ns", "ns", "Median over the launching calls of the time a call launched itself."),
    I64("p95_ns", "ns",
        "95th percentile, by nearest rank over the launching calls, of the time a call launched "
        "itself."),
    I64("recompute_ns", "ns", "Owned time in recomputed forward passes (checkpointing)."),
};
const struct table_desc table_operators =
    TABLE("operators", operators, "Operators by what they launched, alone and with those below.");

static const struct column columns_op_shapes[] = {
    TEXT("name", "Name of the operator; (other shapes) sums what is past 5,000 rows."),
    TEXT("dims", "Shapes of its inputs, a list per argument; empty when not recorded."),
    TEXT("types", "Element types of its inputs."),
    TEXT("category", "Category with most of its own device time."),
    TEXT("module", "Path of the module with most of its time; empty when not recorded."),
    I64("launching_calls", "count", "Calls that launched at least one device event themselves."),
    I64("kernels", "count", "Device events that it launched itself."),
    I64("self_ns", "ns",
        "Union of the device events that each call launched itself, summed over the calls."),
    I64("owned_ns", "ns", "Owned time of the device events that it launched itself."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
    I64("min_ns", "ns", "Least time that a call launched itself."),
    I64("median_ns", "ns", "Median over the calls of the time a call launched itself."),
    I64("p95_ns", "ns",
        "95th percentile, by nearest rank over the calls, of the time a call launched itself."),
    I64("max_ns", "ns", "Most time that a call launched itself."),
    TEXT("kernel", "Device event with most of its time."),
};
const struct table_desc table_op_shapes =
    TABLE("op_shapes", op_shapes, "Operators by the shapes and types they were called with.");

static const struct column columns_op_tree[] = {
    I64("id", "", "Number of the node, 0 for the root."),
    I64("parent", "", "Number of the node above; empty for the root."),
    I64("depth", "", "0 for the root."),
    I64("children", "count", "Nodes directly below."),
    TEXT("name", "Operator or kernel. Calls with the same path are one node; operators deeper than "
                 "64 and past 200,000 nodes count as the one above."),
    TEXT("kind", "root, op, kernel (a leaf), unlinked: device events without an operator, or more: "
                 "kernels past 200,000 nodes."),
    I64("calls", "count",
        "Calls of the operator that launched something, itself or below; device events of a "
        "kernel."),
    I64("self_owned_ns", "ns",
        "Owned time of what the node launched itself: of its kernels, which are children too."),
    I64("total_owned_ns", "ns",
        "Owned time of all below; the totals of the children sum to it exactly, and so do its own "
        "time and the totals of the operators among them. The root's is the busy time."),
    F64("parent_share", "share", "Total divided by the total of the node above."),
};
const struct table_desc table_op_tree = TABLE(
    "op_tree", op_tree, "Operators as they call each other; ask for the children by parent=ID.");

static const struct column columns_modules[] = {
    I64("id", "", "Number of the node, 0 for the root."),
    I64("parent", "", "Number of the node above; empty for the root."),
    I64("depth", "", "0 for the root."),
    I64("children", "count", "Nodes directly below."),
    TEXT("name", "Module as recorded: its class and number. The same one below two others is two "
                 "nodes."),
    TEXT("path", "Names from the root on, joined by slashes; past 1,024 bytes it begins with ..."),
    I64("calls", "count", "Forward calls, those that checkpointing repeats not counted."),
    I64("forward_self_ns", "ns",
        "Owned time launched in its forward, outside modules below. The root's is all that is "
        "neither backward nor in a module: optimizer, copies, what has no launch."),
    I64("forward_ns", "ns", "Owned time launched in its forward, modules below included."),
    I64("backward_self_ns", "ns",
        "Owned time of the backward operators whose forward operator ran in it, outside modules "
        "below. The root's includes those whose forward operator is not known, such as the "
        "reduction of gradients."),
    I64("backward_ns", "ns",
        "Owned time of the backward operators whose forward operator ran in it, modules below "
        "included."),
    I64("recompute_ns", "ns",
        "Owned time of forward passes that activation checkpointing repeats, modules below "
        "included; neither forward nor backward."),
    I64("self_owned_ns", "ns", "Owned time of the module itself: forward, backward, recomputed."),
    I64("total_owned_ns", "ns",
        "Owned time of the module and all below; its own time and the totals of its children sum "
        "to it exactly. The root's is the busy time."),
    F64("parent_share", "share", "Total divided by the total of the node above."),
};
const struct table_desc table_modules =
    TABLE("modules", modules, "The tree of nn.Modules; ask for the children by parent=ID.");

static const struct column columns_categories[] = {
    TEXT("bar", "One of the eight parts of the step."),
    TEXT("category", "Category of the work."),
    I64("calls", "count", "Device events."),
    I64("total_ns", "ns",
        "Sum of the durations of the device events; overlapping ones count each."),
    I64("owned_ns", "ns", "Owned time; all rows sum to the busy time exactly."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
    I64("steady_owned_ns", "ns", "Owned time in the steady steps."),
    I64("kernels", "count", "Distinct kernels."),
    I64("ops", "count", "Distinct operators that launched the device events."),
};
const struct table_desc table_categories =
    TABLE("categories", categories, "Device time by kind of work.");

static const struct column columns_uncategorized[] = {
    TEXT("kernel", "Name of the kernel that no rule knows."),
    TEXT("op", "Innermost operator that launched the kernel; empty when there is none."),
    I64("calls", "count", "Device events."),
    I64("owned_ns", "ns", "Owned time."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
};
const struct table_desc table_uncategorized =
    TABLE("uncategorized", uncategorized, "What counts as other compute, by name.");
