package main

import (
	"fmt"
	"math"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// unitsOf says how many units of a resource an algorithm serves, unless that is one.
func unitsOf(one *spec) string {
	upTo := func(most int) string {
		if most >= nodes.AnyUnits {
			return "any number"
		}
		return fmt.Sprintf("up to %d", most)
	}
	u := one.Units
	if u.Most <= 1 {
		return ""
	}
	text := fmt.Sprintf("it serves %s of them (--units; otherwise %d, but fewer than clients), of which a "+
		"request takes ", upTo(u.Most), max(1, u.Usual))
	if u.Take <= 1 {
		return text + "one"
	}
	return text + upTo(u.Take) + " (--take)"
}

// unitLimits say how many units of a resource an algorithm serves; null: any number.
type unitLimits struct {
	Most  *int `json:"most"`
	Take  *int `json:"take"` // that one request may take
	Usual int  `json:"usual"`
}

func unitLimitsOf(u nodes.Units) unitLimits {
	limit := func(most int) *int {
		if most >= nodes.AnyUnits {
			return nil
		}
		return new(max(1, most))
	}
	return unitLimits{limit(u.Most), limit(u.Take), max(1, u.Usual)}
}

// limits are a range; no Max means that there is no upper limit.
type limits struct {
	Min float64  `json:"min"`
	Max *float64 `json:"max"`
}

func limitsOf(r row.Range) limits {
	if math.IsInf(r.Max, 1) {
		return limits{Min: r.Min}
	}
	return limits{r.Min, &r.Max}
}
