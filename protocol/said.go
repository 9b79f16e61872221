package protocol

import (
	"encoding/json"
	"fmt"
)

// Said is what our Go SDK says of a run beside its English text: a code with arguments,
// so that the center can word it in the reader's language. It travels under the key
// "carillon", which every other center and executor ignores.
type Said struct {
	Code string         `json:"code"`
	Args map[string]any `json:"args,omitempty"`
}

// Own is what travels under the key "carillon".
type Own struct {
	Said *Said `json:"said,omitempty"`
	// Echo says that the time of a callback is that of its trigger, to the millisecond:
	// other clients send the time of their own clock.
	Echo bool `json:"echo,omitempty"`
	// About is what an executor says of itself: with each beat all of it, in its answer to
	// /beat how much it has to do.
	About *About `json:"about,omitempty"`
	// LogDays is in the answer of a center to a registration of our SDK: for how many days
	// logs of runs are wanted at most, 0 = for ever.
	LogDays *int `json:"logDays,omitempty"`
}

// About is what our SDK says of its process. Other executors say nothing of the kind.
type About struct {
	Version  string   `json:"version,omitempty"` // of the application
	SDK      string   `json:"sdk,omitempty"`     // version of our SDK in it
	Language string   `json:"language,omitempty"`
	Handlers []string `json:"handlers,omitempty"`
	Types    []string `json:"types,omitempty"` // values of glueType that it can run
	Running  int      `json:"running"`
	Waiting  int      `json:"waiting"`
}

// maxAbout bounds what is read of it, in bytes.
const maxAbout = 128 << 10

// ReadAbout reads what stands under "carillon" in a registration; what is none of ours
// is nil and no error.
func ReadAbout(raw json.RawMessage) *About {
	var o struct {
		About *About `json:"about"`
	}
	if len(raw) == 0 || len(raw) > maxAbout || json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o.About
}

// Refuse answers a failure with a code for readers in other languages.
func Refuse(said *Said, format string, args ...any) Answer {
	return Answer{Code: CodeFail, Msg: fmt.Sprintf(format, args...), Said: said}
}

// Say builds a Said from names and values in turn.
func Say(code string, kv ...any) *Said {
	s := &Said{Code: code}
	for i := 0; i+1 < len(kv); i += 2 {
		if s.Args == nil {
			s.Args = map[string]any{}
		}
		s.Args[fmt.Sprint(kv[i])] = kv[i+1]
	}
	return s
}
