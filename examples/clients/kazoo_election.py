"""The Election of kazoo: elect --service zookeeper --client '/usr/bin/python3 examples/clients/kazoo_election.py'"""
import testbed, threading, time, traceback
kazoo = testbed.need("kazoo.client", "python3-kazoo")
security = testbed.need("kazoo.security", "python3-kazoo")

def stand(name, options):
    path, down = "/" + options["prefix"] + "election", threading.Event()  # down: the client is disconnected
    leads, left, one = threading.Event(), threading.Event(), threading.Lock()  # one at a time says who leads
    client = kazoo.KazooClient(",".join(options["servers"]), timeout=options["ttl_ms"] / 1000,
                               auth_data=[("digest", "turnstile:" + testbed.secret(options))],
                               default_acl=[security.make_acl("auth", "", all=True)])

    def hear(state):
        if state == kazoo.KazooState.CONNECTED:
            down.clear()
            return client.handler.spawn(follow)
        down.set()
        testbed.elected(None)

    def follow(_=None):  # the client whose node has the lowest number leads; who leads is told nothing of nodes
        with one:
            try:
                first = min(client.get_children(path), key=lambda node: node[-10:])
                leader = client.get(path + "/" + first)[0].decode()
            except (ValueError, kazoo.KazooException):  # nobody stands, or the node is gone: it is called again
                return
            if leader != name and not leads.is_set():
                testbed.elected(leader, int(first[-10:]) + 1)

    def lead():
        with one:
            leads.set()
            testbed.elected(name, int(election.lock.node[-10:]) + 1)
        down.wait()
        testbed.elected(None)
        leads.clear()

    def resign():
        left.set()
        down.set()
        testbed.elected(None)
        client.stop()

    client.add_listener(hear)
    client.start(timeout=3600)
    client.retry(client.ensure_path, path)
    client.ChildrenWatch(path, follow)
    election = client.Election(path, name)
    testbed.resign = resign
    while not left.is_set():
        try:
            election.run(lead)
        except kazoo.KazooException:  # its node goes with its session
            traceback.print_exc()
            time.sleep(0.05)

testbed.elect(stand, terms=True, safe=["no-pause", "timing", "no-amnesia"],
              live=["no-loss", "server-majority", "no-amnesia"], grace_ms=9000)
