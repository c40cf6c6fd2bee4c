package compare

import (
	"testing"

	"turnstile/nodes/foreign"
)

// ofService makes trials of a service with so many servers.
func ofService(members, durable string) maker {
	return maker{algorithm: "nats-kv", wait: 100, change: func(t *Trial) {
		t.Options = map[string]string{foreign.ServiceOption: "nats-kv", "members": members, "durable": durable,
			"server-version": "2.15.2", foreign.PromisesOption: "safe=no-pause+" + members, foreign.KindsOption: ""}
	}}
}

// Two trials of a service with different options belong to different experiments. So do trials of two foreign
// programs.
func TestOptionsOfServicesTellTrialsApart(t *testing.T) {
	one, three, durable := ofService("1", "off"), ofService("3", "off"), ofService("1", "on")
	program := func(command string) maker {
		return maker{algorithm: foreign.Name, wait: 100, change: func(t *Trial) {
			t.Options = map[string]string{foreign.CommandOption: command, foreign.PromisesOption: "safe=" + command}
		}}
	}
	for _, c := range []struct {
		side Side
		r    Request
		want string // of the error
	}{
		{sideOf("members", one, three), Request{By: "members"}, ""},
		{sideOf("members", one, three), Request{By: "nats_kv_members"}, ""},
		{sideOf("both", one, three, durable), Request{By: "members"}, "durable: off, on"},
		{sideOf("both", one, three, durable),
			Request{By: "members", Where: []Condition{{"durable", "off"}}}, ""},
		{sideOf("alone", one, maker{algorithm: "maekawa", wait: 200}), Request{By: "algorithm"}, ""},
		{sideOf("mixed", one, three, maker{algorithm: "maekawa", wait: 200}), Request{By: "algorithm"},
			"members: 1, 3"},
		{sideOf("programs", program("./a"), program("./b")), Request{By: "foreign", Unlike: true}, ""},
		{sideOf("programs", program("./a"), program("./b")), Request{By: "foreign"}, "promises"},
	} {
		made, err := Groups(c.side, c.r)
		if !fits(err, c.want) {
			t.Errorf("%s by %s: %v", c.side.Name, c.r.By, err)
		}
		if err == nil && (len(made.Groups) != 2 || made.Groups[0].Valid != 8) {
			t.Errorf("%s by %s: %d groups", c.side.Name, c.r.By, len(made.Groups))
		}
	}
	made, err := Sides(sideOf("a", one, three), sideOf("b", one, three), Request{})
	if err != nil || len(made.Groups) != 4 {
		t.Errorf("two experiments of each side: %+v, %v", made, err)
	}
}
