"""A lock of one's own on Redis, with fence numbers: renewed in time, and left when a renewal fails or is late."""
import testbed, threading, time, uuid

redis = testbed.need("redis", "python3-redis")

TAKE = "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('incr', KEYS[2]) or 0"
RENEW = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('pexpire', KEYS[1], ARGV[2]) or 0"
FREE = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0"

class Lock:
    def __init__(self, options):
        host, port = options["servers"][0].split(":")
        self.ttl, self.keys = int(options["ttl_ms"]), [options["prefix"] + "lock", options["prefix"] + "fence"]
        server = redis.Redis(host, int(port), password=testbed.secret(options) or None, socket_timeout=self.ttl / 6000,
                             retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0))  # a late renewal has failed
        server.ping()  # an error ends the run before it begins
        self.take, self.renew, self.free = (server.register_script(text) for text in (TAKE, RENEW, FREE))

    def acquire(self):
        self.mine, self.left = str(uuid.uuid4()), threading.Event()
        while not (fence := self.take(self.keys, [self.mine, self.ttl])):
            if testbed.gives_up():
                return False
            time.sleep(0.005)
        threading.Thread(target=self.keep, args=(self.mine, self.left), daemon=True).start()
        return fence

    def keep(self, mine, left):
        while not left.wait(self.ttl / 3000):
            try:
                kept = self.renew(self.keys[:1], [mine, self.ttl])
            except redis.RedisError:
                kept = False
            if not kept and not left.is_set():
                return testbed.lost()

    def release(self):
        self.left.set()
        if not self.free(self.keys[:1], [self.mine]):
            raise KeyError("the lock was lost before")

testbed.lock(Lock, fenced=True, safe=["no-pause", "timing", "no-amnesia", "servers-up"],
             live=["no-loss", "servers-up"], cancels=True, grace_ms=5000)
