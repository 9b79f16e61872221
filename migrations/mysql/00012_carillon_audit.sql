-- Who did what, when and from where. Times are epoch milliseconds.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_audit (
  id          BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at          BIGINT       NOT NULL,
  user_id     INT          NOT NULL,
  user_name   VARCHAR(100) NOT NULL,
  came_from   VARCHAR(64)  NOT NULL,
  action      VARCHAR(40)  NOT NULL,
  kind        VARCHAR(20)  NOT NULL,
  object_id   BIGINT       NOT NULL,
  object_name VARCHAR(255) NOT NULL,
  outcome     VARCHAR(10)  NOT NULL,
  changes     MEDIUMTEXT   NULL,
  KEY carillon_audit_at (at),
  KEY carillon_audit_object (kind, object_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
