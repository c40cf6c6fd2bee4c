package diagram

import "strings"

// A box is a place in the picture that is taken.
type box struct{ left, top, right, bottom float64 }

func (b box) touches(other box) bool {
	return b.left < other.right && other.left < b.right && b.top < other.bottom && other.top < b.bottom
}

// labels are the texts of a picture, none of which lies on another.
type labels struct {
	taken   []box
	within  box
	leftOut int // labels for which there was no place
}

// runeWidth is how wide a character is at most on average, in heights of the font.
const runeWidth = 0.6

// boldWidth is how much wider a bold text is.
const boldWidth = 1.12

func widthOf(text string, size float64) float64 {
	return runeWidth * size * float64(len([]rune(text)))
}

// wrapped breaks a bold title between words into lines of a width, and cuts the third.
func wrapped(title string, width float64) (lines []string) {
	line := ""
	for _, word := range strings.Fields(title) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && boldWidth*widthOf(longer, 14) > width {
			if lines, line = append(lines, line), word; len(lines) == 2 {
				lines[1] += " ..."
				return lines
			}
			continue
		}
		line = longer
	}
	return append(lines, line)
}

// take marks a place as taken.
func (l *labels) take(b box) { l.taken = append(l.taken, b) }

// free reports whether nothing lies in a box.
func (l *labels) free(b box) bool {
	if b.left < l.within.left || b.right > l.within.right || b.top < l.within.top || b.bottom > l.within.bottom {
		return false
	}
	for _, other := range l.taken {
		if b.touches(other) {
			return false
		}
	}
	return true
}

// put takes the first of the places that is free for a text, whose middle is there, and returns it. Otherwise
// the text counts as left out.
func (l *labels) put(text string, size float64, middles ...[2]float64) (x, y float64, ok bool) {
	width := widthOf(text, size)
	for _, m := range middles {
		b := box{m[0] - width/2 - 1, m[1] - size/2 - 1, m[0] + width/2 + 1, m[1] + size/2 + 1}
		if l.free(b) {
			l.take(b)
			return m[0], m[1], true
		}
	}
	l.leftOut++
	return 0, 0, false
}
