package access

import (
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Service is the name of the NATS micro service that each agent is.
const Service = "turnstile-host"

// A client may answer a request that reached it on a subject on which it could not publish otherwise.
const (
	AnswerCount = 16               // times
	AnswerTime  = 10 * time.Minute // since it came
)

// permissions returns what the server lets a client do. What is not here is refused.
func permissions(i Identity) *server.Permissions {
	may := func(publish, subscribe []string) *server.Permissions {
		return &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: publish},
			Subscribe: &server.SubjectPermission{Allow: append(subscribe, i.Inbox()+".>")},
			Response:  &server.ResponsePermission{MaxMsgs: AnswerCount, Expires: AnswerTime},
		}
	}
	switch i.Role {
	case Host:
		heard := []string{"ts.host." + i.Name + ".>"}
		for _, verb := range []string{"PING", "INFO", "STATS"} {
			subject := "$SRV." + verb
			heard = append(heard, subject, subject+"."+Service, subject+"."+Service+".*")
		}
		// It asks itself whether it is there already, before it is.
		return may([]string{"ts.run.*." + i.Name, "ts.run.*.alive", "ts.host." + i.Name + ".describe"}, heard)
	case User:
		return may([]string{"ts.host.*.>", "$SRV.>"}, []string{"ts.run.>"})
	case Control:
		return may([]string{"$SRV.>"}, nil)
	}
	return may(nil, nil)
}
