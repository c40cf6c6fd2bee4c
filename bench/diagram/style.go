package diagram

import (
	"fmt"
	"strings"
)

// A look is how messages of a kind are drawn. Colors are those of M. Okabe and K. Ito, and of P. Tol, which
// can be told apart without seeing red or green; on a dark ground they are lighter. Dashes tell the same.
type look struct{ light, dark, dash string }

var looks = []look{
	{"#0072b2", "#56b4e9", ""},
	{"#b35c00", "#f0a030", "7 3"},
	{"#007a5a", "#2fc79c", "2 3"},
	{"#aa3377", "#e58cc0", "10 3 2 3"},
	{"#6b5b00", "#d9cc4a", "13 4"},
	{"#332288", "#a79cf2", "5 2 1 2 1 2"},
	{"#5a5a5a", "#b5b5b5", "1 3"}, // of all further kinds
}

// lookOf returns the number of the look of the nth kind in a picture.
func lookOf(nth int) int { return min(nth, len(looks)-1) }

// rules returns the style of pictures, light or dark as the reader has it.
func rules() string {
	var light, dark strings.Builder
	for i, l := range looks {
		fmt.Fprintf(&light, ".k%d{stroke:%s}.h%[1]d{fill:%[2]s}", i, l.light)
		fmt.Fprintf(&dark, ".k%d{stroke:%s}.h%[1]d{fill:%[2]s}", i, l.dark)
	}
	return "path{fill:none}" + colors("#ffffff", "#1a1a1a", "#666666", "#9fc5e8", "#56606b", "#f3d89b",
		"#fff3d6", "#c1121f", "#fbe3e4", "#b36b00") + light.String() +
		"@media (prefers-color-scheme:dark){" + colors("#15181c", "#e8e8e8", "#9a9a9a", "#2f5f8a", "#aab4bf",
		"#6b5420", "#2b2618", "#ff6b74", "#4a2226", "#f0a030") + dark.String() + "}"
}

// colors returns the rules of all that is no message.
func colors(ground, text, line, inside, wait, lead, fault, wrong, wrongBand, may string) string {
	return fmt.Sprintf("svg>rect:first-child{fill:%[1]s}text{fill:%[2]s}.dim{fill:%[3]s}"+
		".halo{paint-order:stroke;stroke:%[1]s;stroke-width:3px;stroke-linejoin:round}"+
		".life{stroke:%[3]s}.axis{stroke:%[2]s}.in{fill:%[4]s;stroke:%[2]s}.wait{fill:%[5]s}"+
		".lead{fill:%[6]s;stroke:%[2]s}.fault{fill:%[7]s}.wrong{fill:%[8]s}.wrongline{stroke:%[8]s}"+
		".band{fill:%[9]s}.may{fill:%[10]s}.mayline{stroke:%[10]s}.node{fill:%[1]s;stroke:%[2]s}",
		ground, text, line, inside, wait, lead, fault, wrong, wrongBand, may)
}
