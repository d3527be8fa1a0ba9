-- SPDX-License-Identifier: Apache-2.0
-- Roles with least rights, for a database that other programs may share. Run once, as a
-- superuser, in the database of the service; then give the roles passwords (\password):
--     psql -v ON_ERROR_STOP=1 -d stepscope -f roles.sql
-- stepscope_owner has the tables and changes them with a new version:
--     mkdir /tmp/migration
--     stepscope token list --store postgres://stepscope_owner@... --data /tmp/migration
-- stepscope serves: it reads and writes rows, and cannot change a table.
-- stepscope_watch sees the queue, for monitors and autoscaling, and no row of a trace.
BEGIN;
CREATE ROLE stepscope_owner LOGIN;
CREATE ROLE stepscope LOGIN;
CREATE ROLE stepscope_watch LOGIN CONNECTION LIMIT 5;
ALTER ROLE stepscope_owner SET search_path = stepscope;
ALTER ROLE stepscope SET search_path = stepscope;
ALTER ROLE stepscope_watch SET search_path = stepscope;
CREATE SCHEMA stepscope AUTHORIZATION stepscope_owner;
GRANT USAGE ON SCHEMA stepscope TO stepscope, stepscope_watch;

-- For tables that the owner is going to make.
ALTER DEFAULT PRIVILEGES FOR ROLE stepscope_owner IN SCHEMA stepscope
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO stepscope;
ALTER DEFAULT PRIVILEGES FOR ROLE stepscope_owner IN SCHEMA stepscope
    GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO stepscope; -- a copy sets them

-- A view of the monitor's own: it needs no right on the tables below it once it is made. The first
-- migration has made them by then: run this line as stepscope_owner afterwards. It counts jobs
-- under way, too, so that workers stay for them.
--     CREATE VIEW queue_depth AS SELECT kind, count(*) AS jobs,
--         min(created_ns) FILTER (WHERE state = 'queued') AS oldest_ns
--         FROM job WHERE state IN ('queued', 'running') GROUP BY kind;
--     GRANT SELECT ON queue_depth TO stepscope_watch;
-- A new version cannot change the columns of job below it: before its migration, as
-- stepscope_owner, DROP VIEW queue_depth; and make it again afterwards.
COMMIT;
