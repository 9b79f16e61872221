-- Alarms: what happened to jobs and is not looked at yet, incidents, what people were told
-- of them and are to be told, rules and channels.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_alarm_event (
  id      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at      BIGINT NOT NULL,
  job_id  INT NOT NULL,
  run_id  BIGINT NULL,
  reason  VARCHAR(30) NOT NULL,
  fires   INT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_incident (
  id           BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
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
  version      INT NOT NULL,
  UNIQUE KEY carillon_incident_open (open_subject),
  KEY carillon_incident_parent (parent_id),
  KEY carillon_incident_tell (tell_at),
  KEY carillon_incident_job (job_id, id),
  KEY carillon_incident_ended (ended_at, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_incident_note (
  id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  incident_id BIGINT NOT NULL,
  at          BIGINT NOT NULL,
  kind        VARCHAR(20) NOT NULL,
  user_name   VARCHAR(100) NULL,
  text        TEXT NULL,
  KEY carillon_incident_notes (incident_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_outbox (
  id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
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
  folded_in   BIGINT NULL,
  UNIQUE KEY carillon_outbox_dedup (dedup),
  KEY carillon_outbox_due (state, next_at),
  KEY carillon_outbox_incident (incident_id, id),
  KEY carillon_outbox_target (target, sent_at),
  KEY carillon_outbox_digest (target, state, step),
  KEY carillon_outbox_folded (folded_in)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_alarm_rule (
  id       INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name     VARCHAR(100) NOT NULL,
  scope    VARCHAR(10) NOT NULL,
  group_id INT NULL,
  job_id   INT NULL,
  tag      VARCHAR(40) NULL,
  settings TEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_channel (
  id      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name    VARCHAR(100) NOT NULL,
  kind    VARCHAR(20) NOT NULL,
  url     TEXT NOT NULL,
  secret  VARCHAR(500) NULL,
  disabled TINYINT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
