# A lock of permissions whose node n2 never gives its own. Signs of life are no answers.
import json, sys

me, peers, waiting, asked = None, [], set(), None


def say(dest, **body):
    print(json.dumps({"src": me, "dest": dest, "body": body}), flush=True)


for line in sys.stdin:
    m = json.loads(line)
    b = m["body"]
    if b["type"] == "init":
        me = b["node_id"]
        peers = [n for n in b["node_ids"] if n != me]
        say("c0", type="declare", kinds={"ask": {}, "yes": {"permit": True}, "alive": {"heartbeat": True}}, live=[],
            grace_ms=100)
        say("c0", type="init_ok", in_reply_to=b["msg_id"])
    elif b["type"] == "request":
        waiting, asked = set(peers), b["msg_id"]
        for peer in peers:
            say(peer, type="ask")
    elif b["type"] == "ask":
        say(m["src"], type="alive" if me == "n2" else "yes")
    elif b["type"] == "yes":
        waiting.discard(m["src"])
