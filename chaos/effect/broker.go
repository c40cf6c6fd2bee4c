package effect

import (
	"errors"
	"fmt"
)

// A brokerGroup is a list of NATS servers of a run, which count from 0. Node i is at broker i mod their
// number.
type brokerGroup struct{ Group }

// UnmarshalText reads a list of brokers: 0, 0-1 or 0,2.
func (b *brokerGroup) UnmarshalText(text []byte) (err error) {
	if b.Group, err = ParseGroup(string(text)); err != nil {
		err = fmt.Errorf("%q names no brokers: write 0, 0-1 or 0,2, each once", text)
	}
	return err
}

// take has brokers do nothing, unless another fault has them down or stopped, and returns how many nodes are
// there.
func (c *Carrier) take(brokers Group, how func(int) error) (hit int, err error) {
	for _, id := range brokers {
		i := int(id)
		if !c.BrokerUp(i) || c.Stands(i) {
			continue
		}
		hit += c.NodesAt(i)
		c.Taken = append(c.Taken, i)
		if err = how(i); err != nil {
			break
		}
	}
	return hit, err
}

// giveBack heals the brokers that it has taken.
func (c *Carrier) giveBack(how func(int) error) (err error) {
	for _, i := range c.Taken {
		err = errors.Join(err, how(i))
	}
	return err
}
