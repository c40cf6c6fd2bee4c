// Assemble writes the page in which one plays algorithms by hand: one HTML file, which fetches nothing.
//
//	assemble -page FOLDER -wasm FILE -out FILE
//
// It is run at the root of the repository. In page.html of the folder it fills these marks:
//
//   - {{style}} and {{script}}: page.css and page.js of the folder;
//   - {{wasm_exec}}: wasm_exec.js of the Go that runs this program;
//   - {{wasm}}: the program for the page, packed by gzip, as base64;
//   - {{sources}}: the algorithms as text, with the lines of each handler (see [Sources]), as JSON, packed by
//     gzip, as base64;
//   - {{start}}: nothing. `orchestrator play` puts there what the page opens with.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	page := flag.String("page", "play/page", "`folder` of page.html, page.css and page.js")
	wasm := flag.String("wasm", "", "`file` of the program for the page")
	out := flag.String("out", "", "`file` for the page")
	flag.Parse()
	if *wasm == "" || *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "assemble: it takes -wasm FILE and -out FILE")
		os.Exit(64)
	}
	if err := run(*page, *wasm, *out); err != nil {
		fmt.Fprintf(os.Stderr, "assemble: %v\n", err)
		os.Exit(1)
	}
}

// run writes the page, and prints its size.
func run(page, wasm, out string) error {
	sources, err := ReadSources(".", "./algorithms/...")
	if err != nil {
		return err
	}
	text, err := Assemble(page, wasm, sources)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, text, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %.1f MB\n", out, float64(len(text))/1e6)
	return nil
}
