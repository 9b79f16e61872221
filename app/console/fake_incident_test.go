package console

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
)

func (f *fake) ListIncidents(context.Context, model.Actor, int64) (jobs.IncidentPage, error) {
	return jobs.IncidentPage{}, nil
}

func (f *fake) CountIncidents(context.Context, model.Actor) (int, error) { return 0, nil }

func (f *fake) Incident(_ context.Context, _ model.Actor, id int64) (jobs.IncidentDetail, error) {
	return jobs.IncidentDetail{}, model.Errf(model.CodeNotFound, "error.incident_not_found", "ID", id)
}

func (f *fake) AckIncident(context.Context, model.Actor, int64) error { return f.err }

func (f *fake) MuteIncident(context.Context, model.Actor, int64, time.Duration, bool) error {
	return f.err
}

func (f *fake) CommentIncident(context.Context, model.Actor, int64, string) error { return f.err }

func (f *fake) AlarmLink(context.Context, string) (jobs.AlarmLink, error) {
	return jobs.AlarmLink{}, model.Errf(model.CodeNotFound, "error.link_invalid")
}

func (f *fake) FollowAlarmLink(ctx context.Context, text string) (jobs.AlarmLink, error) {
	return f.AlarmLink(ctx, text)
}

func (f *fake) AlarmRule(_ context.Context, _ model.Actor, id int) (model.AlarmRule, error) {
	return model.AlarmRule{ID: id, Scope: model.ScopeTag}, nil
}

func (f *fake) AlarmSettings(context.Context, model.Actor) (jobs.AlarmSettings, error) {
	return jobs.AlarmSettings{}, nil
}

func (f *fake) SaveAlarmRule(context.Context, model.Actor, model.AlarmRule) error { return f.err }

func (f *fake) DeleteAlarmRule(context.Context, model.Actor, int) error { return f.err }

func (f *fake) SaveChannel(context.Context, model.Actor, model.Channel, bool) error { return f.err }

func (f *fake) DeleteChannel(context.Context, model.Actor, int) error { return f.err }

func (f *fake) TestAlarm(context.Context, model.Actor, string, int, string) (string, error) {
	return "", f.err
}
