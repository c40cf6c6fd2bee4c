package mutex

import (
	"math/bits"
	"testing"
)

// What exclusion is for: two processes each read an account, add to what they read and store it. Of the 20
// orders of their six steps two give the sum; in nine the money of the first is lost, in nine that of the
// second.
func TestUpdatesAreLostWithoutExclusion(t *testing.T) {
	const first, second = 10, 20
	outcomes := map[int]int{}
	for order := range uint(1 << 6) { // a bit for each step: whose it is
		if bits.OnesCount(order) != 3 {
			continue
		}
		account, register, at := 0, [2]int{}, [2]int{}
		for step := range 6 {
			who := int(order >> step & 1)
			switch at[who] {
			case 0:
				register[who] = account
			case 1:
				register[who] += [2]int{first, second}[who]
			case 2:
				account = register[who]
			}
			at[who]++
		}
		outcomes[account]++
	}
	if len(outcomes) != 3 || outcomes[first+second] != 2 || outcomes[first] != 9 || outcomes[second] != 9 {
		t.Errorf("the account ends so often at: %v", outcomes)
	}
}

// Two processes each add 1 to an account m times, and it ends at 2: each loses all but one of the other's
// updates.
func TestAllButTwoUpdatesCanBeLost(t *testing.T) {
	const m = 100
	account := 0
	p := account // P reads 0
	for range m - 1 {
		account++ // Q adds 1, undisturbed
	}
	account = p + 1
	q := account // Q reads 1, for its last time
	for range m - 1 {
		account++ // P adds 1, undisturbed
	}
	if account = q + 1; account != 2 {
		t.Errorf("the account ends at %d", account)
	}
}
