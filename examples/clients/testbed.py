"""What the clients of this folder share: the lines of docs/foreign.md for a lock or an elector."""
import importlib, json, os, queue, sys, threading, traceback

out = os.fdopen(os.dup(1), "w")  # for lines alone: what else is printed goes to standard error
os.dup2(2, 1)
mutex, calls, me, inside, latest = threading.Lock(), queue.SimpleQueue(), None, None, 0
waits, asked, cancelled, leaving = None, None, None, False  # the lock that is waited for, for which request
doubt = False  # whether the library said since the request that it may have lost the lock
resign = None  # called when an elector is to leave in order

def say(type, **body):
    with mutex:
        out.write(json.dumps({"src": me, "dest": "c0", "body": {"type": type, **body}}) + "\n")
        out.flush()

def read(start, declares):
    """Calls start(options) when the servers run: when only the declaration is wanted, there are none."""
    global me, cancelled, leaving
    for line in sys.stdin:
        body = json.loads(line)["body"]
        kind = body["type"]
        if kind == "init":
            me = body["node_id"]
            if "servers" not in body["options"]:
                sys.exit("this is the client of a service: write --service NAME --client CMD")
            say("declare", **declares)
            try:
                if body["options"]["servers"]:
                    start(body["options"])
                say("init_ok", in_reply_to=body["msg_id"])
            except Exception as error:
                fail(error, in_reply_to=body["msg_id"])
            continue
        leaving = leaving or kind == "leave"
        if kind == "cancel":
            cancelled = body["in_reply_to"]
        else:
            calls.put(body)
        if kind in ("cancel", "leave") and gives_up() and hasattr(waits, "cancel"):
            waits.cancel()
    os._exit(0)

def fail(error, **to):
    """Ends the run, since the program cannot go on."""
    traceback.print_exception(error)
    say("error", code=13, text=repr(error), **to)

def gives_up():
    """Says whether the client no longer waits for the lock."""
    return leaving or asked is not None and asked == cancelled

def serve(lock, kind, to):
    global inside, waits, asked, doubt
    if kind == "request":
        asked, doubt, waits = to, False, lock
        fence = False if gives_up() else lock.acquire()
        waits = None
        if fence is False:
            raise TimeoutError("the lock was not acquired")
        say("entered", in_reply_to=to, fence=fence if type(fence) is int else 0)
        inside = to
        if doubt:  # it may have been lost before this client was inside
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
    With cancels=True its cancel, in another thread, makes acquire end, or acquire asks gives_up()."""
    def work(options, lock):
        while body := calls.get():
            kind, to = body["type"], body["msg_id"]
            try:
                if kind != "leave":
                    lock = lock or open(options)
                serve(lock, kind, to)
            except Exception as error:  # of a request: it comes again; of a release: the lock was lost before
                traceback.print_exc()
                if kind not in ("lost", "leave"):
                    say("error", in_reply_to=to, code=11 if kind == "request" else 1000, text=repr(error))
    def start(options):  # servers may be down when a node is restarted
        now = None if options["incarnation"] else open(options)
        threading.Thread(target=work, args=(options, now), daemon=True).start()
    read(start, {"leaves": True, **declares})

def lost():
    """Has the client leave that is inside, since the library says that its lock may be lost."""
    global doubt
    doubt = True
    if (to := inside) is not None:
        calls.put({"type": "lost", "msg_id": to})
        say("revoked", in_reply_to=to)

def found():
    """Says that what the library grants from now on is not lost."""
    global doubt
    doubt = False

def elect(stand, **declares):
    """Stands for election: stand(name, options) calls elected, and sets resign."""
    def campaign(options):
        try:
            stand(me, options)
        except Exception as error:
            fail(error)
    def leave():
        while body := calls.get():
            if body["type"] == "leave":
                if resign:
                    resign()
                say("leave_ok", in_reply_to=body["msg_id"])
    def start(options):
        threading.Thread(target=campaign, args=(options,), daemon=True).start()
        threading.Thread(target=leave, daemon=True).start()
    read(start, {"elects": True, "leaves": True, **declares})

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
