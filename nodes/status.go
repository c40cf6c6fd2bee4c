package nodes

// A NodeStatus is the status of a node, for the report of a stall.
type NodeStatus struct {
	Client   string `json:"client"` // idle, waiting or inside
	Machine  string `json:"machine"`
	Standing string `json:"standing,omitempty"` // of its request, or with its leader, as it knows
	WaitsFor []ID   `json:"waits_for,omitempty"`
	LentTo   *ID    `json:"lent_to,omitempty"` // whose request its permission is lent to
	Token    bool   `json:"token,omitempty"`   // the token is here
}

// Status describes an instance of the node.
func (n *Node) Status(instance int32) *NodeStatus {
	inst := n.at(instance)
	s := &NodeStatus{Client: "none", Machine: stateOf(inst.machine)}
	if int(n.id) < n.stack.N() {
		s.Client = inst.client.String()
	}
	if w, ok := inst.machine.(Waiter); ok && inst.client == Waiting {
		set := w.WaitsFor()
		for id := range set.All() {
			s.WaitsFor = append(s.WaitsFor, id)
		}
	}
	_, elects := inst.machine.(Elector)
	if w, ok := inst.machine.(Standing); ok && (inst.client == Waiting || elects) {
		s.Standing = w.Standing()
	}
	if l, ok := inst.machine.(Lender); ok {
		if to := l.LentTo(); to != None {
			s.LentTo = &to
		}
	}
	if t, ok := inst.machine.(TokenHolder); ok {
		s.Token = t.HasToken()
	}
	return s
}
