"""Suzuki and Kasami's token algorithm (ACM TOCS 3(4), 1985), as a foreign program of Turnstile:

    bin/orchestrator bench --foreign 'python3 examples/python/suzuki_kasami.py' -n 3

Every node numbers its requests and sends each to all others. The node that has the token passes it to the next
node in the queue of the token. The token remembers, for each node, which of its requests was the last to be served.
"""
import json
import sys

me = None        # the name of this node, such as "n0"
nodes = []       # the names of all nodes, this one included
requested = {}   # RN of the paper: by node, the highest number of its requests that we know of
token = None     # while it is here: {"served": LN of the paper, "queue": the nodes that wait for it}
inside = False   # our client has the lock
asked = None     # msg_id of the request of our client that waits


def send(dest, **body):
    print(json.dumps({"src": me, "dest": dest, "body": body}), flush=True)


def enter():
    global asked, inside
    send("c0", type="entered", in_reply_to=asked)
    asked, inside = None, True


def waits(node):
    """Whether the latest known request of the node is the one after the last that was served."""
    return requested[node] == token["served"][node] + 1


def pass_token(node):
    global token
    send(node, type="token", token=token)
    token = None


def on_init(body):
    global me, nodes, requested, token
    me, nodes = body["node_id"], body["node_ids"]
    requested = {node: 0 for node in nodes}
    if me == nodes[0] and body["options"]["incarnation"] == 0:  # a restarted node makes no second token
        token = {"served": {node: 0 for node in nodes}, "queue": []}
    send("c0", type="declare", kinds={"ask": {}, "token": {"token": True}},
         safe=["no-duplication"], live=["no-loss", "no-crash"])
    send("c0", type="init_ok", in_reply_to=body["msg_id"])


def on_request(body):
    global asked
    asked = body["msg_id"]
    requested[me] += 1
    if token is not None:
        enter()
        return
    for node in nodes:
        if node != me:
            send(node, type="ask", number=requested[me])


def on_ask(src, body):
    requested[src] = max(requested[src], body["number"])
    if token is not None and not inside and waits(src):
        pass_token(src)


def on_token(body):
    global token
    token = body["token"]
    enter()


def on_release(body):
    global inside
    inside = False
    token["served"][me] = requested[me]
    for node in nodes:
        if node != me and node not in token["queue"] and waits(node):
            token["queue"].append(node)
    if token["queue"]:
        pass_token(token["queue"].pop(0))
    send("c0", type="release_ok", in_reply_to=body["msg_id"])


for line in sys.stdin:
    message = json.loads(line)
    kind, body = message["body"]["type"], message["body"]
    if kind == "init":
        on_init(body)
    elif kind == "request":
        on_request(body)
    elif kind == "ask":
        on_ask(message["src"], body)
    elif kind == "token":
        on_token(body)
    elif kind == "release":
        on_release(body)
