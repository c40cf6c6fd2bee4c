package measure

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"turnstile/internal/figure"
)

// The figures of a fault convert to the figures of its phases, and back.
func TestFaultsAreTheirPhases(t *testing.T) {
	for _, healed := range []bool{true, false} {
		want := OfFault{Number: 3, Fault: "kill 1", Healed: healed}
		next := 0.0
		fill(reflect.ValueOf(&want).Elem(), &next)
		if healed {
			want.EndS = figure.Figure{}
		} else {
			want.ToS, want.AfterToS, want.HealedNextEntryS = figure.Figure{}, figure.Figure{}, figure.Figure{}
			want.OldRateS, want.Unfinished, want.HealedAgreedS = figure.Figure{}, figure.Figure{}, figure.Figure{}
		}
		phases := want.ByPhases()
		if diff := cmp.Diff(want, FaultOf(phases)); diff != "" {
			t.Error(diff)
		}
		if has := phases[len(phases)-1].Phase == Healed; has != healed {
			t.Errorf("the last phase is %s", phases[len(phases)-1].Phase)
		}
	}
}

// fill fills all figures below v, each with another number.
func fill(v reflect.Value, next *float64) {
	if f, is := v.Addr().Interface().(*figure.Figure); is {
		*next++
		*f = figure.Number(*next)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	}
}
