"""The Lock of redis-py, which is not renewed: bench --service redis --client '/usr/bin/python3 .../redis_lock.py'"""
import testbed

redis = testbed.need("redis", "python3-redis")

def connect(options):
    host, port = options["servers"][0].split(":")
    server = redis.Redis(host, int(port), password=testbed.secret(options) or None)
    return server.lock(options["prefix"] + "lock", timeout=options["ttl_ms"] / 1000, sleep=0.005)

testbed.lock(connect, safe=["no-pause", "timing", "no-amnesia", "servers-up"], live=["no-loss", "servers-up"],
             grace_ms=5000)
