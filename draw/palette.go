package draw

import (
	"fmt"
	"strings"
)

// The colors of pictures. A color has the same meaning in all pictures.
const (
	Ink    = "#1b1b1b" // texts and axes
	Dim    = "#5d5d5d"
	Grid   = "#dcdcdc"
	Ground = "#ffffff"
	Fault  = "#f6e3b4"
	Wrong  = "#c1121f"
)

// Bad are the colors of cells by how bad they are: 0 is neutral, 1 is good, 4 is worst.
var Bad = [5]string{"#ededed", "#b7dcf2", "#f7d78c", "#f0a35e", "#d96a8f"}

// A Look is the color, dash and marker of a series. Its color has enough contrast for text on it in the color
// Ground. Dark is the color that replaces Color on a dark background.
type Look struct{ Color, Dark, Dash, marker string }

// Looks are the looks of series, in their order. The colors, by M. Okabe and K. Ito and by P. Tol, can be
// told apart by the color-blind.
var Looks = []Look{
	{"#0072b2", "#56b4e9", "", circle},
	{"#b35c00", "#f0a030", "7 3", square},
	{"#007a5a", "#2fc79c", "2 3", triangle},
	{"#aa3377", "#e58cc0", "10 3 2 3", diamond},
	{"#6b5b00", "#d9cc4a", "13 4", circle},
	{"#332288", "#a79cf2", "5 2 1 2 1 2", square},
	{"#5a5a5a", "#b5b5b5", "1 3", triangle},
}

// The markers, as paths relative to their middle.
const (
	circle   = "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z"
	square   = "m-2.8-2.8h5.6v5.6h-5.6z"
	triangle = "m0-3.8l3.5 6.1h-7z"
	diamond  = "m0-4l3.7 4l-3.7 4l-3.7-4z"
)

// LookOf returns the look of the nth series, counted from 0, of those with a color.
func LookOf(color, nth int) Look {
	look := Looks[nth%len(Looks)]
	look.Color, look.Dark = Looks[color%len(Looks)].Color, Looks[color%len(Looks)].Dark
	return look
}

// LookOfMessage returns the look of a kind of message, by the number of the kind in its codec, so that a kind
// looks the same in all pictures. Kinds that share a color differ in their dashes.
func LookOfMessage(kind int) Look { return LookOf(kind, kind+kind/len(Looks)) }

func (s *Series) look() Look { return LookOf(s.Kind.Color, s.Nth) }

// dark returns each color together with the color that replaces it on a dark background.
func dark() [][2]string {
	all := [][2]string{{Ink, "#ececec"}, {Dim, "#a8a8a8"}, {Grid, "#3c3c3c"}, {Ground, "#1e1e1e"},
		{Fault, "#55471c"}, {Wrong, "#ff6b74"}, {Bad[0], "#333333"}, {Bad[1], "#14507a"}, {Bad[2], "#7a5600"},
		{Bad[3], "#96480a"}, {Bad[4], "#a3265a"}}
	for _, l := range Looks {
		all = append(all, [2]string{l.Color, l.Dark})
	}
	return all
}

// lights is the style sheet that lights up the series under the pointer or with the focus.
const lights = `.series{outline:none}
@media screen{svg:has(.series:hover,.series:focus) .series:not(:hover,:focus){opacity:.13}
.series:hover .band,.series:focus .band{fill-opacity:.3;stroke-opacity:.3}}
`

// Style is the style sheet of pictures: it lights up a series, and gives pictures dark colors on the screens
// of readers who prefer them.
func Style() string {
	var b strings.Builder
	for _, c := range dark() {
		fmt.Fprintf(&b, `[fill="%s"]{fill:%s}[stroke="%[1]s"]{stroke:%[2]s}`, c[0], c[1])
	}
	return lights + "@media screen and (prefers-color-scheme:dark){" + b.String() + "}"
}

// Variables is a style sheet that defines the main colors as the variables --ink, --dim, --grid and --ground,
// so that a page can have the colors of its pictures.
func Variables() string {
	var light, other strings.Builder
	for i, name := range []string{"ink", "dim", "grid", "ground"} {
		fmt.Fprintf(&light, "--%s:%s;", name, dark()[i][0])
		fmt.Fprintf(&other, "--%s:%s;", name, dark()[i][1])
	}
	return fmt.Sprintf(":root{%s}@media screen and (prefers-color-scheme:dark){:root{%s}}", &light, &other)
}
