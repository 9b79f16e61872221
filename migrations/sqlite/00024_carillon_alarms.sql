-- Alarms: what happened to jobs and is not looked at yet, incidents, what people were told
-- of them and are to be told, rules and channels.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_alarm_event (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at      BIGINT NOT NULL,
  job_id  INT NOT NULL,
  run_id  BIGINT NULL,
  reason  VARCHAR(30) NOT NULL,
  fires   INT NULL
);
CREATE TABLE IF NOT EXISTS carillon_incident (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  subject      VARCHAR(120) NOT NULL,
  open_subject VARCHAR(120) NULL,
  parent_id    BIGINT NULL,
  job_id       INT NULL,
  group_id     INT NULL,
  severity     VARCHAR(10) NOT NULL,
  reason       VARCHAR(30) NOT NULL,
  detail       TEXT NULL,
  first_run    BIGINT NULL,
  last_run     BIGINT NULL,
  failed       INT NOT NULL,
  missed       INT NOT NULL,
  opened_at    BIGINT NOT NULL,
  last_at      BIGINT NOT NULL,
  ended_at     BIGINT NULL,
  tell_at      BIGINT NULL,
  told_at      BIGINT NULL,
  reminders    INT NOT NULL,
  escalated_at BIGINT NULL,
  acked_at     BIGINT NULL,
  acked_by     VARCHAR(100) NULL,
  muted_until  BIGINT NULL,
  version      INT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS carillon_incident_open ON carillon_incident (open_subject);
CREATE INDEX IF NOT EXISTS carillon_incident_parent ON carillon_incident (parent_id);
CREATE INDEX IF NOT EXISTS carillon_incident_tell ON carillon_incident (tell_at);
CREATE INDEX IF NOT EXISTS carillon_incident_job ON carillon_incident (job_id, id);
CREATE INDEX IF NOT EXISTS carillon_incident_ended ON carillon_incident (ended_at, id);
CREATE TABLE IF NOT EXISTS carillon_incident_note (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  incident_id BIGINT NOT NULL,
  at          BIGINT NOT NULL,
  kind        VARCHAR(20) NOT NULL,
  user_name   VARCHAR(100) NULL,
  text        TEXT NULL
);
CREATE INDEX IF NOT EXISTS carillon_incident_notes ON carillon_incident_note (incident_id, id);
CREATE TABLE IF NOT EXISTS carillon_outbox (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  incident_id BIGINT NULL,
  dedup       VARCHAR(200) NOT NULL,
  step        VARCHAR(20) NOT NULL,
  channel     VARCHAR(20) NOT NULL,
  target      VARCHAR(320) NOT NULL,
  job_ids     TEXT NULL,
  state       VARCHAR(10) NOT NULL,
  owner       VARCHAR(200) NULL,
  attempts    INT NOT NULL,
  made_at     BIGINT NOT NULL,
  next_at     BIGINT NOT NULL,
  sent_at     BIGINT NULL,
  code        INT NULL,
  answer      VARCHAR(1000) NULL,
  folded_in   BIGINT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS carillon_outbox_dedup ON carillon_outbox (dedup);
CREATE INDEX IF NOT EXISTS carillon_outbox_due ON carillon_outbox (state, next_at);
CREATE INDEX IF NOT EXISTS carillon_outbox_incident ON carillon_outbox (incident_id, id);
CREATE INDEX IF NOT EXISTS carillon_outbox_target ON carillon_outbox (target, sent_at);
CREATE INDEX IF NOT EXISTS carillon_outbox_digest ON carillon_outbox (target, state, step);
CREATE INDEX IF NOT EXISTS carillon_outbox_folded ON carillon_outbox (folded_in);
CREATE TABLE IF NOT EXISTS carillon_alarm_rule (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  name     VARCHAR(100) NOT NULL,
  scope    VARCHAR(10) NOT NULL,
  group_id INT NULL,
  job_id   INT NULL,
  tag      VARCHAR(40) NULL,
  settings TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS carillon_channel (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    VARCHAR(100) NOT NULL,
  kind    VARCHAR(20) NOT NULL,
  url     TEXT NOT NULL,
  secret  VARCHAR(500) NULL,
  disabled TINYINT NULL
);
