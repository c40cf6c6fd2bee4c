"""The bully algorithm, broken: nobody waits for answers, and a leader never gives way."""
import json, sys

ANSWER, ALIVE, DEAD = 100, 50, 300  # milliseconds: for an answer, between signs of life, until it is dead
me, nodes, leader = None, [], None

def say(dest, **body):
    print(json.dumps({"src": me, "dest": dest, "body": body}), flush=True)

def rank(node):
    return int(node[1:])

def start(timer, ms):
    say("timer", type="set", id=timer, min_ms=ms)

def elect():
    for node in nodes:
        if rank(node) > rank(me):
            say(node, type="election")
    start("answer", 0)

def follow(node):
    global leader
    if leader != node:
        leader = node
        say("c0", type="elected", leader=node)
    start("alive", ALIVE) if node == me else start("dead", DEAD)

for line in sys.stdin:
    message = json.loads(line)
    src, body = message["src"], message["body"]
    kind = body["type"]
    if kind == "init":
        me, nodes = body["node_id"], sorted(body["node_ids"], key=rank)
        say("c0", type="init_ok", in_reply_to=body["msg_id"])
        bounded = ["no-loss", "no-pause", "timing"]
        say("c0", type="declare", elects=True, highest=True, overlap_ms=ANSWER, grace_ms=500,
            safe=bounded, live=bounded,
            kinds={"election": {}, "ok": {}, "coordinator": {}, "alive": {"heartbeat": True}})
        start("dead", DEAD)  # somebody may lead who has not heard of this node
    elif kind == "campaign":
        elect()
    elif kind == "election":
        say(src, type="ok")
        elect()
    elif kind == "ok":
        say("timer", type="cancel", id="answer")
        start("dead", DEAD)
    elif kind in ("coordinator", "alive"):
        if rank(src) > rank(me) and leader != me:
            follow(src)
        elif leader != me:
            elect()
    elif kind == "timer" and body["id"] == "dead":
        elect()
    elif kind == "timer" and (body["id"] == "answer" or leader == me):
        for node in nodes:
            if rank(node) < rank(me):
                say(node, type="alive" if leader == me else "coordinator")
        follow(me)
