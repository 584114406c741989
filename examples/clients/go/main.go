// Catraca from Go, with the standard library only: a check that sees a write, a limit, a request that is done once,
// a lock with a fence, a cache that one caller fills, and a feature flag.
//
//	go run main.go http://127.0.0.1:8080 [KEY]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Refused is what the server says when it does not do it: an RFC 9457 problem.
type Refused struct {
	Status     int
	Code       string `json:"code"`
	Detail     string `json:"detail"`
	RetryAfter string
}

func (r *Refused) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Detail) }

type Client struct {
	url, key string
	http     http.Client
}

func (c *Client) call(method, path string, body, answer any) error {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, c.url+path, &content)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("content-type", "application/json")
	}
	if c.key != "" {
		request.Header.Set("authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode > 299 {
		refused := &Refused{Status: response.StatusCode, RetryAfter: response.Header.Get("retry-after")}
		_ = json.NewDecoder(response.Body).Decode(refused)
		return refused
	}
	if answer == nil || response.StatusCode == http.StatusNoContent {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

type object = map[string]any

type checkAnswer struct {
	OverallAllowed bool
	Results        []struct{ Reason string }
}

// check sees the write that gave the token, whichever server answers.
func (c *Client) check(customer, token string, lists ...string) (answer checkAnswer, err error) {
	query := url.Values{"allowlists": {strings.Join(lists, ",")}, "atLeast": {token}}
	err = c.call("GET", "/customers/"+url.PathEscape(customer)+"/check?"+query.Encode(), nil, &answer)
	return answer, err
}

// acquire gives the lease when it may pass, and otherwise tells in how many seconds to come back.
func (c *Client) acquire(entity, resource string) (leaseID, retryAfter string, err error) {
	var answer struct{ LeaseID string }
	err = c.call("POST", "/limits/acquire", object{"entity": entity, "resource": resource}, &answer)
	var refused *Refused
	if errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests {
		return "", refused.RetryAfter, nil
	}
	return answer.LeaseID, "", err
}

// once does the work if nobody has done it yet, and gives the recorded answer otherwise.
func (c *Client) once(operation, key string, payload any, work func() (any, error)) (any, bool, error) {
	path := "/idempotency/" + url.PathEscape(operation) + "/" + url.PathEscape(key)
	var claim struct {
		Status, Token string
		Response      any
	}
	if err := c.call("POST", path, object{"payload": payload}, &claim); err != nil {
		return nil, false, err
	}
	if claim.Status == "COMPLETED" {
		return claim.Response, true, nil
	}
	response, err := work()
	if err != nil {
		_ = c.call("POST", path+"/fail", object{"token": claim.Token, "error": err.Error()}, nil)
		return nil, false, err
	}
	err = c.call("POST", path+"/complete", object{"token": claim.Token, "response": response}, nil)
	return response, false, err
}

// locked does the work while nobody else does. The work passes the fence on: a store refuses a lower one than it has seen.
func (c *Client) locked(name string, work func(fence int64) error) error {
	path := "/locks/" + url.PathEscape(name)
	var held struct {
		Token string
		Fence int64
	}
	if err := c.call("POST", path, object{"ttlMs": 30_000}, &held); err != nil {
		return err
	}
	err := work(held.Fence)
	if released := c.call("POST", path+"/release", object{"token": held.Token}, nil); err == nil {
		err = released
	}
	return err
}

// getOrLoad reads the cache. Of many callers one loads, and the others wait for it.
func (c *Client) getOrLoad(space, key string, load func() (any, error)) (any, error) {
	path := "/cache/" + url.PathEscape(space) + "/" + url.PathEscape(key)
	for {
		var answer struct {
			Value json.RawMessage // Absent while somebody else loads.
			Lease string
		}
		var refused *Refused
		err := c.call("POST", path+"/lease", object{"ttlMs": 10_000, "waitMs": 2_000}, &answer)
		if errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable {
			return load() // The store is away: the source is asked without it.
		}
		if err != nil {
			return nil, err
		}
		var value any
		if answer.Lease == "" && answer.Value == nil {
			time.Sleep(time.Second) // 202
			continue
		}
		if answer.Lease == "" {
			err = json.Unmarshal(answer.Value, &value)
			return value, err
		}
		value, err = load()
		if err != nil {
			_ = c.call("DELETE", path+"/lease/"+url.PathEscape(answer.Lease), nil, nil)
			return nil, err
		}
		err = c.call("PUT", path, object{"value": value, "lease": answer.Lease}, nil)
		if errors.As(err, &refused) && refused.Code == "CACHE_LEASE_LOST" {
			err = nil // It was invalidated while it was loaded: good for this caller, and not kept.
		}
		return value, err
	}
}

// flag asks for a list or wave as a boolean flag, by the OpenFeature Remote Evaluation Protocol.
func (c *Client) flag(key, customer string) (bool, error) {
	var answer struct{ Value bool }
	body := object{"context": object{"targetingKey": customer}}
	err := c.call("POST", "/ofrep/v1/evaluate/flags/"+url.PathEscape(key), body, &answer)
	return answer.Value, err
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	client := &Client{url: strings.TrimRight(os.Args[1], "/"), http: http.Client{Timeout: 5 * time.Second}}
	if len(os.Args) > 2 {
		client.key = os.Args[2]
	}
	must(client.call("POST", "/allowlists", object{"id": "go", "name": "Go", "type": "FIXA"}, nil))
	var written struct{ Token string }
	must(client.call("PUT", "/allowlists/go/customers/ann", object{}, &written))
	for _, customer := range []string{"ann", "bob"} {
		answer, err := client.check(customer, written.Token, "go")
		must(err)
		fmt.Printf("check %s: %t (%s)\n", customer, answer.OverallAllowed, answer.Results[0].Reason)
	}

	limit := object{"capacity": 1, "refillAmount": 1, "refillPeriodSeconds": 60}
	must(client.call("PUT", "/config/resources/go", object{"limits": object{"rpm": limit}}, nil))
	lease, _, err := client.acquire("ann", "go")
	must(err)
	fmt.Println("acquire: may pass")
	_, retryAfter, err := client.acquire("ann", "go")
	must(err)
	fmt.Printf("acquire: come back in %s s\n", retryAfter)
	must(client.call("DELETE", "/leases/"+url.PathEscape(lease), nil, nil))
	again, _, err := client.acquire("ann", "go")
	must(err)
	if again != "" {
		fmt.Println("given back, then: may pass")
	}

	for range [2]int{} {
		work := func() (any, error) { return object{"id": 7}, nil }
		response, isReplay, err := client.once("PRODUCE", "go-1", object{"n": 1}, work)
		must(err)
		how := "done"
		if isReplay {
			how = "replayed"
		}
		fmt.Printf("once: %v, %s\n", response.(object)["id"], how)
	}

	var first, second int64
	var refused *Refused
	isHeld := false
	must(client.locked("report", func(fence int64) error {
		first = fence
		err := client.locked("report", func(int64) error { return nil })
		isHeld = errors.As(err, &refused) && refused.Code == "LOCK_HELD"
		return nil
	}))
	must(client.locked("report", func(fence int64) error { second = fence; return nil }))
	fmt.Printf("lock: others wait: %t, the fence grows: %t\n", isHeld, second > first)
	ann, err := client.flag("go", "ann")
	must(err)
	bob, err := client.flag("go", "bob")
	must(err)
	fmt.Printf("flag: ann %t, bob %t\n", ann, bob)

	loads := 0
	for range [3]int{} {
		_, err := client.getOrLoad("rates", "usd", func() (any, error) { loads++; return 5.4, nil })
		must(err)
	}
	fmt.Printf("cache: loaded %d time\n", loads)
}
