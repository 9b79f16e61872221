-- What makes long lists usable: tags of jobs, what each person marked and kept, and how
-- the recent runs of each job went.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_job_tag (
  job_id INT         NOT NULL,
  tag    VARCHAR(40) NOT NULL,
  PRIMARY KEY (job_id, tag),
  KEY carillon_tag_jobs (tag, job_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_favourite (
  user_id INT NOT NULL,
  job_id  INT NOT NULL,
  PRIMARY KEY (user_id, job_id),
  KEY carillon_favourite_job (job_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_filter (
  user_id INT           NOT NULL,
  list    VARCHAR(10)   NOT NULL,
  name    VARCHAR(60)   NOT NULL,
  query   VARCHAR(2000) NOT NULL,
  PRIMARY KEY (user_id, list, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_job_stat (
  job_id     INT    NOT NULL PRIMARY KEY,
  average_ms BIGINT NULL,
  failed     INT    NULL,
  counted_at BIGINT NOT NULL,
  KEY carillon_stat_average (average_ms, job_id),
  KEY carillon_stat_failed (failed, job_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
