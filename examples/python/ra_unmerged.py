"""Ricart and Agrawala's mutual exclusion, broken: a node counts its requests, and does not merge clocks. The default
load hides that, since the clocks of nodes that always request agree. The command try shows it."""
import json, sys

me, peers, clock, mine, waiting, deferred = None, [], 0, None, set(), []

def say(dest, **body):
    print(json.dumps({"src": me, "dest": dest, "body": body}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    src, body = message["src"], message["body"]
    kind = body["type"]
    if kind == "init":
        me = body["node_id"]
        peers = [node for node in body["node_ids"] if node != me]
        say("c0", type="init_ok", in_reply_to=body["msg_id"])
        say("c0", type="declare", kinds={"ra_request": {}, "ra_reply": {"permit": True}},
            safe=["no-amnesia", "no-duplication"], live=["no-loss", "no-crash"])
    elif kind == "request":
        clock += 1
        mine, asked, waiting = (clock, me), body["msg_id"], set(peers)
        for peer in peers:
            say(peer, type="ra_request", stamp=mine)
        if not peers:
            say("c0", type="entered", in_reply_to=asked)
    elif kind == "ra_request":
        if mine is not None and mine < tuple(body["stamp"]):
            deferred.append(src)
        else:
            say(src, type="ra_reply")
    elif kind == "ra_reply":
        waiting.discard(src)
        if not waiting:
            say("c0", type="entered", in_reply_to=asked)
    elif kind == "release":
        mine = None
        for peer in deferred:
            say(peer, type="ra_reply")
        deferred = []
        say("c0", type="release_ok", in_reply_to=body["msg_id"])
