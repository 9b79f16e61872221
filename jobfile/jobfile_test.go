package jobfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

func sample() []model.JobDoc {
	return []model.JobDoc{
		{
			Executor: "app-one", Name: "child", Author: "ops", ScheduleType: model.ScheduleNone, Misfire: model.MisfireSkip, Route: model.RouteFirst,
			Block: model.BlockSerial, GlueType: model.GlueBean, Handler: "yes", Tags: "007,a: b,null,财务", Param: "line one\nline: two # not a comment\n",
		},
		{
			Executor: "app-one", Name: "夜间报表 \U0001f319: 'x' \"y\"", Author: "007", ScheduleType: model.ScheduleCron, ScheduleConf: "0 0 2 * * ?", Misfire: model.MisfireFireOnce,
			Route: model.RouteBroadcast, Block: model.BlockCover, GlueType: model.GlueShell, GlueSource: "#!/bin/sh\n\tif true; then\n\n  echo \"$1\"\n fi\n", GlueRemark: "first: one",
			TimeoutSec: 5, RetryCount: 2, RetryDelaySec: 7, RetryGrowing: true, MisfireAfterSec: 60, Param: "true", Keep: model.Keep{Succeeded: 7, Failed: model.KeepForever},
			Children: []model.JobKey{{Executor: "app-one", Name: "child"}, {Executor: "app-two", Name: "a/b"}}, Running: true,
		},
	}
}

// bare drops what only a file that was read has.
func bare(docs []model.JobDoc) []model.JobDoc {
	for i := range docs {
		docs[i].Line, docs[i].Has = 0, nil
	}
	return docs
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, sample()))
	docs, err := Read(b.Bytes(), nil)
	require.NoError(t, err, b.String())
	require.Equal(t, sample(), bare(docs), b.String())
	var again bytes.Buffer
	require.NoError(t, Write(&again, docs))
	require.Equal(t, b.String(), again.String())
	require.Contains(t, b.String(), "glue_source: |\n", "scripts can be read")

	for _, text := range []string{"\n", "\n\n", " x\n y", "x \ny", "a\tb\n", "\ta\n", "x\n\n\n", "a\u2028b\nc", "~", "null", "- a", "{a: b}", "&x y", "*x", "a\r\nb", "\x01\n", "'", "0x10", "1e3", "2026-01-01", "\ufeffx\n"} {
		d := sample()[:1]
		d[0].Param = text
		b.Reset()
		require.NoError(t, Write(&b, d))
		docs, err := Read(b.Bytes(), nil)
		require.NoError(t, err, b.String())
		require.Equal(t, text, docs[0].Param, b.String())
	}
}

func FuzzRead(f *testing.F) {
	f.Add("jobs:\n- {executor: a, name: b}\n")
	f.Add(`[{"glueType":"BEAN","jobGroup":1,"jobDesc":"x"}]`)
	f.Add("INSERT INTO xxl_job_info (glue_type, job_group, job_desc) VALUES ('BEAN', 1, 'it''s');")
	f.Fuzz(func(t *testing.T, text string) {
		docs, err := Read([]byte(text), map[int]string{1: "app-one"})
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("not an error of the file: %v", err)
			}
			return
		}
		var b bytes.Buffer
		if err := Write(&b, docs); err != nil {
			t.Fatal(err)
		}
	})
}

