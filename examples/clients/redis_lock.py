"""The Lock of redis-py, which is not renewed: bench --service redis --client '/usr/bin/python3 .../redis_lock.py'"""
import testbed

redis = testbed.need("redis", "python3-redis")

class Lock:
    def __init__(self, options):
        host, port = options["servers"][0].split(":")
        server = redis.Redis(host, int(port), password=testbed.secret(options) or None)
        server.ping()  # an error ends the run, before it has begun
        self.lock = server.lock(options["prefix"] + "lock", timeout=options["ttl_ms"] / 1000, sleep=0.005)

    def acquire(self):
        while not self.lock.acquire(blocking_timeout=0.1):
            if testbed.gives_up():
                return False

    def release(self):
        self.lock.release()

testbed.lock(Lock, safe=["no-pause", "timing", "no-amnesia", "servers-up"], live=["no-loss", "servers-up"],
             cancels=True, grace_ms=5000)
