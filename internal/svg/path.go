package svg

import (
	"fmt"
	"strings"
)

// Path draws a path, whose commands are as in the attribute d. A tip is what a browser shows beside the
// pointer; empty: nothing.
func (p *Picture) Path(d, tip string, attrs ...string) {
	p.element("path", Attrs{"d", d}, attrs, tip, "title")
}

// Style adds rules of CSS for the whole picture. The selector svg>rect:first-child is its background.
func (p *Picture) Style(rules string) { fmt.Fprintf(&p.body, "<style>%s</style>\n", escaped(rules)) }

// Points writes the commands of a path: each a letter, and numbers behind it.
func Points(commands ...any) string {
	var b strings.Builder
	for _, c := range commands {
		switch c := c.(type) {
		case float64:
			b.WriteString(" " + number(c))
		case int:
			fmt.Fprint(&b, " ", c)
		default:
			fmt.Fprint(&b, c)
		}
	}
	return b.String()
}
