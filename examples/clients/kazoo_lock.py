"""The Lock of kazoo: bench --service zookeeper --client '/usr/bin/python3 examples/clients/kazoo_lock.py'"""
import sys, testbed
try:
    from kazoo.client import KazooClient, KazooState
    from kazoo.security import make_acl
except ImportError:
    sys.exit("kazoo_lock.py needs kazoo: apt-get install python3-kazoo, and /usr/bin/python3")

class Lock:
    def __init__(self, options):
        self.client = KazooClient(",".join(options["servers"]), timeout=options["ttl_ms"] / 1000,
                                  auth_data=[("digest", "turnstile:" + testbed.secret(options))],
                                  default_acl=[make_acl("auth", "", all=True)])
        self.client.add_listener(self.hear)
        self.client.start()
        self.path = "/" + options["prefix"] + "lock"

    def hear(self, state):  # a client that is disconnected knows nothing of its lock
        if state != KazooState.CONNECTED:
            testbed.lost()

    def acquire(self):
        self.lock = self.client.Lock(self.path)
        return self.lock.acquire() and int(self.lock.node[-10:]) + 1  # the fence: the number of its node

    def release(self):
        self.lock.release()

testbed.lock(Lock, safe=["no-pause", "timing", "no-amnesia"], live=["no-loss", "server-majority"], fenced=True,
             grace_ms=9000)
