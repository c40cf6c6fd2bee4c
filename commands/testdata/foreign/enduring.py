"""A lock of one node that counts its lives on the disk, and notes in a file when it stood still."""
import json, sys, threading, time

def watch(path):
    while True:
        before = time.monotonic()
        time.sleep(0.02)
        if time.monotonic() - before > 0.3:
            open(path, "w").close()

threading.Thread(target=watch, args=(sys.argv[1],), daemon=True).start()

def say(dest, **body):
    print(json.dumps({"src": "n0", "dest": dest, "body": body}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    body = message["body"]
    kind = body["type"]
    if kind == "init":
        life = body["options"]["incarnation"]
        say("c0", type="init_ok", in_reply_to=body["msg_id"])
        say("c0", type="declare", live=[], grace_ms=5000)
        say("disk", type="read", msg_id=1, key="lives")
    elif message["src"] == "disk" and kind != "write_ok":
        lives = body["value"] if kind == "read_ok" else 0
        if lives != life:
            sys.exit("this is life %d, and the disk knows of %d" % (life, lives))
        say("disk", type="write", msg_id=2, key="lives", value=lives + 1)
    elif kind == "request":
        asked = body["msg_id"]
        say("timer", type="set", id="soon", min_ms=1, max_ms=2)
    elif kind == "timer":
        say("c0", type="entered", in_reply_to=asked)
    elif kind == "release":
        say("c0", type="release_ok", in_reply_to=body["msg_id"])
