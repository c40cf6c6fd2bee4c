package format

import (
	"testing"

	"turnstile/internal/figure"
)

func TestMicros(t *testing.T) {
	for _, c := range []struct {
		figure figure.Figure
		want   string
	}{
		{figure.Figure{}, "-"},
		{figure.Number(0), "0 µs"},
		{figure.Number(0.25), "0.25 µs"},
		{figure.Number(12.34), "12.3 µs"},
		{figure.Number(999.4), "999 µs"},
		{figure.Number(999.6), "1.00 ms"},
		{figure.Number(45_600), "45.6 ms"},
		{figure.AtLeast(2_500_000), ">2.50 s"},
	} {
		if got := Micros(c.figure); got != c.want {
			t.Errorf("Micros(%v) = %q, want %q", c.figure, got, c.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for figure, want := range map[figure.Figure]string{
		{}: "-", figure.Number(3.004): "3.00 s", figure.Number(0.25): "250 ms", figure.Number(2e-5): "20.0 µs",
	} {
		if got := Seconds(figure); got != want {
			t.Errorf("Seconds(%v) = %q, want %q", figure, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	for figure, want := range map[figure.Figure]string{
		{}: "-", figure.Number(0): "0", figure.Number(1.0 / 3): "0.33", figure.Number(48.5): "48.5",
		figure.Number(99.96): "100", figure.Number(1234.5): "1,234", figure.AtLeast(2): ">2.00",
	} {
		if got := Rate(figure); got != want {
			t.Errorf("Rate(%v) = %q, want %q", figure, got, want)
		}
	}
}
