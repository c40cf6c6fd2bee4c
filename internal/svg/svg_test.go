package svg

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// Whatever the texts are, the document is well-formed, and says them.
func TestPicturesAreWellFormed(t *testing.T) {
	p := New(100, 50.5)
	p.Hatch("two", `#c00"`, 6, 1.5)
	p.Rect(1, 2, 3.004, 4, "a < b & \"c\"\x00", "fill", "url(#two)")
	p.Line(0, 0, 10, 10, "stroke", "<black>")
	p.Text(5, 6, "node 1 > node 2")
	var texts []string
	elements := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(p.String())); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, p)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				texts = append(texts, text)
			}
		}
	}
	if got := strings.Join(texts, "|"); got != "a < b & \"c\"\uFFFD|node 1 > node 2" {
		t.Errorf("the texts are %q", got)
	}
	if elements["rect"] != 3 || elements["line"] != 1 || elements["pattern"] != 1 || elements["title"] != 1 {
		t.Errorf("the elements are %v", elements)
	}
	if !strings.Contains(p.String(), `width="3" height="4"`) || !strings.Contains(p.String(), `"0 0 100 50.5"`) {
		t.Errorf("lengths are wrong in\n%s", p)
	}
}
