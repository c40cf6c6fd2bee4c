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
	} {
		if c.f.String() != c.want {
			t.Errorf("%#v prints as %q, not %q", c.f, c.f, c.want)
		}
		var back Figure
		if err := back.UnmarshalText([]byte(c.want)); err != nil || back.String() != c.want {
			t.Errorf("%q reads as %v, %v", c.want, back, err)
		}
	}
}

func TestMedian(t *testing.T) {
	n := Number
	for _, c := range []struct {
		of   []Figure
		want Figure
	}{
		{nil, Figure{}},
		{[]Figure{n(3), n(1), n(2)}, n(2)},
		{[]Figure{n(4), n(1), n(2), n(3)}, n(2.5)},
		{[]Figure{n(3), {}, n(2)}, Figure{}},
		{[]Figure{n(3), AtLeast(5), n(2)}, n(3)},
		{[]Figure{n(3), AtLeast(2), n(4)}, AtLeast(3)},
	} {
		if got := MedianOf(c.of); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.of, got, c.want)
		}
	}
}
