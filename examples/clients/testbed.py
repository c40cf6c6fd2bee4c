"""What the clients of this folder share: the lines of docs/foreign.md for a lock or an elector."""
import json, os, queue, sys, threading, traceback

out = os.fdopen(os.dup(1), "w")  # for lines alone: what else is printed goes to standard error
os.dup2(2, 1)
mutex, calls, me, inside = threading.Lock(), queue.SimpleQueue(), None, None

def say(type, **body):
    with mutex:
        out.write(json.dumps({"src": me, "dest": "c0", "body": {"type": type, **body}}) + "\n")
        out.flush()

def read(work, declares):
    global me
    for line in sys.stdin:
        body = json.loads(line)["body"]
        if body["type"] != "init":
            calls.put(body)
            continue
        me = body["node_id"]
        say("declare", **declares)
        say("init_ok", in_reply_to=body["msg_id"])
        if body["options"]["servers"]:  # none before the run, when only the declaration is wanted
            threading.Thread(target=work, args=(body["options"],), daemon=True).start()
    os._exit(0)

def lock(open, **declares):
    """Serves a lock: open(options) returns it. Its acquire may return a fence number; False: it is refused."""
    def work(options):
        global inside
        lock = None
        while body := calls.get():
            kind, to = body["type"], body["msg_id"]
            try:
                if kind == "request":
                    lock = lock or open(options)
                    if (fence := lock.acquire()) is False:
                        raise TimeoutError("the lock was not acquired")
                    inside = to
                    say("entered", in_reply_to=to, fence=fence if type(fence) is int else 0)
                elif kind == "release" or inside == to:
                    inside = None
                    lock.release()
                    if kind == "release":
                        say("release_ok", in_reply_to=to)
            except Exception as error:  # of a request: it comes again; of a release: the lock was lost before
                traceback.print_exc()
                if kind != "lost":
                    say("error", in_reply_to=to, code=11 if kind == "request" else 1000, text=repr(error))
    read(work, declares)

def lost():
    """Makes the client leave that is inside: the library says that its lock is lost."""
    if (to := inside) is not None:
        calls.put({"type": "lost", "msg_id": to})
        say("revoked", in_reply_to=to)

def elect(stand, **declares):
    """Stands for election: stand(name, options) calls say("elected", leader=NAME or None, term=NUMBER)."""
    read(lambda options: stand(me, options), {"elects": True, **declares})

def secret(options, name="password"):
    with open(os.path.join(options["secrets"], name)) as file:
        return file.read()
