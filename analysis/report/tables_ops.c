// SPDX-License-Identifier: Apache-2.0
// The tables of operators, modules and categories.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_operators[] = {
    TEXT("name", "Name of the operator; empty for device events without one."),
    TEXT("category", "Category with the most of its self time; empty when it launched nothing."),
    TEXT("direction", "forward, backward (in the autograd engine) or both, by what it launched "
                      "directly or through nested operators; empty when it launched nothing."),
    I64("calls", "count", "Calls on the host."),
    I64("launching_calls", "count", "Calls that launched at least one device event directly."),
    I64("kernels", "count", "Device events launched directly."),
    I64("self_ns", "ns",
        "Union of the device events launched directly by each call, summed over the calls."),
    I64("total_ns", "ns",
        "Union of the device events of each call, nested operators included, summed over the calls "
        "not nested in another call of the same name. Below 64 levels of other names, only direct "
        "launches count."),
    I64("owned_ns", "ns",
        "Owned time of the device events launched directly; all rows sum to the busy time "
        "exactly."),
    F64("window_share", "share", "Owned time divided by the time of the whole trace."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
    I64("host_ns", "ns", "Sum of the durations of its calls on the host."),
    I64("median_ns", "ns", "Median self time of the launching calls."),
    I64("p95_ns", "ns",
        "95th percentile of the self time of the launching calls, by nearest rank."),
    I64("recompute_ns", "ns", "Owned time in recomputed forward passes (checkpointing)."),
};
const struct table_desc table_operators =
    TABLE("operators", operators, "Operators by device time, with and without nested operators.");

static const struct column columns_op_shapes[] = {
    TEXT("name", "Name of the operator; (other shapes) sums the rows beyond 5,000."),
    TEXT("dims", "Shapes of its inputs, one list per argument; empty when not recorded."),
    TEXT("types", "Element types of its inputs."),
    TEXT("category", "Category with the most of its self time."),
    TEXT("module", "Path of the module with the most of its time; empty when not recorded."),
    I64("launching_calls", "count", "Calls that launched at least one device event directly."),
    I64("kernels", "count", "Device events launched directly."),
    I64("self_ns", "ns",
        "Union of the device events launched directly by each call, summed over the calls."),
    I64("owned_ns", "ns", "Owned time of the device events launched directly."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
    I64("min_ns", "ns", "Smallest self time of a call."),
    I64("median_ns", "ns", "Median self time of the calls."),
    I64("p95_ns", "ns", "95th percentile of the self time of the calls, by nearest rank."),
    I64("max_ns", "ns", "Largest self time of a call."),
    TEXT("kernel", "Device event with the most of its time."),
};
const struct table_desc table_op_shapes =
    TABLE("op_shapes", op_shapes, "Operators by the shapes and types they were called with.");

static const struct column columns_op_tree[] = {
    I64("id", "", "Number of the node, 0 for the root."),
    I64("parent", "", "Number of the node above; empty for the root."),
    I64("depth", "", "0 for the root."),
    I64("children", "count", "Nodes directly below."),
    TEXT("name", "Operator or kernel. Calls with the same path form one node; operators below "
                 "depth 64 or beyond 200,000 nodes count in the node above."),
    TEXT("kind", "root, op, kernel (a leaf), unlinked: device events without an operator, or more: "
                 "kernels beyond 200,000 nodes."),
    I64("calls", "count",
        "Calls of the operator that launched device events, directly or through nested operators; "
        "device events of a kernel."),
    I64("self_owned_ns", "ns",
        "Owned time of the node's direct launches: of its kernels, which are children too."),
    I64("total_owned_ns", "ns",
        "Owned time of the whole subtree: exactly the sum of the children's totals, or of its self "
        "time and the totals of its child operators; the busy time for the root."),
    F64("parent_share", "share", "Total divided by the total of the node above."),
};
const struct table_desc table_op_tree =
    TABLE("op_tree", op_tree, "The operator call tree; parent=ID returns the children of a node.");

static const struct column columns_modules[] = {
    I64("id", "", "Number of the node, 0 for the root."),
    I64("parent", "", "Number of the node above; empty for the root."),
    I64("depth", "", "0 for the root."),
    I64("children", "count", "Nodes directly below."),
    TEXT("name", "Class and number of the module, as recorded. A module used under two parents is "
                 "two nodes."),
    TEXT("path",
         "Names from the root, joined by slashes; cut at the front with ... beyond 1,024 bytes."),
    I64("calls", "count", "Forward calls, without those that checkpointing repeats."),
    I64("forward_self_ns", "ns",
        "Owned time launched in its forward, outside submodules. For the root, everything neither "
        "backward nor in a module: optimizer, copies, events without a launch."),
    I64("forward_ns", "ns", "Owned time launched in its forward, submodules included."),
    I64("backward_self_ns", "ns",
        "Owned time of backward operators whose forward operator ran in it, outside submodules. "
        "For the root, also those whose forward operator is unknown, such as gradient reduction."),
    I64("backward_ns", "ns",
        "Owned time of backward operators whose forward operator ran in it, submodules included."),
    I64("recompute_ns", "ns",
        "Owned time of forward passes repeated by activation checkpointing, submodules included; "
        "neither forward nor backward."),
    I64("self_owned_ns", "ns", "Owned time of the module itself: forward, backward, recomputed."),
    I64("total_owned_ns", "ns",
        "Owned time of the module and its submodules: exactly the sum of its self time and its "
        "children's totals; the busy time for the root."),
    F64("parent_share", "share", "Total divided by the total of the node above."),
};
const struct table_desc table_modules =
    TABLE("modules", modules, "The tree of nn.Modules; parent=ID returns the children of a node.");

static const struct column columns_categories[] = {
    TEXT("bar", "One of the eight parts of the step."),
    TEXT("category", "Category of the work."),
    I64("calls", "count", "Device events."),
    I64("total_ns", "ns",
        "Sum of the durations of the device events; overlapping events count in full."),
    I64("owned_ns", "ns", "Owned time; all rows sum to the busy time exactly."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
    I64("steady_owned_ns", "ns", "Owned time in the steady steps."),
    I64("kernels", "count", "Distinct kernels."),
    I64("ops", "count", "Distinct operators that launched the device events."),
};
const struct table_desc table_categories =
    TABLE("categories", categories, "Device time by kind of work.");

static const struct column columns_uncategorized[] = {
    TEXT("kernel", "Name of the kernel, which no category rule matches."),
    TEXT("op", "Innermost operator that launched the kernel; empty without one."),
    I64("calls", "count", "Device events."),
    I64("owned_ns", "ns", "Owned time."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
};
const struct table_desc table_uncategorized =
    TABLE("uncategorized", uncategorized, "Kernels counted as other compute, by name.");
