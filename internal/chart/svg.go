package chart

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The width of all pictures, and the sizes of their text, in points.
const (
	width     = 380.0
	textSize  = 12.0
	smallSize = 11.0
)

// A shade is a color of pictures: what stands for it while it is drawn, the CSS variable that replaces it,
// and what that is on a light and on a dark ground.
type shade struct {
	drawn       color.RGBA
	name        string
	light, dark string
}

// The shades: none is drawn as #000000, which gonum/plot leaves out.
var (
	ink    = shade{color.RGBA{1, 1, 1, 255}, "--ink", "#1b1b1b", "#ececec"}
	dim    = shade{color.RGBA{1, 1, 2, 255}, "--dim", "#5d5d5d", "#a8a8a8"}
	grid   = shade{color.RGBA{1, 1, 3, 255}, "--grid", "#dcdcdc", "#3c3c3c"}
	ground = shade{color.RGBA{1, 1, 4, 255}, "--card", "#ffffff", "#1e1e1e"}
	fault  = shade{color.RGBA{1, 1, 5, 255}, "--fault", "#f6e3b4", "#55471c"}

	// ofSeries are the colors of series, in their order.
	ofSeries = []shade{
		{color.RGBA{2, 0, 1, 255}, "--c1", "#0072b2", "#4aa8e6"},
		{color.RGBA{2, 0, 2, 255}, "--c2", "#d55e00", "#f08a3c"},
		{color.RGBA{2, 0, 3, 255}, "--c3", "#009e73", "#2cc79a"},
		{color.RGBA{2, 0, 4, 255}, "--c4", "#b8578c", "#dd9cc0"},
		{color.RGBA{2, 0, 5, 255}, "--c5", "#c98a00", "#f0b429"},
		{color.RGBA{2, 0, 6, 255}, "--c6", "#3aa0d8", "#8fd0f5"},
		{color.RGBA{2, 0, 7, 255}, "--c7", "#4d4d4d", "#c9c9c9"},
	}

	// ofOutcomes are the grounds of the cells of heat maps, by how bad they are.
	ofOutcomes = []shade{
		{color.RGBA{3, 0, 1, 255}, "--h0", "#ededed", "#333333"},
		{color.RGBA{3, 0, 2, 255}, "--h1", "#b7dcf2", "#14507a"},
		{color.RGBA{3, 0, 3, 255}, "--h2", "#f7d78c", "#7a5600"},
		{color.RGBA{3, 0, 4, 255}, "--h3", "#f0a35e", "#96480a"},
		{color.RGBA{3, 0, 5, 255}, "--h4", "#d96a8f", "#a3265a"},
	}
)

func shades() []shade {
	all := append([]shade{ink, dim, grid, ground, fault}, ofSeries...)
	return append(all, ofOutcomes...)
}

// Style returns the CSS that defines the colors of pictures in an element: light ones, and dark ones for who
// prefers them on a screen.
func Style(selector string) string {
	var light, dark strings.Builder
	for _, s := range shades() {
		fmt.Fprintf(&light, "%s:%s;", s.name, s.light)
		fmt.Fprintf(&dark, "%s:%s;", s.name, s.dark)
	}
	return fmt.Sprintf("%s{%s}\n@media screen and (prefers-color-scheme: dark){%s{%s}}\n", selector, &light,
		selector, &dark)
}

// A Picture is a drawn one.
type Picture struct{ body, attrs, alt string }

// Inline returns it as an element of an HTML page that has the [Style].
func (p Picture) Inline() string {
	return fmt.Sprintf(`<svg class="chart" %s role="img" aria-label="%s" %s>%s</svg>`, p.attrs,
		html.EscapeString(p.alt), family, p.body)
}

