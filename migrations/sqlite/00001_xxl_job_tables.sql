-- The tables of the widely deployed generation (S5 in the schema reference).
-- Texts that MySQL compares without case (names, addresses) do so here too.

-- +goose Up
CREATE TABLE IF NOT EXISTS xxl_job_group (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  app_name     VARCHAR(64)  NOT NULL COLLATE NOCASE,
  title        VARCHAR(64)  NOT NULL,
  address_type TINYINT      NOT NULL DEFAULT 0,
  address_list TEXT         NULL,
  update_time  DATETIME     NULL
);

CREATE TABLE IF NOT EXISTS xxl_job_registry (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  registry_group VARCHAR(50)  NOT NULL,
  registry_key   VARCHAR(255) NOT NULL COLLATE NOCASE,
  registry_value VARCHAR(255) NOT NULL COLLATE NOCASE,
  update_time    DATETIME     NULL,
  CONSTRAINT i_g_k_v UNIQUE (registry_group, registry_key, registry_value)
);

CREATE TABLE IF NOT EXISTS xxl_job_info (
  id                        INTEGER PRIMARY KEY AUTOINCREMENT,
  job_group                 INT          NOT NULL,
  job_desc                  VARCHAR(255) NOT NULL,
  add_time                  DATETIME     NULL,
  update_time               DATETIME     NULL,
  author                    VARCHAR(64)  NULL,
  alarm_email               VARCHAR(255) NULL,
  schedule_type             VARCHAR(50)  NOT NULL DEFAULT 'NONE',
  schedule_conf             VARCHAR(128) NULL,
  misfire_strategy          VARCHAR(50)  NOT NULL DEFAULT 'DO_NOTHING',
  executor_route_strategy   VARCHAR(50)  NULL,
  executor_handler          VARCHAR(255) NULL,
  executor_param            TEXT         NULL,
  executor_block_strategy   VARCHAR(50)  NULL,
  executor_timeout          INT          NOT NULL DEFAULT 0,
  executor_fail_retry_count INT          NOT NULL DEFAULT 0,
  glue_type                 VARCHAR(50)  NOT NULL,
  glue_source               TEXT         NULL,
  glue_remark               VARCHAR(128) NULL,
  glue_updatetime           DATETIME     NULL,
  child_jobid               VARCHAR(255) NULL,
  trigger_status            TINYINT      NOT NULL DEFAULT 0,
  trigger_last_time         BIGINT       NOT NULL DEFAULT 0,
  trigger_next_time         BIGINT       NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS xxl_job_log (
  id                        INTEGER PRIMARY KEY AUTOINCREMENT,
  job_group                 INT          NOT NULL,
  job_id                    INT          NOT NULL,
  executor_address          VARCHAR(255) NULL,
  executor_handler          VARCHAR(255) NULL,
  executor_param            TEXT         NULL,
  executor_sharding_param   VARCHAR(20)  NULL,
  executor_fail_retry_count INT          NOT NULL DEFAULT 0,
  trigger_time              DATETIME     NULL,
  trigger_code              INT          NOT NULL,
  trigger_msg               TEXT         NULL,
  handle_time               DATETIME     NULL,
  handle_code               INT          NOT NULL,
  handle_msg                TEXT         NULL,
  alarm_status              TINYINT      NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS I_trigger_time ON xxl_job_log (trigger_time);
CREATE INDEX IF NOT EXISTS I_handle_code ON xxl_job_log (handle_code);
CREATE INDEX IF NOT EXISTS I_jobgroup ON xxl_job_log (job_group);
CREATE INDEX IF NOT EXISTS I_jobid ON xxl_job_log (job_id);

CREATE TABLE IF NOT EXISTS xxl_job_log_report (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  trigger_day   DATETIME NULL,
  running_count INT      NOT NULL DEFAULT 0,
  suc_count     INT      NOT NULL DEFAULT 0,
  fail_count    INT      NOT NULL DEFAULT 0,
  update_time   DATETIME NULL,
  CONSTRAINT i_trigger_day UNIQUE (trigger_day)
);

CREATE TABLE IF NOT EXISTS xxl_job_logglue (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id      INT          NOT NULL,
  glue_type   VARCHAR(50)  NULL,
  glue_source TEXT         NULL,
  glue_remark VARCHAR(128) NOT NULL,
  add_time    DATETIME     NULL,
  update_time DATETIME     NULL
);

CREATE TABLE IF NOT EXISTS xxl_job_user (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  username   VARCHAR(50)  NOT NULL COLLATE NOCASE,
  password   VARCHAR(100) NOT NULL,
  token      VARCHAR(100) NULL,
  role       TINYINT      NOT NULL,
  permission VARCHAR(255) NULL,
  CONSTRAINT i_username UNIQUE (username)
);

CREATE TABLE IF NOT EXISTS xxl_job_lock (
  lock_name VARCHAR(50) NOT NULL PRIMARY KEY
);

INSERT OR IGNORE INTO xxl_job_lock (lock_name) VALUES ('schedule_lock');
