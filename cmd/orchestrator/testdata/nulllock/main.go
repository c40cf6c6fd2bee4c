// Nulllock is a foreign program that grants every request at once: what it takes is the price of the pipe.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

var answers = map[string]string{"init": "init_ok", "request": "entered", "release": "release_ok"}

func main() {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriter(os.Stdout)
	for me := ""; ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			Body struct {
				Type   string
				MsgID  uint64 `json:"msg_id"`
				NodeID string `json:"node_id"`
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if m.Body.NodeID != "" {
			me = m.Body.NodeID
		}
		fmt.Fprintf(out, `{"src":%q,"dest":"c0","body":{"type":%q,"in_reply_to":%d}}`+"\n", me,
			answers[m.Body.Type], m.Body.MsgID)
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}
