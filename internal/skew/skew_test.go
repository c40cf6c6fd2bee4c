package skew

import (
	"testing"
	"time"
)

func TestClocksJumpAndDrift(t *testing.T) {
	c := New()
	if c.Now(7) != 7 || c.When(9) != 9 {
		t.Error("a clock that nobody has set is wrong")
	}
	c = c.Set(1000, 500, 1)
	if c.Now(1000) != 1500 || c.When(2000) != 1500 {
		t.Errorf("after a jump of 500 at 1000 it shows %d then, and 2000 at %d", c.Now(1000), c.When(2000))
	}
	c = c.Set(2000, 0, 2)
	if c.Now(3000) != 4500 || c.When(4500) != 3000 {
		t.Errorf("at twice the rate from 2000 on it shows %d at 3000, and 4500 at %d", c.Now(3000),
			c.When(4500))
	}
	c = c.Set(3000, -time.Duration(1500), 1)
	if c.Now(5000) != 5000 {
		t.Errorf("set right again it shows %d at 5000", c.Now(5000))
	}
}
