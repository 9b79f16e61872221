package views

import "github.com/carillon-scheduler/carillon/model"

// keepText says for how long runs are kept.
func (p Page) keepText(k model.KeepDays) string {
	switch {
	case k == model.KeepDefault:
		return p.T("retention.as_all")
	case k == model.KeepForever:
		return p.T("system.retention_none")
	}
	return p.L.N("system.retention", int(k))
}
