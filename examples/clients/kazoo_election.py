"""The Election of kazoo: elect --service zookeeper --client '/usr/bin/python3 examples/clients/kazoo_election.py'"""
import sys, testbed, threading
try:
    from kazoo.client import KazooClient, KazooState
    from kazoo.exceptions import KazooException
    from kazoo.security import make_acl
except ImportError:
    sys.exit("kazoo_election.py needs kazoo: apt-get install python3-kazoo, and /usr/bin/python3")

def stand(name, options):
    path, down = "/" + options["prefix"] + "election", threading.Event()  # down: the client is disconnected
    client = KazooClient(",".join(options["servers"]), timeout=options["ttl_ms"] / 1000,
                         auth_data=[("digest", "turnstile:" + testbed.secret(options))],
                         default_acl=[make_acl("auth", "", all=True)])

    def hear(state):
        if state == KazooState.CONNECTED:
            down.clear()
        elif not down.is_set():
            down.set()
            testbed.elected(None)

    def follow(children):  # the client whose node has the lowest number leads
        try:
            first = min(children, key=lambda node: node[-10:])
            leader = client.get(path + "/" + first)[0].decode()
        except (ValueError, KazooException):  # nobody stands, or the node is gone: it is called again
            return
        if leader != name:
            testbed.elected(leader, int(first[-10:]) + 1)

    def lead():
        testbed.elected(name, int(election.lock.node[-10:]) + 1)
        down.wait()

    client.add_listener(hear)
    client.start(timeout=3600)
    client.ensure_path(path)
    client.ChildrenWatch(path, follow)
    while True:
        election = client.Election(path, name)
        election.run(lead)

testbed.elect(stand, terms=True, safe=["no-pause", "timing", "no-amnesia"], live=["no-loss", "server-majority"],
              grace_ms=9000)
