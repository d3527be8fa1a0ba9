// SPDX-License-Identifier: Apache-2.0
// Synthetic traces of one extreme shape each and of any size, for measurements and growth tests.
#pragma once

struct arguments;
struct shape;

// NULL if there is no shape with that name.
const struct shape *shape_find(const char *name);

// Writes rank0.json (.gz, .zst) and truth.json to the folder in the arguments, with the wanted
// number of events or as many as fill the wanted size. Memory does not grow with the events.
void shape_generate(const struct arguments *arguments);
