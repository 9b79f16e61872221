-- The tables of the widely deployed generation (S5 in the schema reference).
-- MySQL commits on every DDL statement, so each one is safe to run again.

-- +goose Up
CREATE TABLE IF NOT EXISTS xxl_job_group (
  id           INT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
  app_name     VARCHAR(64)  NOT NULL,
  title        VARCHAR(64)  NOT NULL,
  address_type TINYINT      NOT NULL DEFAULT 0,
  address_list TEXT         NULL,
  update_time  DATETIME     NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS xxl_job_registry (
  id             BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  registry_group VARCHAR(50)  NOT NULL,
  registry_key   VARCHAR(255) NOT NULL,
  registry_value VARCHAR(255) NOT NULL,
  update_time    DATETIME     NULL,
  UNIQUE KEY i_g_k_v (registry_group, registry_key, registry_value)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS xxl_job_info (
  id                        INT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
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
  glue_source               MEDIUMTEXT   NULL,
  glue_remark               VARCHAR(128) NULL,
  glue_updatetime           DATETIME     NULL,
  child_jobid               VARCHAR(255) NULL,
  trigger_status            TINYINT      NOT NULL DEFAULT 0,
  trigger_last_time         BIGINT       NOT NULL DEFAULT 0,
  trigger_next_time         BIGINT       NOT NULL DEFAULT 0
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS xxl_job_log (
  id                        BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
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
  alarm_status              TINYINT      NOT NULL DEFAULT 0,
  KEY I_trigger_time (trigger_time),
  KEY I_handle_code (handle_code),
  KEY I_jobgroup (job_group),
  KEY I_jobid (job_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS xxl_job_log_report (
  id            INT      NOT NULL AUTO_INCREMENT PRIMARY KEY,
  trigger_day   DATETIME NULL,
  running_count INT      NOT NULL DEFAULT 0,
  suc_count     INT      NOT NULL DEFAULT 0,
  fail_count    INT      NOT NULL DEFAULT 0,
  update_time   DATETIME NULL,
  UNIQUE KEY i_trigger_day (trigger_day)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS xxl_job_logglue (
  id          INT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
  job_id      INT          NOT NULL,
  glue_type   VARCHAR(50)  NULL,
  glue_source MEDIUMTEXT   NULL,
  glue_remark VARCHAR(128) NOT NULL,
  add_time    DATETIME     NULL,
  update_time DATETIME     NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS xxl_job_user (
  id         INT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
  username   VARCHAR(50)  NOT NULL,
  password   VARCHAR(100) NOT NULL,
  token      VARCHAR(100) NULL,
  role       TINYINT      NOT NULL,
  permission VARCHAR(255) NULL,
  UNIQUE KEY i_username (username)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS xxl_job_lock (
  lock_name VARCHAR(50) NOT NULL PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

INSERT IGNORE INTO xxl_job_lock (lock_name) VALUES ('schedule_lock');