// File returns it as a file of its own. Its colors are attributes, since most programs but browsers know no
// variables of CSS. A browser has other colors for who prefers a dark ground.
func (p Picture) File() string {
	var dark strings.Builder
	for _, s := range shades() {
		fmt.Fprintf(&dark, `[fill="%s"]{fill:%s}[stroke="%[1]s"]{stroke:%[2]s}`, s.light, s.dark)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" %s %s>`+
		"\n<title>%s</title>\n<style>@media screen and (prefers-color-scheme: dark){%s}</style>\n"+
		`<rect width="100%%" height="100%%" fill="%s"/>`+"\n%s</svg>\n", p.attrs, family,
		html.EscapeString(p.alt), &dark, ground.light, colored(p.body))
}

// colored returns what is drawn with its light colors, as attributes, instead of variables.
func colored(body string) string {
	light := map[string]string{}
	for _, s := range shades() {
		light[s.name] = s.light
	}
	return styles.ReplaceAllStringFunc(body, func(style string) string {
		attributes := ""
		style = variables.ReplaceAllStringFunc(style, func(declared string) string {
			of := variables.FindStringSubmatch(declared)
			attributes += fmt.Sprintf(`%s="%s" `, of[1], light[of[2]])
			return ""
		})
		return attributes + style
	})
}

var (
	styles    = regexp.MustCompile(`style="[^"]*"`)
	variables = regexp.MustCompile(`(fill|stroke):var\((--\w+)\);?`)
)

// family is metrically that by which gonum/plot measures texts.
const family = `font-family="Liberation Sans, Arimo, Arial, Helvetica, sans-serif"`

// drawn returns what paint draws on a canvas of such a height, in points. alt says what it shows.
func drawn(height float64, alt string, paint func(c draw.Canvas)) Picture {
	canvas := vgsvg.New(vg.Points(width), vg.Points(height))
	paint(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		panic(err) // memory takes all
	}
	body := b.String()
	body = body[strings.Index(body, "<g "):strings.LastIndex(body, "</svg>")]
	body = fontWords.ReplaceAllString(body, "")
	body = paths.ReplaceAllStringFunc(body, func(path string) string {
		return decimals.ReplaceAllString(path, "$1")
	})
	for _, s := range shades() {
		hex := func(more uint8) string {
			return fmt.Sprintf("#%02X%02X%02X", s.drawn.R+more, s.drawn.G, s.drawn.B)
		}
		body = strings.ReplaceAll(body, hex(0), "var("+s.name+")")
		body = strings.ReplaceAll(body, hex(fades), "var("+s.name+");fill-opacity:0.15")
	}
	return Picture{body, fmt.Sprintf(`viewBox="0 0 %g %g" width="%[1]g" height="%[2]g"`, width, height), alt}
}

// fontWords are those that each text has, and the picture has once.
var fontWords = regexp.MustCompile(`font-family:[^;"]*;font-variant:\w+;font-weight:\w+;font-style:\w+;`)

// Paths have more decimals than can be seen, and are most of a picture.
var (
	paths    = regexp.MustCompile(` d="[^"]*"`)
	decimals = regexp.MustCompile(`(\.\d)\d+`)
)

// styleOf returns a style of text.
func styleOf(size float64, s shade) text.Style {
	return text.Style{Color: s.drawn, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"},
		vg.Points(size)), Handler: plot.DefaultTextHandler, XAlign: draw.XLeft, YAlign: draw.YBottom}
}

// widthOf returns how wide a text is, in points.
func widthOf(s text.Style, words string) float64 { return s.Width(words).Points() }

// at returns a point, from the bottom left of a canvas.
func at(x, y float64) vg.Point { return vg.Point{X: vg.Points(x), Y: vg.Points(y)} }

// box fills a rectangle.
func box(c draw.Canvas, s shade, x1, y1, x2, y2 float64) {
	c.FillPolygon(s.drawn, []vg.Point{at(x1, y1), at(x2, y1), at(x2, y2), at(x1, y2)})
}

// faded returns a shade that what is below it shines through.
func faded(s shade) color.Color { return color.RGBA{s.drawn.R + fades, s.drawn.G, s.drawn.B, 255} }

// fades is what the red of a shade has more if it is to be faded.
const fades = 16
