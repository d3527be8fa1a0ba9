// SPDX-License-Identifier: Apache-2.0
// Synthetic traces of one extreme shape each and of any size, for measuring and for growth tests.
#pragma once

struct arguments;
struct shape;

// NULL when there is no shape of that name.
const struct shape *shape_find(const char *name);

// Writes rank0.json (.gz, .zst) and truth.json to the folder of the arguments, as many events as
// they want or as many as fill the wanted size. Memory does not grow with the events.
void shape_generate(const struct arguments *arguments);
