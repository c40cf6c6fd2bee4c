"""A lock that the first node grants: a template, which takes calls from any thread."""
import json, os, queue, sys, threading

out = os.fdopen(os.dup(1), "w")  # for lines alone: what else is printed goes to standard error
os.dup2(2, 1)
sys.stdout = sys.stderr
calls = queue.SimpleQueue()  # of a function and its arguments, from any thread; None: the end
me, nodes, waiting, asked = None, [], [], None

def say(dest, **body):
    out.write(json.dumps({"src": me, "dest": dest, "body": body}) + "\n")
    out.flush()

def init(src, body):
    global me, nodes
    me, nodes = body["node_id"], body["node_ids"]
    print("this is", me)
    say("c0", type="declare", kinds={"ask": {}, "yours": {"permit": True}, "done": {}},
        safe=["no-amnesia", "no-duplication"], live=["no-loss", "no-crash"])
    say("c0", type="init_ok", in_reply_to=body["msg_id"])

def request(src, body):
    global asked
    asked = body["msg_id"]
    say(nodes[0], type="ask")

def release(src, body):
    say(nodes[0], type="done")
    say("c0", type="release_ok", in_reply_to=body["msg_id"])

def ask(src, body):
    waiting.append(src)
    if len(waiting) == 1:
        say(src, type="yours")

def done(src, body):
    waiting.pop(0)
    if waiting:
        say(waiting[0], type="yours")

def yours(src, body):
    say("c0", type="entered", in_reply_to=asked)

handlers = {f.__name__: f for f in (init, request, release, ask, done, yours)}

def read():
    for line in sys.stdin:
        message = json.loads(line)
        calls.put((handlers[message["body"]["type"]], message["src"], message["body"]))
    calls.put(None)

threading.Thread(target=read, daemon=True).start()
while call := calls.get():
    call[0](*call[1:])
