//go:build ignore

// Lock is a foreign program in Go: a lock that the first node grants. It takes calls from any goroutine.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type body map[string]any

var (
	out     = os.Stdout         // for lines alone: what else is printed goes to standard error
	calls   = make(chan func()) // from any goroutine; closed at the end
	me      string
	first   string // of the nodes, which grants
	waiting []string
	asked   any
)

func say(dest string, b body) {
	line, _ := json.Marshal(body{"src": me, "dest": dest, "body": b})
	out.Write(append(line, '\n'))
}

func handle(src string, b body) {
	switch b["type"] {
	case "init":
		me, first = b["node_id"].(string), b["node_ids"].([]any)[0].(string)
		fmt.Println("this is", me)
		say("c0", body{"type": "declare", "safe": []string{"no-amnesia", "no-duplication"},
			"live":  []string{"no-loss", "no-crash"},
			"kinds": body{"ask": body{}, "yours": body{"permit": true}, "done": body{}}})
		say("c0", body{"type": "init_ok", "in_reply_to": b["msg_id"]})
	case "request":
		asked = b["msg_id"]
		say(first, body{"type": "ask"})
	case "release":
		say(first, body{"type": "done"})
		say("c0", body{"type": "release_ok", "in_reply_to": b["msg_id"]})
	case "ask":
		if waiting = append(waiting, src); len(waiting) == 1 {
			say(src, body{"type": "yours"})
		}
	case "done":
		if waiting = waiting[1:]; len(waiting) > 0 {
			say(waiting[0], body{"type": "yours"})
		}
	case "yours":
		say("c0", body{"type": "entered", "in_reply_to": asked})
	}
}

func main() {
	os.Stdout = os.Stderr
	go func() {
		defer close(calls)
		lines := bufio.NewScanner(os.Stdin)
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			var m struct {
				Src  string
				Body body
			}
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				panic(err)
			}
			calls <- func() { handle(m.Src, m.Body) }
		}
	}()
	for call := range calls {
		call()
	}
}
