"""The Lock of kazoo: bench --service zookeeper --client '/usr/bin/python3 examples/clients/kazoo_lock.py'"""
import testbed

kazoo = testbed.need("kazoo.client", "python3-kazoo")
security = testbed.need("kazoo.security", "python3-kazoo")

class Lock:
    def __init__(self, options):
        self.client = kazoo.KazooClient(",".join(options["servers"]), timeout=options["ttl_ms"] / 1000,
                                        auth_data=[("digest", "turnstile:" + testbed.secret(options))],
                                        default_acl=[security.make_acl("auth", "", all=True)])
        self.client.add_listener(self.hear)
        self.client.start(timeout=8)
        self.path, self.lock = "/" + options["prefix"] + "lock", None

    def hear(self, state):  # a client that is disconnected knows nothing of its lock
        if state == kazoo.KazooState.CONNECTED:
            testbed.found()
        else:
            testbed.lost()

    def acquire(self):
        self.lock = self.client.Lock(self.path, testbed.me)
        if testbed.gives_up():  # it may have been cancelled before there was this lock
            return False
        return self.lock.acquire() and int(self.lock.node[-10:]) + 1  # the fence: the number of its node

    def cancel(self):
        if self.lock:
            self.lock.cancel()

    def release(self):
        self.lock.release()

testbed.lock(Lock, safe=["no-pause", "timing", "no-amnesia"], live=["no-loss", "server-majority"], fenced=True,
             cancels=True, grace_ms=9000)
