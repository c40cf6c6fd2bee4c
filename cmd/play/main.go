//go:build js && wasm

// Play runs in the page in which people play algorithms by hand. It gives JavaScript the global function
// turnstile, which takes the name of a call and its arguments as JSON, and returns the answer as
// JSON: see [play.Call].
package main

import (
	"fmt"
	"syscall/js"

	"turnstile/play"
)

func main() {
	js.Global().Set("turnstile", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 2 {
			return fmt.Sprintf(`{"error": "turnstile takes a name and arguments, not %d values"}`, len(args))
		}
		return string(play.Call(args[0].String(), []byte(args[1].String())))
	}))
	select {} // calls come until the page is closed
}
