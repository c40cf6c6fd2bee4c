# An elector that rests on the failure detector of the testbed: the lowest node leads that is up, as a closed
# connection tells in many programs. "unaware" as its argument declares no detector, so that nobody takes over.
import json, sys

me, nodes, down, leader = None, [], set(), None


def say(dest, **body):
    print(json.dumps({"src": me, "dest": dest, "body": body}), flush=True)


def follow():
    global leader
    lowest = next(n for n in nodes if n not in down)
    if leader != lowest:
        leader = lowest
        say("c0", type="elected", leader=leader)


for line in sys.stdin:
    b = json.loads(line)["body"]
    if b["type"] == "init":
        me, nodes = b["node_id"], b["node_ids"]
        say("c0", type="declare", elects=True, detector="unaware" not in sys.argv, overlap_ms=1000, grace_ms=1000,
            kinds={})
        say("c0", type="init_ok", in_reply_to=b["msg_id"])
    elif b["type"] in ("campaign", "down", "up"):
        if b["type"] == "down":
            down.add(b["node"])
        elif b["type"] == "up":
            down.discard(b["node"])
        follow()
