package play

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"turnstile/nodes"
)

// The catalog has every algorithm, every story with a title, and the words that the page reads.
func TestCatalog(t *testing.T) {
	var got struct {
		OK    Catalog
		Error string
	}
	if err := json.Unmarshal(Call("catalog", []byte("{}")), &got); err != nil || got.Error != "" {
		t.Fatal(err, got.Error)
	}
	byName := map[string]Algorithm{}
	for _, a := range got.OK.Algorithms {
		byName[a.Name] = a
		if a.Kind == "" || a.Family == "" || a.Summary == "" || a.Source == "" || a.Options == nil {
			t.Errorf("%s lacks something: %+v", a.Name, a)
		}
	}
	for _, known := range table.Algorithms() {
		a := byName[known.Name]
		if err := known.Validate(known.Explicit(nodes.Config{N: a.Least})); err != nil {
			t.Errorf("%s is to take %d nodes at least: %v", known.Name, a.Least, err)
		}
	}
	if maekawa := byName["maekawa-textbook"]; maekawa.Flaw != "progress" || maekawa.Kind != "mutual exclusion" ||
		maekawa.Options[0].Name != "quorums" || !slices.Contains(maekawa.Options[0].Values, "grid") {
		t.Errorf("maekawa-textbook is %+v", maekawa)
	}
	if byName["bully"].Kind != "election" {
		t.Errorf("bully is %+v", byName["bully"])
	}
	if len(got.OK.Stories) < 200 {
		t.Errorf("there are %d stories", len(got.OK.Stories))
	}
	for _, s := range got.OK.Stories {
		if s.Scene {
			continue
		}
		if len(s.Title) < 10 || !strings.HasSuffix(s.Title, ".") || !strings.Contains(s.Path, "/"+s.Algorithm+"/") {
			t.Errorf("%s: %+v", s.Path, s)
		}
	}
}
