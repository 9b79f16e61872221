package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/carillon-scheduler/carillon/model"
)

// maxNoteBytes is how long the note of a job may be.
const maxNoteBytes = 20_000

// JobNote is what people noted for who is on call for a job.
type JobNote struct {
	Text string // Markdown
	Seen string // names this text; whoever saves says which one was seen
}

// nameNote names a text of a note.
func nameNote(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// JobNote reads the note of a job that the actor may see.
func (s *Service) JobNote(ctx context.Context, actor model.Actor, id int) (JobNote, error) {
	if _, err := s.Job(ctx, actor, id); err != nil {
		return JobNote{}, err
	}
	text, err := s.store.JobNote(ctx, id)
	return JobNote{Text: text, Seen: nameNote(text)}, err
}

// SetJobNote replaces the note of a job; an empty one removes it. It is a conflict when
// the note is not the one any more that was seen.
func (s *Service) SetJobNote(ctx context.Context, actor model.Actor, id int, text, seen string) error {
	j, err := s.jobFor(ctx, actor, id, model.LevelOperate, "job.note")
	if err != nil {
		return err
	}
	old, err := s.JobNote(ctx, actor, id)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	bad := model.Errf(model.CodeInvalid, "error.invalid")
	lines(bad, "note", text, maxNoteBytes)
	if len(bad.Fields) > 0 {
		return bad
	}
	if old.Seen != seen {
		return model.Errf(model.CodeConflict, "error.conflict")
	}
	if err := s.store.SetJobNote(ctx, id, old.Text, text); err != nil {
		return err
	}
	s.log.Info("note of a job changed", "job_id", id, "user", actor.Name)
	s.note(ctx, actor, "job.note", jobThing(&j), nil, model.Change{Field: "note", Old: old.Text, New: text})
	return nil
}
