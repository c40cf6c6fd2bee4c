"""The Election of kazoo: elect --service zookeeper --client '/usr/bin/python3 examples/clients/kazoo_election.py'"""
import testbed, threading
kazoo = testbed.need("kazoo.client", "python3-kazoo")
security = testbed.need("kazoo.security", "python3-kazoo")

def stand(name, options):
    path, down = "/" + options["prefix"] + "election", threading.Event()  # down: the client is disconnected
    left = threading.Event()
    client = kazoo.KazooClient(",".join(options["servers"]), timeout=options["ttl_ms"] / 1000,
                               auth_data=[("digest", "turnstile:" + testbed.secret(options))],
                               default_acl=[security.make_acl("auth", "", all=True)])

    def hear(state):
        if state == kazoo.KazooState.CONNECTED:
            return down.clear()
        down.set()
        testbed.elected(None)

    def follow(children):  # the client whose node has the lowest number leads
        try:
            first = min(children, key=lambda node: node[-10:])
            leader = client.get(path + "/" + first)[0].decode()
        except (ValueError, kazoo.KazooException):  # nobody stands, or the node is gone: it is called again
            return
        if leader != name:
            testbed.elected(leader, int(first[-10:]) + 1)

    def lead():
        testbed.elected(name, int(election.lock.node[-10:]) + 1)
        down.wait()

    def resign():
        left.set()
        down.set()
        testbed.elected(None)
        client.stop()

    client.add_listener(hear)
    client.start(timeout=3600)
    client.ensure_path(path)
    client.ChildrenWatch(path, follow)
    election = client.Election(path, name)
    testbed.resign = resign
    while not left.is_set():
        election.run(lead)

testbed.elect(stand, terms=True, safe=["no-pause", "timing", "no-amnesia"],
              live=["no-loss", "server-majority", "no-amnesia"], grace_ms=9000)