func TestBadFiles(t *testing.T) {
	const job = "carillon: 1\njobs:\n  - executor: app-one\n    name: a\n"
	for name, tc := range map[string]struct {
		text, key string
		line      int
	}{
		"empty":                {" \n", "import.empty", 0},
		"50 MB":                {job + strings.Repeat("#", 50<<20), "import.too_large", 0},
		"unknown key":          {job + "    handlers: x\n", "import.unknown_key", 5},
		"unknown key at root":  {"carillon: 1\njob: []\n", "import.unknown_key", 2},
		"key twice":            {job + "    author: a\n    author: b\n", "import.key_twice", 6},
		"job twice":            {job + "  - executor: APP-ONE\n    name: a\n", "import.duplicate", 5},
		"no name":              {"jobs:\n- executor: a\n", "import.key_missing", 2},
		"not a number":         {job + "    timeout: soon\n", "import.number", 5},
		"number too large":     {job + "    timeout: 99999999999\n", "import.number", 5},
		"days that are none":   {job + "    keep_days: long\n", "import.keep", 5},
		"status nobody knows":  {job + "    status: paused\n", "import.one_of", 5},
		"a list for a text":    {job + "    author: [a]\n", "import.want_text", 5},
		"a text for the jobs":  {"jobs: none\n", "import.want_list", 1},
		"no mapping":           {"just words\n", "import.want_map", 1},
		"a child without app":  {job + "    children: [b]\n", "import.child_key", 5},
		"another version":      {"carillon: 2\n", "import.version", 1},
		"broken":               {job + "    author: 'a\n", "import.syntax", 0},
		"anchor":               {job + "    author: &x a\n", "import.alias", 5},
		"aliases that explode": {"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\njobs: *c\n", "import.alias", 1},
		"merge key":            {job + "    <<: *x\n", "import.syntax", 0},
		"nested for ever":      {strings.Repeat("[", 5<<20), "import.syntax", 0},
		"indented for ever":    {"jobs:\n" + strings.Repeat("- ", 1<<20), "import.syntax", 0},
		"invalid UTF-8":        {job + "    author: \xff\n", "import.not_utf8", 5},
		"UTF-16":               {"\xff\xfej\x00o\x00", "import.not_utf8", 1},
		"NUL":                  {job + "    author: a\x00b\n", "import.not_utf8", 5},
		"no jobs":              {"carillon: 1\njobs: []\n", "import.no_jobs", 0},
		"JSON cut off":         {"{\"data\":[\n{\"jobDesc\":\"a\",", "import.syntax", 2},
		"JSON nested for ever": {strings.Repeat(`{"a":`, 1<<20), "import.syntax", 1},
		"JSON without jobs":    {`{"code":500,"msg":"no"}`, "import.no_jobs", 0},
		"JSON of a group":      {"[\n{\"glueType\":\"BEAN\",\"jobGroup\":9,\"jobDesc\":\"x\"}]", "import.group_unknown", 2},
		"JSON child outside":   {`[{"id":1,"glueType":"BEAN","jobGroup":1,"jobDesc":"x","childJobId":"7"}]`, "import.child_unknown", 1},
		"SQL text open":        {"INSERT INTO xxl_job_info VALUES\n('", "import.sql", 2},
		"SQL comment open":     {"SET x = 1;\n/* ", "import.sql", 2},
		"SQL columns":          {"INSERT INTO xxl_job_info VALUES (1,2);", "import.sql_columns", 1},
		"SQL no values":        {"INSERT INTO xxl_job_info SELECT 1;", "import.sql", 1},
		"SQL without jobs":     {"CREATE TABLE x (a INT);", "import.no_jobs", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read([]byte(tc.text), map[int]string{1: "app-one"})
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, tc.key, e.Key, e)
			if tc.line != 0 {
				require.Equal(t, tc.line, e.Line, e)
			}
		})
	}
}

// TestJSONOfTheKnownConsole: what its lists answer, in either envelope, with the
// executors beside them or told.
func TestJSONOfTheKnownConsole(t *testing.T) {
	const jobs = `[{"id":7,"jobGroup":2,"jobDesc":"first","addTime":"2024-01-01T00:00:00.000+00:00","author":"a","alarmEmail":null,"scheduleType":"CRON","scheduleConf":"0 0 1 * * ?",
		"misfireStrategy":"DO_NOTHING","executorRouteStrategy":"ROUND","executorHandler":"h","executorParam":"p","executorBlockStrategy":"SERIAL_EXECUTION",
		"executorTimeout":3,"executorFailRetryCount":-1,"glueType":"BEAN","glueSource":"","glueRemark":"x","childJobId":"8","triggerStatus":1,"triggerNextTime":1767225600000},
		{"id":8,"jobGroup":2,"jobDesc":"","name":"second","author":"b","glueType":"GLUE_SHELL","glueSource":"echo \"x\"\n","childJobId":null,"triggerStatus":0}]`
	const groups = `{"recordsTotal":1,"data":[{"id":2,"appname":"app-two","title":"Two"}]}`
	for name, text := range map[string]string{
		"second": `{"recordsTotal":2,"recordsFiltered":2,"data":` + jobs + `}` + groups,
		"third":  groups + "\n" + `{"code":200,"msg":"Success","data":{"offset":0,"pagesize":0,"data":` + jobs + `,"total":2},"success":true}`,
		"bare":   jobs,
	} {
		t.Run(name, func(t *testing.T) {
			told := map[int]string{}
			if name == "bare" {
				told[2] = "app-two"
			}
			docs, err := Read([]byte(text), told)
			require.NoError(t, err)
			require.Len(t, docs, 2)
			require.True(t, docs[0].Running)
			require.Equal(t, []model.JobKey{{Executor: "app-two", Name: "second"}}, docs[0].Children)
			require.Equal(t, 0, docs[0].RetryCount)
			require.False(t, docs[0].Gives("retry_delay"), "what it does not know stays")
			require.Equal(t, "echo \"x\"\n", docs[1].GlueSource)
			require.False(t, docs[1].Gives("handler"))
		})
	}
}

