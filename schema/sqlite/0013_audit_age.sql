-- SPDX-License-Identifier: Apache-2.0
-- Entries of the audit log may go for their age (--audit-days), but none of the last 30 days.
CREATE INDEX audit_by_age ON audit (at_ns);
DROP TRIGGER audit_keeps_rows;
CREATE TRIGGER audit_keeps_rows BEFORE DELETE ON audit
    WHEN old.at_ns > (unixepoch() - 30 * 86400) * 1000000000 BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
