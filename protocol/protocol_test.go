package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/protocol"
)

func TestParseCallbacksOfEveryGeneration(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want []protocol.Callback
	}{
		"G1":           {`[{"logId":91,"logDateTim":1,"executeResult":{"code":200,"msg":null}}]`, []protocol.Callback{{LogID: 91, LogDateTime: 1, Code: 200}}},
		"G2":           {`[{"logId":91,"logDateTim":1,"handleCode":502,"handleMsg":"late"}]`, []protocol.Callback{{LogID: 91, LogDateTime: 1, Code: 502, Msg: "late"}}},
		"G4":           {`{"callbackList":[{"logId":1,"logDateTime":1,"handleCode":200,"handleMsg":"a"},{"logId":2,"handleCode":409}]}`, []protocol.Callback{{LogID: 1, LogDateTime: 1, Code: 200, Msg: "a"}, {LogID: 2, Code: 409}}},
		"both forms":   {`[{"logId":5,"handleCode":0,"executeResult":{"code":200,"msg":"x"}}]`, []protocol.Callback{{LogID: 5, Code: 200, Msg: "x"}}},
		"no code":      {`[{"logId":5}]`, []protocol.Callback{{LogID: 5, Code: 500}}},
		"bool message": {`[{"logId":5,"handleCode":200,"handleMsg":true}]`, []protocol.Callback{{LogID: 5, Code: 200, Msg: "true"}}},
		"object message": {`[{"logId":5,"handleCode":200,"handleMsg":{"a":[1]}}]`,
			[]protocol.Callback{{LogID: 5, Code: 200, Msg: `{"a":[1]}`}}},
		"what is no text": {"[{\"logId\":5,\"handleCode\":200,\"handleMsg\":{\"a\":\"\xff\"}}]", []protocol.Callback{{LogID: 5, Code: 200, Msg: "{\"a\":\"\ufffd\"}"}}},
		"our SDK": {`[{"logId":5,"logDateTim":9,"handleCode":502,"handleMsg":"x","carillon":{"echo":true,"said":{"code":"sdk_timeout","args":{"LimitMS":3}}}}]`,
			[]protocol.Callback{{LogID: 5, LogDateTime: 9, Echo: true, Said: protocol.Say("sdk_timeout", "LimitMS", 3.0), Code: 502, Msg: "x"}}},
		"somebody else's": {`[{"logId":5,"handleCode":200,"logDateTim":"now","carillon":"?"}]`, []protocol.Callback{{LogID: 5, Code: 200}}},
		"beyond 2^31":     {`[{"logId":5000000000,"handleCode":200}]`, []protocol.Callback{{LogID: 5000000000, Code: 200}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := protocol.ParseCallbacks([]byte(tc.body))
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	for _, bad := range []string{``, `7`, `"x"`, `[]`, `{}`, `[{"handleCode":200}]`, `[{"logId":-1}]`, `[{"logId":1.5}]`, `[{"logId":1}`, `[{"logId":1}] x`, `[{"logId":"x"}]`, `[null]`} {
		_, err := protocol.ParseCallbacks([]byte(bad))
		require.Error(t, err, bad)
	}
}

func TestCallbackRoundTripReadsInEveryGeneration(t *testing.T) {
	b, err := json.Marshal([]protocol.Callback{{LogID: 7, LogDateTime: 1000, Code: 200, Msg: "ok"}})
	require.NoError(t, err)
	require.JSONEq(t, `[{"logId":7,"logDateTim":1000,"logDateTime":1000,"handleCode":200,"handleMsg":"ok","executeResult":{"code":200,"msg":"ok"}}]`, string(b))
	var back []protocol.Callback
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, int64(7), back[0].LogID)
}

func TestAnswerIsTheSuperset(t *testing.T) {
	b, err := json.Marshal(protocol.OK(nil))
	require.NoError(t, err)
	require.JSONEq(t, `{"code":200,"msg":null,"content":null,"data":null,"success":true}`, string(b))
	b, err = json.Marshal(protocol.Fail("no %s", "way"))
	require.NoError(t, err)
	require.JSONEq(t, `{"code":500,"msg":"no way","content":null,"data":null,"success":false}`, string(b))
}

func TestDecodeTakesOneValue(t *testing.T) {
	var v struct {
		ID   int64    `json:"id"`
		Name string   `json:"name"`
		On   bool     `json:"on"`
		In   struct{} `json:"in"`
	}
	require.NoError(t, protocol.Decode([]byte(` {"id":1,"unknown":[]} `+"\n"), &v))
	for _, bad := range []string{`{"id":1} ]`, `{"id":1}]`, `{"id":1} }`, `{"id":1} {}`, `{"id":1} x`, `{"id":1},`} {
		require.Error(t, protocol.Decode([]byte(bad), &v), bad)
	}
	_, err := protocol.ParseCallbacks([]byte(`[{"logId":1}] ]`))
	require.Error(t, err)
	for body, says := range map[string]string{
		`{"id":"1"}`: "id must be a whole number, not string", `{"id":1.5}`: "id must be a whole number, not number 1.5", `[1]`: "the body must be an object, not array",
		`{"name":1}`: "name must be a text, not number", `{"on":1}`: "on must be true or false, not number", `{"in":[]}`: "in must be an object, not array",
	} {
		require.EqualError(t, protocol.Decode([]byte(body), &v), says)
	}
}

func TestParseReply(t *testing.T) {
	r, err := protocol.ParseReply([]byte(`{"code":200,"msg":null,"content":{"toLineNum":3}}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"toLineNum":3}`, string(r.Value))
	r, err = protocol.ParseReply([]byte(`{"code":200,"data":{"toLineNum":4},"content":null}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"toLineNum":4}`, string(r.Value))
	r, err = protocol.ParseReply([]byte(`[{"logId":1,"logDateTim":2,"executeResult":{"code":500,"msg":"busy"},"handleCode":500,"handleMsg":"busy"}]`))
	require.NoError(t, err)
	require.Equal(t, protocol.Reply{Code: 500, Msg: "busy"}, r)
	for _, bad := range []string{``, `<html>`, `{}`, `{"code":null}`, `[]`, `{"code":"x"}`, `"200"`} {
		_, err := protocol.ParseReply([]byte(bad))
		require.Error(t, err, bad)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"logId":1,"handleCode":200}]`))
	f.Add([]byte(`{"code":200,"content":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if list, err := protocol.ParseCallbacks(body); err == nil {
			for _, c := range list {
				require.NotZero(t, c.Code)
				require.Positive(t, c.LogID)
			}
		}
		if r, err := protocol.ParseReply(body); err == nil {
			require.NotZero(t, r.Code)
		}
	})
}
