package figure

import "testing"

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		f    Figure
		want string
	}{
		{Figure{}, ""},
		{Number(0), "0"},
		{Number(-0.0000001), "0"},
		{Number(1.0 / 3), "0.333333"},
		{Number(12345678901234), "12345678901234"},
		{AtLeast(12.5), ">12.5"},
		{Ratio(1, 0), ""},
		{Ratio(0, 5), "0"},
		{Max(Figure{}, Number(3)), "3"},
		{Max(Number(3), Figure{}), "3"},
		{Max(Number(3), Number(4)), "4"},
		{Max(AtLeast(3), Number(4)), ">4"},
		{Max(Number(4), AtLeast(3)), ">4"},
	} {
		if c.f.String() != c.want {
			t.Errorf("%#v prints as %q, not %q", c.f, c.f, c.want)
		}
		var back Figure
		if err := back.UnmarshalText([]byte(c.f.Text())); err != nil || back.Text() != c.f.Text() {
			t.Errorf("%q reads as %v, %v", c.f.Text(), back, err)
		}
	}
}
