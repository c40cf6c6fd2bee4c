// Package access says who may do what on the control plane, and proves who is who.
//
// A folder of keys (Make) has an authority for TLS, a key file for each host and each user, and a key file
// for the server of the control plane. A key file has all that a client needs. Its nkey proves to the server
// who the client is. Its certificate proves to the client that the server is the right one. Serve runs the
// server, which allows each key the subjects of its role and name:
//
//	role     may publish                        may subscribe to
//	host     ts.run.*.NAME, ts.run.*.alive,     ts.host.NAME.>, $SRV.* of the service, _INBOX_h_NAME.>
//	         ts.host.NAME.describe
//	user     ts.host.*.>, $SRV.>                ts.run.>, _INBOX_u_NAME.>
//	control  $SRV.>                             _INBOX_c_control.>
//
// Each may also answer the requests that reach it, within AnswerTime and AnswerCount times.
//
// On the data plane of a run there is an authority of that run alone (NewRunAuthority).
package access
