package history

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// Every kind of event, mark and gauge has a name of its own, by which histories are printed.
func TestEverythingHasAName(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]string{ // by the first constant of the block that has the named constants
		"Requested": kindNames[:], "Began": markNames[:], "BusyPPM": gaugeNames[:],
	}
	for _, d := range file.Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		first := block.Specs[0].(*ast.ValueSpec).Names[0].Name
		names, named := tables[first]
		if !named {
			continue
		}
		delete(tables, first)
		seen := map[string]bool{"": true}
		for i, spec := range block.Specs {
			constant := spec.(*ast.ValueSpec).Names[0].Name
			if i+1 >= len(names) || seen[names[i+1]] {
				t.Errorf("%s has no name of its own in event.go", constant)
				continue
			}
			seen[names[i+1]] = true
		}
	}
	if len(tables) > 0 {
		t.Errorf("event.go lists none of %v", tables)
	}
	if got := (&Event{Kind: Marked, Count: 99}).CountName(); got != "mark 99" {
		t.Errorf("an unknown mark is called %q", got)
	}
}
