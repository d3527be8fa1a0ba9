// SPDX-License-Identifier: Apache-2.0
// Ends a workbook on a thread that has room for the library's packer.
#ifndef SERVER_XLSX_CLOSE_H
#define SERVER_XLSX_CLOSE_H

#include <xlsxwriter.h>

// Writes and frees the workbook. The packer needs more stack than the threads that answer requests
// have: in them workbook_close ends the service. Without a thread it is neither written nor freed.
lxw_error xlsx_close(lxw_workbook *book);

#endif
