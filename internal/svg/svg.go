// Package svg writes pictures as SVG 1.1: a few shapes, texts and patterns. What it writes is well-formed
// XML whatever the texts are.
package svg

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// A Picture is one that is being drawn. Lengths are in pixels, from the top left corner.
type Picture struct {
	width, height float64
	body          strings.Builder
}

// New returns an empty picture.
func New(width, height float64) *Picture { return &Picture{width: width, height: height} }

// Attrs are attributes of an element, names and values in turn, such as "fill", "#fff".
type Attrs []string

// Rect draws a rectangle. A tip is what a browser shows beside the pointer; empty: nothing.
func (p *Picture) Rect(x, y, width, height float64, tip string, attrs ...string) {
	p.element("rect", Attrs{"x", number(x), "y", number(y), "width", number(width), "height", number(height)},
		attrs, tip, "title")
}

// Line draws a line.
func (p *Picture) Line(x1, y1, x2, y2 float64, attrs ...string) {
	p.element("line", Attrs{"x1", number(x1), "y1", number(y1), "x2", number(x2), "y2", number(y2)}, attrs,
		"", "")
}

// Text writes a text, whose base line begins at x, y unless attributes say otherwise.
func (p *Picture) Text(x, y float64, text string, attrs ...string) {
	p.element("text", Attrs{"x", number(x), "y", number(y)}, attrs, text, "")
}

// Hatch defines a pattern of slanted lines, to be used as a fill: url(#id).
func (p *Picture) Hatch(id, color string, apart, thick float64) {
	fmt.Fprintf(&p.body, `<pattern id="%s" width="%s" height="%s" patternUnits="userSpaceOnUse" `+
		`patternTransform="rotate(45)"><rect width="%s" height="%s" fill="%s"/></pattern>`+"\n",
		escaped(id), number(apart), number(apart), number(thick), number(apart), escaped(color))
}

// element writes an element with a text in it, which stands in an element of its own if inner names one.
func (p *Picture) element(name string, own, more Attrs, text, inner string) {
	fmt.Fprintf(&p.body, "<%s", name)
	for _, attrs := range []Attrs{own, more} {
		for i := 0; i+1 < len(attrs); i += 2 {
			fmt.Fprintf(&p.body, ` %s="%s"`, attrs[i], escaped(attrs[i+1]))
		}
	}
	switch {
	case text == "":
		p.body.WriteString("/>\n")
	case inner == "":
		fmt.Fprintf(&p.body, ">%s</%s>\n", escaped(text), name)
	default:
		fmt.Fprintf(&p.body, "><%s>%s</%s></%s>\n", inner, escaped(text), inner, name)
	}
}

// String returns the whole document.
func (p *Picture) String() string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" `+
		`font-family="sans-serif" font-size="12">`+"\n"+
		`<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n%[3]s</svg>\n",
		number(p.width), number(p.height), p.body.String())
}

// number writes a length to a hundredth of a pixel.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func escaped(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}
