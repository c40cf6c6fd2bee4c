package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const frame = `<html><style>{{style}}</style>
<script type="application/json" id="start">{{start}}</script>
<script id="wasm">{{wasm}}</script><script id="sources">{{sources}}</script>
<script>{{wasm_exec}}</script><script>{{script}}</script></html>`

// files are the files of a page, and a program for it.
var files = map[string]string{"page.html": frame, "page.css": "p { color: {{red}} }", "page.js": "play()",
	"play.wasm": strings.Repeat("wasm", 100)}

// assembled assembles a page from files, of which some are changed.
func assembled(t *testing.T, changed map[string]string) (string, error) {
	t.Helper()
	dir, all := t.TempDir(), maps.Clone(files)
	maps.Copy(all, changed)
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sources := Sources{map[string]*Machine{"mutex.one": {File: "one.go"}},
		map[string]string{"one.go": "package"}}
	page, err := Assemble(dir, filepath.Join(dir, "play.wasm"), sources)
	return string(page), err
}

// unpacked returns what an element of a page has packed.
func unpacked(t *testing.T, page, id string) []byte {
	t.Helper()
	_, text, _ := strings.Cut(page, `<script id="`+id+`">`)
	text, _, _ = strings.Cut(text, "</script>")
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	data, err = io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return data
}

func TestAssemble(t *testing.T) {
	page, err := assembled(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<style>p { color: {{red}} }</style>", "<script>play()</script>",
		`id="start"></script>`, "globalThis.Go = class"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if got := unpacked(t, page, "wasm"); string(got) != files["play.wasm"] {
		t.Errorf("the program is %q", got)
	}
	var sources map[string]any
	if err := json.Unmarshal(unpacked(t, page, "sources"), &sources); err != nil {
		t.Fatal(err)
	}
	one, _ := sources["mutex.one"].(map[string]any)
	texts, _ := sources["files"].(map[string]any)
	if one["file"] != "one.go" || texts["one.go"] != "package" {
		t.Errorf("the sources are %v", sources)
	}
}

func TestAssembleRefuses(t *testing.T) {
	for _, c := range []struct{ file, text, says string }{
		{"page.html", strings.Replace(frame, "{{style}}", "", 1), "mark {{style}} 0 times"},
		{"page.html", frame + "{{style}}", "mark {{style}} 2 times"},
		{"page.html", frame + "{{styles}}", "{{styles}}, which is no mark"},
		{"page.html", strings.Replace(frame, `id="start"`, "", 1), "lacks the element for the start"},
		{"page.js", `let end = "</Script>"`, "page.js contains </script"},
		{"page.css", "</style>", "page.css contains </style"},
	} {
		if _, err := assembled(t, map[string]string{c.file: c.text}); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("the error for %q is %v, without %q", c.text, err, c.says)
		}
	}
}
