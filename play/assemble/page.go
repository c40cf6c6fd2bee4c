package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// mostBytes is the size that a page may have at most.
const mostBytes = 5_000_000

// mark matches a mark of page.html.
var mark = regexp.MustCompile(`{{(\w+)}}`)

// Assemble returns the page that is made of the files in a folder, of a program, and of sources.
func Assemble(folder, wasm string, sources Sources) ([]byte, error) {
	frame, err := os.ReadFile(filepath.Join(folder, "page.html"))
	if err != nil {
		return nil, err
	}
	parts := map[string]string{"start": ""}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	for name, path := range map[string]string{
		"style":     filepath.Join(folder, "page.css"),
		"script":    filepath.Join(folder, "page.js"),
		"wasm_exec": filepath.Join(strings.TrimSpace(string(goroot)), "lib/wasm/wasm_exec.js"),
	} {
		if parts[name], err = inline(path); err != nil {
			return nil, err
		}
	}
	program, err := os.ReadFile(wasm)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(sources)
	if err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{"wasm": program, "sources": text} {
		if parts[name], err = packed(data); err != nil {
			return nil, err
		}
	}
	page, err := fill(frame, parts)
	if err == nil && len(page) > mostBytes {
		err = fmt.Errorf("the page has %d bytes: it is to have %d at most", len(page), mostBytes)
	}
	return page, err
}

// inline reads a file that becomes the text of an element. Such a text must not contain the end of a script
// or a style sheet, and a comment in a script must not begin as those of HTML do.
func inline(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	lower := bytes.ToLower(text)
	for _, end := range []string{"</script", "</style", "<!--"} {
		if bytes.Contains(lower, []byte(end)) {
			return "", fmt.Errorf("%s contains %s, and would not be one element of the page: write it in two parts",
				path, end)
		}
	}
	return string(text), nil
}

// packed returns data packed by gzip, as base64.
func packed(data []byte) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(data); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// starting matches the element of page.html that has what the page opens with.
var starting = regexp.MustCompile(`<script[^>]* id="start"[^>]*>{{start}}</script>`)

// fill puts the parts in place of the marks of a frame, each of which it has once.
func fill(frame []byte, parts map[string]string) ([]byte, error) {
	if !starting.Match(frame) {
		return nil, errors.New("page.html lacks the element for the start: write " +
			`<script type="application/json" id="start">{{start}}</script>`)
	}
	seen := map[string]int{}
	var unknown error
	page := mark.ReplaceAllFunc(frame, func(found []byte) []byte {
		name := string(mark.FindSubmatch(found)[1])
		seen[name]++
		part, known := parts[name]
		if !known {
			unknown = fmt.Errorf("page.html has %s, which is no mark: see the comment of play/assemble", found)
		}
		return []byte(part)
	})
	if unknown != nil {
		return nil, unknown
	}
	for name := range parts {
		if seen[name] != 1 {
			return nil, fmt.Errorf("page.html has the mark {{%s}} %d times: write it once", name, seen[name])
		}
	}
	return page, nil
}
