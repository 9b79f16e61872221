package jobfile

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/carillon-scheduler/carillon/model"
)

// Write writes jobs as YAML, ordered by executor and name and without anything that
// differs from one export to the next, so that files can be compared.
func Write(w io.Writer, docs []model.JobDoc) error {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b model.JobDoc) int {
		if c := strings.Compare(a.Executor, b.Executor); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range docs {
		n := jobNode(&docs[i])
		if i > 0 && docs[i].Key() == docs[i-1].Key() {
			n.HeadComment = "Another job has the same executor and name: give one of them another name before this is imported."
		}
		list.Content = append(list.Content, n)
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key("carillon"), {Kind: yaml.ScalarNode, Value: version}, key("jobs"), list}}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return err
	}
	return e.Close()
}

func key(name string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: name} }

func jobNode(d *model.JobDoc) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, v *yaml.Node) { n.Content = append(n.Content, key(name), v) }
	str := func(names ...string) {
		for _, name := range names {
			s := *text(d, name)
			v := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
			// A block keeps a script readable; what a block cannot hold exactly is quoted.
			if strings.Contains(s, "\n") {
				v.Style = yaml.LiteralStyle
				if !blockHolds(s) {
					v.Style = yaml.DoubleQuotedStyle
				}
			}
			add(name, v)
		}
	}
	num := func(names ...string) {
		for _, name := range names {
			add(name, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(*number(d, name))})
		}
	}
	str("executor", "name", "author", "alarm_email", "schedule_type", "schedule_conf", "misfire", "route", "block", "glue_type", "handler", "param")
	num("timeout", "retry", "retry_delay")
	add("retry_growing", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(d.RetryGrowing)})
	num("misfire_after")
	for _, name := range []string{"keep_days", "keep_failed_days"} {
		add(name, key(cmp.Or(keep(d, name).String(), keepDefault)))
	}
	if d.GlueType.IsScript() {
		str("glue_remark", "glue_source")
	}
	children := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range d.Children {
		children.Content = append(children.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: c.String()})
	}
	if len(d.Children) == 0 {
		children.Style = yaml.FlowStyle
	}
	add("children", children)
	tags := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, tag := range model.TagList(d.Tags) {
		tags.Content = append(tags.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: tag})
	}
	add("tags", tags)
	status := "stopped"
	if d.Running {
		status = "running"
	}
	add("status", key(status))
	return n
}

// blockHolds reports whether a literal block gives the text back as it was.
func blockHolds(s string) bool {
	for _, r := range s {
		if r != '\n' && r != '\t' && (r < 0x20 || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff) {
			return false
		}
	}
	return s[0] != '\n' && s[0] != ' ' && s[0] != '\t' && !strings.Contains(s, " \n")
}
