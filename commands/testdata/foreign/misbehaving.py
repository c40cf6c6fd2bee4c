"""A lock that grants at once, and misbehaves in the way that its argument names."""
import errno, json, os, signal, sys

how, me = sys.argv[1], None

def say(dest, **body):
    print(json.dumps({"src": me, "dest": dest, "body": body}), flush=True)

print("the last words of", how, file=sys.stderr, flush=True)
for line in sys.stdin:
    body = json.loads(line)["body"]
    if body["type"] == "init":
        me = body["node_id"]
        if how == "no init_ok":
            say("c0", type="hello")
        say("c0", type="init_ok", in_reply_to=body["msg_id"])
        if how == "bad declaration":
            say("c0", type="declare", safe=["luck"])
        if how == "elects":
            say("c0", type="declare", elects=True)
    elif body["type"] == "request":
        if how == "dies":
            sys.exit(7)
        if how == "finds no space":
            raise OSError(errno.ENOSPC, "No space left on device")
        if how == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "enters twice":
            say("c0", type="entered", in_reply_to=body["msg_id"])
        say("c0", type="entered", in_reply_to=body["msg_id"])
    elif body["type"] == "release":
        say("c0", type="release_ok", in_reply_to=body["msg_id"])
