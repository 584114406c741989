// Catraca from Go, with the standard library only: a check, a limit, and a request that is done once.
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

func (c *Client) check(customer string, lists ...string) (answer checkAnswer, err error) {
	query := url.Values{"allowlists": {strings.Join(lists, ",")}}
	err = c.call("GET", "/customers/"+url.PathEscape(customer)+"/check?"+query.Encode(), nil, &answer)
	return answer, err
}

// acquire tells in how many seconds to come back, or nothing when it may pass.
func (c *Client) acquire(entity, resource string) (retryAfter string, err error) {
	err = c.call("POST", "/limits/acquire", object{"entity": entity, "resource": resource}, nil)
	var refused *Refused
	if errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests {
		return refused.RetryAfter, nil
	}
	return "", err
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
	must(client.call("PUT", "/allowlists/go/customers/ann", object{}, nil))
	for _, customer := range []string{"ann", "bob"} {
		answer, err := client.check(customer, "go")
		must(err)
		fmt.Printf("check %s: %t (%s)\n", customer, answer.OverallAllowed, answer.Results[0].Reason)
	}

	limit := object{"capacity": 1, "refillAmount": 1, "refillPeriodSeconds": 60}
	must(client.call("PUT", "/config/resources/go", object{"limits": object{"rpm": limit}}, nil))
	for range [2]int{} {
		retryAfter, err := client.acquire("ann", "go")
		must(err)
		if retryAfter == "" {
			fmt.Println("acquire: may pass")
		} else {
			fmt.Printf("acquire: come back in %s s\n", retryAfter)
		}
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
}