// TestDumps of MySQL with and without columns, and of SQLite.
func TestDumps(t *testing.T) {
	for name, text := range map[string]string{
		"mysqldump": "-- MySQL dump\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `xxl_job_group`;\nINSERT INTO `xxl_job_group` VALUES (2,'app-two','Zwei',0,NULL,'2024-01-01 00:00:00');\n" +
			"INSERT INTO `xxl_job_info` VALUES (7,2,'it\\'s; \\\"first\\\"','2024-01-01 00:00:00','2024-01-01 00:00:00','a','','CRON','0 0 1 * * ?','DO_NOTHING','ROUND','h','p','SERIAL_EXECUTION',0,1,'BEAN','','x','2024-01-01 00:00:00','8',1,0,1767225600000)," +
			"(8,2,'second',NULL,NULL,'b',NULL,'NONE','','DO_NOTHING','FIRST','','','COVER_EARLY',-1,0,'GLUE_SHELL','#!/bin/sh\\necho \\'x\\'\\n','r',NULL,'',0,0,0);\n",
		"columns from CREATE": "CREATE TABLE `db`.`xxl_job_info` (\n `id` int(11) NOT NULL, `job_desc` varchar(255) DEFAULT 'a,b(', `glue_type` varchar(50), `job_group` int, author varchar(64), `child_jobid` text, `trigger_status` int, glue_source text, PRIMARY KEY (`id`), KEY `x` (`job_group`)\n) ENGINE=InnoDB;\n" +
			"INSERT INTO xxl_job_group (app_name, id) VALUES ('app-two', 2);\n" +
			"INSERT INTO `db`.`xxl_job_info` VALUES (7,'it''s; \"first\"','BEAN',2,'a','8',1,NULL),(8,'second','GLUE_SHELL',2,'b','',0,'#!/bin/sh\necho ''x''\n');",
		"SQLite": "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nINSERT INTO xxl_job_group(id,app_name) VALUES(2,'app-two');\n" +
			"INSERT INTO xxl_job_info(id,job_group,job_desc,author,glue_type,glue_source,child_jobid,trigger_status,add_time) VALUES(7,2,'it''s; \"first\"','a','BEAN','','8',1,datetime('now','-1 day'));\n" +
			"INSERT INTO xxl_job_info(id,job_group,job_desc,author,glue_type,glue_source,child_jobid,trigger_status) VALUES(8,2,'second','b','GLUE_SHELL','#!/bin/sh\necho ''x''\n',NULL,0);\nCOMMIT;",
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := Read([]byte(text), nil)
			require.NoError(t, err)
			require.Len(t, docs, 2)
			require.Equal(t, model.JobKey{Executor: "app-two", Name: `it's; "first"`}, docs[0].Key())
			require.Equal(t, []model.JobKey{{Executor: "app-two", Name: "second"}}, docs[0].Children)
			require.Equal(t, "#!/bin/sh\necho 'x'\n", docs[1].GlueSource)
			require.Equal(t, []bool{true, false}, []bool{docs[0].Running, docs[1].Running})
			require.Equal(t, "b", docs[1].Author)
		})
	}
}
