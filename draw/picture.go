// Package draw writes pictures as SVG 1.1: curves, bars, heat maps, ledgers, and other pictures made of the
// shapes of a [Picture]. These pictures share axes, legends, bands, the placing of labels, a palette and the
// estimate of the width of texts.
//
// A picture is static and holds no script. It is well-formed XML whatever its texts contain, and equal input
// gives equal bytes. Colors are attributes, which every program supports; on screens in dark mode a style
// sheet replaces them, while prints keep light colors. Kinds of series differ in color, and series of a kind
// in dashes and marker; a name stands at the end of each.
package draw

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// A Picture is a picture while it is drawn. Lengths are in pixels, from the top left corner.
//
// Attributes of shapes are written as name=value. A tip is the text that a browser shows beside the mouse
// pointer; empty: no tip.
type Picture struct {
	Width, Height float64
	Title         string // names the picture for screen readers
	Description   string // tells screen readers what the picture shows
	Within        Box    // where labels may be
	Missing       int    // how many texts were left out for lack of room
	taken         []Box  // where no further label may be
	body          strings.Builder
}

// TextSize is the default size of texts, and Row the distance between lines of that size.
const (
	TextSize = 11.0
	Row      = 18.0
)

// Rect draws a rectangle.
func (p *Picture) Rect(x, y, width, height float64, tip string, attrs ...string) {
	p.element("rect", tipped(tip), attrs, "x", x, "y", y, "width", width, "height", height)
}

// Line draws a line.
func (p *Picture) Line(x1, y1, x2, y2 float64, attrs ...string) {
	p.element("line", "", attrs, "x1", x1, "y1", y1, "x2", x2, "y2", y2)
}

// Circle draws a circle.
func (p *Picture) Circle(x, y, radius float64, tip string, attrs ...string) {
	p.element("circle", tipped(tip), attrs, "cx", x, "cy", y, "r", radius)
}

// Path draws a path, whose commands are those of the attribute d in SVG.
func (p *Picture) Path(d, tip string, attrs ...string) {
	p.element("path", tipped(tip), append([]string{"d=" + d}, attrs...))
}

// lit groups what draw draws, so that it lights up while the pointer or the focus is on a part of it.
func (p *Picture) lit(name string, draw func()) { p.Group(name, draw, "class=series", "tabindex=0") }

// Group groups what draw draws, under a tip and attributes that all of it has.
func (p *Picture) Group(tip string, draw func(), attrs ...string) {
	p.body.WriteString("<g")
	p.attributes(attrs)
	p.body.WriteString(">" + tipped(tip) + "\n")
	draw()
	p.body.WriteString("</g>\n")
}

// Text writes a text, whose base line begins at x, y unless attributes say otherwise.
func (p *Picture) Text(x, y float64, text string, attrs ...string) {
	if text == "" {
		return
	}
	p.element("text", escaped(text), attrs, "x", x, "y", y)
}

// Entitle puts a title for a slide above what is drawn.
func (p *Picture) Entitle(title string) {
	head := Picture{Width: p.Width}
	high := head.SlideHeading(4, 0, title) + 4
	body := fmt.Sprintf("%s<g transform=\"translate(0 %s)\">\n%s</g>\n", head.body.String(), number(high),
		p.body.String())
	p.body.Reset()
	p.body.WriteString(body)
	p.Title, p.Height = title, p.Height+high
}

// Hatch returns a fill of slanted lines of a color of the palette, as an attribute.
func Hatch(color string) string { return "fill=url(#hatch-" + color[1:] + ")" }

// Points writes the commands of a path: letters, each followed by its numbers.
func Points(commands ...any) string {
	var b strings.Builder
	for _, c := range commands {
		switch c := c.(type) {
		case float64:
			b.WriteString(" " + number(c))
		default:
			fmt.Fprint(&b, c)
		}
	}
	return b.String()
}

func tipped(tip string) string {
	if tip == "" {
		return ""
	}
	return "<title>" + escaped(tip) + "</title>"
}

// element writes an SVG element. geometry has the names and values of its geometry in turn; content is what
// is inside it.
func (p *Picture) element(name, content string, attrs []string, geometry ...any) {
	p.body.WriteString("<" + name)
	for i := 0; i < len(geometry); i += 2 {
		fmt.Fprintf(&p.body, ` %s="%s"`, geometry[i], number(geometry[i+1].(float64)))
	}
	p.attributes(attrs)
	if content == "" {
		p.body.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&p.body, ">%s</%s>\n", content, name)
}

// attributes writes the attributes of an element. It leaves out an attribute without a value.
func (p *Picture) attributes(attrs []string) {
	for _, a := range attrs {
		if key, value, _ := strings.Cut(a, "="); value != "" {
			fmt.Fprintf(&p.body, ` %s="%s"`, key, escaped(value))
		}
	}
}

// File returns the picture as a complete SVG file.
func (p *Picture) File() string {
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		p.svg(`xmlns="http://www.w3.org/2000/svg"`, "<style>"+Style()+"</style>\n") + "\n"
}

// Inline returns the picture as an element of an HTML page that has the style sheet [Style]. class is the
// class of the element; prefix makes its ids different from those of other pictures of the page. On a wide
// screen it is larger than the file by half, so that its texts are as large as those of the page.
func (p *Picture) Inline(class, prefix string) string {
	return strings.NewReplacer(` id="hatch-`, ` id="`+prefix+"-hatch-", "url(#hatch-", "url(#"+prefix+"-hatch-").
		Replace(p.svg(fmt.Sprintf(`class="%s" style="max-width:%.0fpx"`, class, 1.5*p.Width), ""))
}

func (p *Picture) svg(attrs, style string) string {
	var b strings.Builder
	role := map[bool]string{true: "group", false: "img"}[strings.Contains(p.body.String(), " tabindex=")]
	fmt.Fprintf(&b, `<svg %s role="%[2]s" width="%[3]s" height="%[4]s" viewBox="0 0 %[3]s %[4]s" fill="%s" `+
		`font-family="Liberation Sans, Arimo, Arial, Helvetica, sans-serif" font-size="%g">`+
		"\n<title>%s</title>\n<desc>%s</desc>\n%s", attrs, role, number(p.Width), number(p.Height), Ink, TextSize,
		escaped(p.Title), escaped(p.Description), style)
	for _, c := range dark() {
		if strings.Contains(p.body.String(), "url(#hatch-"+c[0][1:]) {
			fmt.Fprintf(&b, `<pattern id="hatch-%s" width="5" height="5" patternUnits="userSpaceOnUse" `+
				`patternTransform="rotate(45)"><rect width="1.7" height="5" fill="#%[1]s"/></pattern>`+"\n", c[0][1:])
		}
	}
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n%s</svg>", Ground, p.body.String())
	return b.String()
}

// number writes a length to a tenth of a pixel.
func number(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

func escaped(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // writing to a Builder does not fail
	return b.String()
}
