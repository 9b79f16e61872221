package jobfile

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/carillon-scheduler/carillon/model"
)

// version is that of the format.
const version = "1"

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// readYAML walks the nodes of the file itself: so each complaint has its line,
// nothing unknown is passed over, and nothing is expanded.
func readYAML(text string) ([]model.JobDoc, error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var docs []model.JobDoc
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			at := 0
			if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
				at, _ = strconv.Atoi(m[1]) // none is 0
			}
			return nil, errorAt(at, "import.syntax", "Reason", yamlLine.ReplaceAllString(err.Error(), ""))
		}
		if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
			continue
		}
		more, err := readDocument(doc.Content[0])
		if err != nil {
			return nil, err
		}
		docs = append(docs, more...)
	}
}

func readDocument(root *yaml.Node) ([]model.JobDoc, error) {
	var docs []model.JobDoc
	err := mapping(root, func(key string, at, v *yaml.Node) error {
		switch key {
		case "carillon":
			if v.Value != version {
				return errorAt(v.Line, "import.version", "Value", v.Value)
			}
			return nil
		case "jobs":
			return sequence(v, func(n *yaml.Node) error {
				d, err := readJob(n)
				docs = append(docs, d)
				return err
			})
		}
		return errorAt(at.Line, "import.unknown_key", "Name", key)
	})
	return docs, err
}

func readJob(n *yaml.Node) (model.JobDoc, error) {
	d := model.JobDoc{Line: n.Line, Has: map[string]bool{}}
	err := mapping(n, func(key string, at, v *yaml.Node) error {
		d.Has[key] = true
		if dst := text(&d, key); dst != nil {
			return scalar(v, key, dst)
		}
		if dst := number(&d, key); dst != nil {
			var s string
			if err := scalar(v, key, &s); err != nil {
				return err
			}
			i, err := strconv.ParseInt(s, 10, 32)
			if err != nil {
				return errorAt(v.Line, "import.number", "Name", key, "Value", s)
			}
			*dst = int(i)
			return nil
		}
		if dst := keep(&d, key); dst != nil {
			var s string
			if err := scalar(v, key, &s); err != nil {
				return err
			}
			if s == keepDefault {
				s = ""
			}
			k, ok := model.ParseKeepDays(s)
			if *dst = k; !ok {
				return errorAt(v.Line, "import.keep", "Name", key, "Value", s)
			}
			return nil
		}
		switch key {
		case "retry_growing":
			switch v.Value {
			case "true", "false":
				d.RetryGrowing = v.Value == "true"
				return nil
			}
			return errorAt(v.Line, "import.one_of", "Name", key, "Value", v.Value, "Values", "true, false")
		case "status":
			switch v.Value {
			case "running", "stopped":
				d.Running = v.Value == "running"
				return nil
			}
			return errorAt(v.Line, "import.one_of", "Name", key, "Value", v.Value, "Values", "running, stopped")
		case "tags":
			return sequence(v, func(n *yaml.Node) error {
				var s string
				if err := scalar(n, key, &s); err != nil {
					return err
				}
				d.Tags = model.JoinTags(model.TagList(d.Tags + "," + s))
				return nil
			})
		case "children":
			return sequence(v, func(n *yaml.Node) error {
				var s string
				if err := scalar(n, key, &s); err != nil {
					return err
				}
				app, name, ok := strings.Cut(s, "/")
				if !ok {
					return errorAt(n.Line, "import.child_key", "Value", s)
				}
				d.Children = append(d.Children, model.JobKey{Executor: app, Name: name})
				return nil
			})
		}
		return errorAt(at.Line, "import.unknown_key", "Name", key)
	})
	for _, key := range []string{"executor", "name"} {
		if err == nil && strings.TrimSpace(*text(&d, key)) == "" {
			err = errorAt(n.Line, "import.key_missing", "Name", key)
		}
	}
	return d, err
}

// text gives where a key with a text goes, nil when it is none of those.
func text(d *model.JobDoc, key string) *string {
	switch key {
	case "executor":
		return &d.Executor
	case "name":
		return &d.Name
	case "author":
		return &d.Author
	case "alarm_email":
		return &d.AlarmEmail
	case "schedule_type":
		return (*string)(&d.ScheduleType)
	case "schedule_conf":
		return &d.ScheduleConf
	case "misfire":
		return (*string)(&d.Misfire)
	case "route":
		return (*string)(&d.Route)
	case "block":
		return (*string)(&d.Block)
	case "glue_type":
		return (*string)(&d.GlueType)
	case "handler":
		return &d.Handler
	case "param":
		return &d.Param
	case "glue_source":
		return &d.GlueSource
	case "glue_remark":
		return &d.GlueRemark
	}
	return nil
}

// keepDefault is written for jobs whose runs are kept as long as all.
const keepDefault = "default"

// keep gives where a key with a number of days goes, nil when it is none of those.
func keep(d *model.JobDoc, key string) *model.KeepDays {
	switch key {
	case "keep_days":
		return &d.Keep.Succeeded
	case "keep_failed_days":
		return &d.Keep.Failed
	}
	return nil
}

func number(d *model.JobDoc, key string) *int {
	switch key {
	case "timeout":
		return &d.TimeoutSec
	case "retry":
		return &d.RetryCount
	case "retry_delay":
		return &d.RetryDelaySec
	case "misfire_after":
		return &d.MisfireAfterSec
	}
	return nil
}

// mapping calls fn for each key, which must be a text and stand there once.
func mapping(n *yaml.Node, fn func(key string, at, value *yaml.Node) error) error {
	if err := plain(n); err != nil {
		return err
	}
	if n.Kind != yaml.MappingNode {
		return errorAt(n.Line, "import.want_map")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if err := plain(k); err != nil {
			return err
		}
		if err := plain(v); err != nil {
			return err
		}
		if k.Kind != yaml.ScalarNode {
			return errorAt(k.Line, "import.want_key")
		}
		if seen[k.Value] {
			return errorAt(k.Line, "import.key_twice", "Name", k.Value)
		}
		seen[k.Value] = true
		if err := fn(k.Value, k, v); err != nil {
			return err
		}
	}
	return nil
}

func sequence(n *yaml.Node, fn func(*yaml.Node) error) error {
	if n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return errorAt(n.Line, "import.want_list")
	}
	for _, item := range n.Content {
		if err := plain(item); err != nil {
			return err
		}
		if err := fn(item); err != nil {
			return err
		}
	}
	return nil
}

func scalar(n *yaml.Node, key string, dst *string) error {
	if n.Kind != yaml.ScalarNode {
		return errorAt(n.Line, "import.want_text", "Name", key)
	}
	if n.Tag != "!!null" {
		*dst = n.Value
	}
	return nil
}

// plain refuses anchors and aliases: a small file could stand for an endless one.
func plain(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return errorAt(n.Line, "import.alias")
	}
	return nil
}
