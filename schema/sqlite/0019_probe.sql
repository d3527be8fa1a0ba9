-- SPDX-License-Identifier: Apache-2.0
-- Empty: rows come and go in one transaction, to see whether anything can be written.
CREATE TABLE probe (at_ns INTEGER NOT NULL) STRICT;
