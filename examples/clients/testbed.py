"""What the clients of this folder share: the lines of docs/foreign.md for a lock or an elector."""
import importlib, json, os, queue, sys, threading, traceback

out = os.fdopen(os.dup(1), "w")  # for lines alone: what else is printed goes to standard error
os.dup2(2, 1)
mutex, calls, me, inside, losses, latest = threading.Lock(), queue.SimpleQueue(), None, None, 0, 0
waits = None  # the lock for which the client waits
resign = None  # called when an elector is to leave in order

def say(type, **body):
    with mutex:
        out.write(json.dumps({"src": me, "dest": "c0", "body": {"type": type, **body}}) + "\n")
        out.flush()

def read(work, declares):
    """Starts work(options) once the servers run: when only the declaration is wanted, there are none."""
    global me
    for line in sys.stdin:
        body = json.loads(line)["body"]
        if body["type"] in ("cancel", "leave") and hasattr(waits, "cancel"):
            waits.cancel()
        if body["type"] == "cancel":
            continue
        if body["type"] != "init":
            calls.put(body)
            continue
        me = body["node_id"]
        say("declare", **declares)
        say("init_ok", in_reply_to=body["msg_id"])
        if body["options"]["servers"]:
            threading.Thread(target=work, args=(body["options"],), daemon=True).start()
    os._exit(0)

def serve(lock, kind, to):
    global inside, waits
    if kind == "request":
        before, waits = losses, lock
        fence, waits = lock.acquire(), None
        if fence is False:
            raise TimeoutError("the lock was not acquired")
        say("entered", in_reply_to=to, fence=fence if type(fence) is int else 0)
        inside = to
        if losses > before:  # it may have been lost before this client was inside
            lost()
    elif kind == "leave":
        try:
            if inside is not None:
                lock.release()
        finally:
            say("leave_ok", in_reply_to=to)
    elif kind == "release" or inside == to:
        inside = None
        lock.release()
        if kind == "release":
            say("release_ok", in_reply_to=to)

def lock(open, **declares):
    """Serves the lock that open(options) returns. Its acquire may return a fence number; False: it is refused.
    With cancels=True its cancel, in another thread, makes acquire fail, and the client has given up."""
    def work(options):
        lock = None
        while body := calls.get():
            kind, to = body["type"], body["msg_id"]
            try:
                lock = lock or open(options)
                serve(lock, kind, to)
            except Exception as error:  # of a request: it comes again; of a release: the lock was lost before
                traceback.print_exc()
                if kind not in ("lost", "leave"):
                    say("error", in_reply_to=to, code=11 if kind == "request" else 1000, text=repr(error))
    read(work, {"leaves": True, **declares})

def lost():
    """Has the client leave that is inside, since the library says that its lock is lost."""
    global losses
    losses += 1
    if (to := inside) is not None:
        calls.put({"type": "lost", "msg_id": to})
        say("revoked", in_reply_to=to)

def elect(stand, **declares):
    """Stands for election: stand(name, options) calls elected, and sets resign."""
    def work(options):
        threading.Thread(target=stand, args=(me, options), daemon=True).start()
        while body := calls.get():
            if body["type"] == "leave":
                if resign:
                    resign()
                say("leave_ok", in_reply_to=body["msg_id"])
    read(work, {"elects": True, "leaves": True, **declares})

def elected(leader, term=0):
    """Says whom this node follows; None: nobody."""
    global latest
    latest = max(latest, term)
    say("elected", leader=leader, term=latest)

def need(module, package):
    """Returns a module of a Debian package, which only /usr/bin/python3 may find."""
    try:
        return importlib.import_module(module)
    except ImportError:
        sys.exit(f"{sys.argv[0]} needs {module}: apt-get install {package}, and run it by /usr/bin/python3")

def secret(options, name="password"):
    """Returns what the servers of the run demand, as a password; empty: servers of your own demand nothing."""
    if "secrets" not in options:
        return ""
    with open(os.path.join(options["secrets"], name)) as file:
        return file.read()
