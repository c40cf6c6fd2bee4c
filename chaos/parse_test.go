package chaos

import (
	"encoding"
	"reflect"
	"strings"
	"testing"

	"turnstile/chaos/effect"
	"turnstile/nodes"
)

// written checks that String writes the same text that parse has read.
func written[T interface{ String() string }](t *testing.T, parse func(string) (T, error), texts ...string) {
	t.Helper()
	for _, text := range texts {
		x, err := parse(text)
		if err != nil || x.String() != text {
			t.Errorf("%q is written %q (%v)", text, x.String(), err)
			continue
		}
		if again, err := parse(x.String()); err != nil || !reflect.DeepEqual(again, x) {
			t.Errorf("%q is read as %#v, and again as %#v (%v)", text, x, again, err)
		}
	}
}

// refused checks what is said of texts that are wrong.
func refused[T any](t *testing.T, parse func(string) (T, error), texts map[string]string) {
	t.Helper()
	for text, want := range texts {
		if x, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v: %v, want %q", text, x, err, want)
		}
	}
}

func TestParseTarget(t *testing.T) {
	words := []string{"3", "0-2", "0-2,5", "5,0-2", "random:2", "host 1", "host 0-2,5"}
	for _, w := range effect.TargetWords {
		words = append(words, w.Word)
	}
	written(t, effect.ParseTarget, words...)
	refused(t, effect.ParseTarget, map[string]string{
		"": "is not a target: write 3, 0-2", "hodler": "did you mean holder?", "host": "write host 1",
		"random:0": "how many", "random:x": "how many", "holder:2": "is not a target", "3-1": "is not a target",
		"1,1": "named twice", "0-2,1": "named twice", "-1": "is not a target", "1.5": "is not a target",
		"99999999999": "is not a target",
		"host:1":      "write host 1", "host 1,1": "each once", "host1": "write host 1",
		"host a": "names no hosts", "hosts 1": "names no hosts",
	})
}

func TestParseWhen(t *testing.T) {
	written(t, ParseWhen, "any enters", "3 enters", "0-2 requests", "any receives token", "any enters #5",
		"0-2,4 sends reply #7", "any leads", "3 exits", "host 1 enters", "host 0-2 sends reply #7")
	refused(t, ParseWhen, map[string]string{
		"": "is not a moment", "enters": "is not a moment", "any": "is not a moment",
		"any entres": "did you mean enters",
		"x enters":   "neither any nor", "any enters #0": "number from 1", "any enters #x": "number from 1",
		"any enters token": "only sends and receives", "any sends a b": "is not a moment",
		"1,1 enters": "neither any nor", "host enters": "neither any nor", "host x enters": "names no hosts",
		"any enters #99999999999": "number from 1",
	})
	if w, err := ParseWhen("anyone  enters"); err != nil || w.String() != "any enters" || w.Nth != 1 {
		t.Errorf("%v, %v", w, err)
	}
}

func TestParseCutWords(t *testing.T) {
	written(t, effect.ParseCut, "0-1/2-4", "0/1/2", "0,3/1-2", "0>1-2", "bridge", "ring", "ring:0,2,1,3",
		"minority", "majority", "holder", "random:2", "leader", "host 1", "host 0,2", "host 0/host 1-3",
		"host 0>host 1", "host 0/3-5")
}

// unmarshal reads a value that is written as text.
func unmarshal[V any, P interface {
	*V
	encoding.TextUnmarshaler
}](text string) (value V, err error) {
	err = P(&value).UnmarshalText([]byte(text))
	return value, err
}

func TestParseAmounts(t *testing.T) {
	written(t, unmarshal[effect.Share], "0%", "2%", "7%", "0.5%", "100%", "12.345%", "0.0000001%",
		"99.999999999%", "2.3%")
	written(t, unmarshal[effect.Losses], "2%", "0%", "burst:1%,20%", "burst:0.1%,99.9%")
	written(t, unmarshal[effect.Bytes], "500B", "10KB", "1.234567MB", "1GB", "1.001KB", "999.999KB", "300MB")
	for _, x := range []effect.Share{0.07, 0.1 + 0.2, 1e-12, 0.999999999999, 0.29, 0.57, 1.0 / 3} {
		if again, err := unmarshal[effect.Share](x.String()); err != nil || again != x {
			t.Errorf("%v is written %v and read as %v (%v)", float64(x), x, float64(again), err)
		}
	}
	for b := effect.Bytes(1); b < 1e12; b = b*7/3 + 1 {
		if again, err := unmarshal[effect.Bytes](b.String()); err != nil || again != b {
			t.Errorf("%d is written %v and read as %d (%v)", int64(b), b, int64(again), err)
		}
	}
	refused(t, unmarshal[effect.Share], map[string]string{"": "not a share", "nan": "not a share",
		"NaN%": "not a share",
		"101%": "not a share",
		"-1%":  "not a share", "inf": "not a share", "x": "not a share",
		"1e400%": "not a share", "1e%": "not a share"})
	refused(t, unmarshal[effect.Losses], map[string]string{"": "not losses", "burst:1%": "not losses",
		"burst:0%,1%":   "at least",
		"burst:60%,60%": "100% at most", "burst:nan,1%": "not losses", "200%": "not losses"})
	refused(t, unmarshal[effect.Bytes], map[string]string{"": "not a bandwidth", "10": "not a bandwidth",
		"0B":    "not a bandwidth",
		"nanKB": "not a bandwidth", "infKB": "not a bandwidth", "-1KB": "not a bandwidth",
		"2000GB": "not a bandwidth"})
}

// Every fault says what it breaks; one whose rate is zero breaks nothing.
func TestFaultsBreakAssumptions(t *testing.T) {
	for text, want := range map[string]nodes.Assumption{
		"cut: 0/1": nodes.NoLoss, "loss: 1%": nodes.NoLoss, "loss: 0%": 0, "delay: 1ms": nodes.Timing,
		"delay: 0s": 0, "duplicate: 1%": nodes.NoDuplication, "duplicate: 0%": 0,
		"reorder: 1ms": nodes.FIFO | nodes.Timing, "reorder: 0s": 0, "bandwidth: 1KB": nodes.Timing,
		"kill: 1": nodes.NoCrash, "pause: 1": nodes.NoPause | nodes.Timing,
		"slow: 1, share: 1%": nodes.NoPause | nodes.Timing, "clock: 1, by: 1s": nodes.Timing,
		"clock: 1, rate: 1": 0, "clock: 1, rate: 1, by: 1s": nodes.Timing,
		"clock: 1, rate: 1.1": nodes.Timing,
	} {
		f, err := ParseFault(text)
		if err != nil || f.Breaks() != want {
			t.Errorf("%s breaks %v, not %v (%v)", text, f.Breaks(), want, err)
		}
	}
}
