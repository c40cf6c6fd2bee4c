"""A lock whose server is node 0. It gives leases of 20 ms, with rising numbers or always the same.

Who asks while another has the lease is refused. Who has lost it is told so, and goes on inside, or
leaves before another gets it."""
import json, sys

LEASE = 20
how, numbers = sys.argv[1:]  # stays, leaves, silent; rising, same
me = asked = holder = None
fence = lives = 0

def say(dest, **body):
    print(json.dumps({"src": me, "dest": dest, "body": body}), flush=True)

def serve(kind, of):
    global holder, fence, lives
    if kind == "ask" and holder is None:
        holder, lives = of, lives + 1
        fence += 1 if numbers == "rising" else fence == 0
        say("timer", type="set", id=lives, min_ms=LEASE)
        say(of, type="yours", fence=fence)
    elif kind == "ask":
        say(of, type="no")
    elif kind == "done" and holder == of:
        holder = None
        say("timer", type="cancel", id=lives)

for line in sys.stdin:
    message = json.loads(line)
    body, src = message["body"], message["src"]
    kind = body["type"]
    if kind == "init":
        me = body["node_id"]
        say("c0", type="init_ok", in_reply_to=body["msg_id"])
        say("c0", type="declare", safe=["timing"], live=["timing"], fenced=True)
    elif kind == "request":
        asked = body["msg_id"]
        say("n0", type="ask")
    elif kind == "release":
        say("n0", type="done")
        say("c0", type="release_ok", in_reply_to=body["msg_id"])
    elif kind in ("ask", "done"):
        serve(kind, src)
    elif kind == "yours":
        say("c0", type="entered", in_reply_to=asked, fence=body["fence"])
    elif kind == "no":
        say("c0", type="error", in_reply_to=asked, code=11, text="somebody has it")
    elif kind == "timer" and body["id"] == lives and holder:
        say(holder, type="lost")
        if how != "leaves":
            holder = None
    elif kind == "lost" and how != "silent":
        say("c0", type="revoked", in_reply_to=asked, stays=how == "stays")
        if how == "leaves":
            say("n0", type="done")
