package mailbox

// ring is a mailbox of three semaphores and memory that they protect: a bounded buffer.
type ring struct {
	slots       []Message
	first, next int // the slot of the oldest message, and that of the next one
	free, full  Semaphore
	alone       Semaphore // one process at a time looks at the slots
}

// OfSemaphores returns a mailbox for so many messages, made of semaphores that permits makes.
func OfSemaphores(size int, permits func(int) Semaphore) Mailbox {
	return &ring{slots: make([]Message, size), free: permits(size), full: permits(0), alone: permits(1)}
}

// Send puts a message into a free slot. It waits for that before it is alone: the other way round nobody
// could make one free.
func (r *ring) Send(m Message) {
	r.free.P()
	r.alone.P()
	r.slots[r.next] = m
	r.next = (r.next + 1) % len(r.slots)
	r.alone.V()
	r.full.V()
}

func (r *ring) Receive() Message {
	r.full.P()
	r.alone.P()
	m := r.slots[r.first]
	r.slots[r.first] = Message{}
	r.first = (r.first + 1) % len(r.slots)
	r.alone.V()
	r.free.V()
	return m
}

// server is a semaphore that a process keeps: its count, and the queue of who waits, are in that process.
type server struct {
	box   Mailbox
	boxes func(size int) Mailbox
}

// OfMessages returns a semaphore with so many permits, kept by a process that is asked by messages in
// mailboxes that boxes makes; stop ends that process, once nobody waits.
func OfMessages(permits int, boxes func(size int) Mailbox) (s Semaphore, stop func()) {
	box := boxes(1)
	go serve(box, permits)
	return &server{box, boxes}, func() { box.Send(Message{Kind: Stop}) }
}

// serve is the loop of the notes: a P is answered at once while there are permits, and otherwise once a V
// comes.
func serve(box Mailbox, permits int) {
	var waiting []Mailbox // the return addresses, in the order of their requests
	for {
		switch m := box.Receive(); {
		case m.Kind == Take && permits > 0:
			permits--
			m.Answer.Send(Message{Kind: Granted})
		case m.Kind == Take:
			waiting = append(waiting, m.Answer)
		case m.Kind == Give && len(waiting) > 0:
			waiting[0].Send(Message{Kind: Granted})
			waiting = waiting[1:]
		case m.Kind == Give:
			permits++
		default:
			return
		}
	}
}

func (s *server) P() {
	answer := s.boxes(1)
	s.box.Send(Message{Kind: Take, Answer: answer})
	answer.Receive()
}

func (s *server) V() { s.box.Send(Message{Kind: Give}) }
