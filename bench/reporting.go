package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/carillon-scheduler/carillon/protocol"
)

// Executors in the field register every 30 s.
const registerEvery = 30 * time.Second

// register tells the centers, in turn until one listens, where the executor is.
func (c *counter) register(ctx context.Context) {
	body, _ := json.Marshal(map[string]string{"registryGroup": protocol.RegistryGroupExecutor, "registryKey": c.app, "registryValue": c.url()})
	for {
		wait := registerEvery
		if !c.tell(ctx, "registry", body) {
			wait = time.Second
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// callBack reports results, many at once, again and again until a center has them.
func (c *counter) callBack(ctx context.Context, results chan protocol.Callback) {
	for {
		var batch []protocol.Callback
		select {
		case <-ctx.Done():
			return
		case r := <-results:
			batch = append(batch, r)
		}
		for len(batch) < 1000 && len(results) > 0 {
			batch = append(batch, <-results)
		}
		body, err := json.Marshal(batch)
		if err != nil {
			panic(err) // plain values
		}
		for !c.tell(ctx, "callback", body) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
}

// tell makes one call to the first center that takes it.
func (c *counter) tell(ctx context.Context, name string, body []byte) bool {
	for _, center := range c.centers {
		if reply, err := post(ctx, center+"/api/"+name, c.token, body); err == nil && reply.Code == protocol.CodeSuccess {
			return true
		}
	}
	return false
}

func post(ctx context.Context, url, token string, body []byte) (protocol.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return protocol.Reply{}, err
	}
	req.Header.Set(protocol.HeaderToken, token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return protocol.Reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return protocol.Reply{}, err
	}
	return protocol.ParseReply(text)
}
