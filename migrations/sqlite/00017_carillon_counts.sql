-- Reports by mail. Counters of reports: fires of jobs per day, week and month; what is to be added to them
-- (written with the runs); how far this has come. Times are epoch milliseconds.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_count (
  unit      TINYINT NOT NULL,
  first_day DATE    NOT NULL,
  job_id    INT     NOT NULL,
  group_id  INT     NOT NULL,
  expected  BIGINT  NOT NULL,
  succeeded BIGINT  NOT NULL,
  rescued   BIGINT  NOT NULL,
  failed    BIGINT  NOT NULL,
  missed    BIGINT  NOT NULL,
  excused   BIGINT  NOT NULL,
  late      BIGINT  NOT NULL,
  took_runs BIGINT  NOT NULL,
  took_ms   BIGINT  NOT NULL,
  reasons   TEXT    NULL,
  hours     BLOB    NULL,
  took      BLOB    NULL,
  PRIMARY KEY (unit, first_day, job_id, group_id)
);
CREATE INDEX IF NOT EXISTS carillon_count_job ON carillon_count (job_id, unit, first_day);
CREATE TABLE IF NOT EXISTS carillon_count_journal (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  stage TINYINT NOT NULL,
  body  BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS carillon_count_state (
  id         INT    NOT NULL,
  folds      BIGINT NOT NULL,
  folded_at  BIGINT NOT NULL,
  held_until BIGINT NOT NULL,
  counted_from DATE NULL,
  checked_day  DATE NULL,
  PRIMARY KEY (id)
);
INSERT OR IGNORE INTO carillon_count_state (id, folds, folded_at, held_until) VALUES (1, 0, 0, 0);
CREATE TABLE IF NOT EXISTS carillon_report_mail (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  name     VARCHAR(100) NOT NULL,
  settings TEXT         NOT NULL,
  next_at  BIGINT       NOT NULL,
  last_at  BIGINT       NULL
);
