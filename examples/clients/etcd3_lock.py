"""python-etcd3's lock, not renewed: bench --service etcd --client '/usr/bin/python3 examples/clients/etcd3_lock.py'"""
import testbed

etcd3 = testbed.need("etcd3", "python3-etcd3")

class Lock:
    def __init__(self, options):
        host, port = options["servers"][0].split(":")
        secrets = options.get("secrets")  # servers of your own demand nothing
        cert, key = (secrets and f"{secrets}/{name}" for name in ("cert.pem", "key.pem"))
        self.client = etcd3.client(host, int(port), ca_cert=cert, cert_cert=cert, cert_key=key, timeout=2)
        self.client.status()  # an error ends the run before it begins
        self.name, self.ttl = options["prefix"] + "lock", round(options["ttl_ms"] / 1000)

    def acquire(self):
        self.lock = self.client.lock(self.name, ttl=self.ttl)
        if not self.lock.acquire(timeout=None):
            return False
        owner, key = self.client.get(self.lock.key)
        if owner != self.lock.uuid:
            raise KeyError("the lock was lost before")
        return key.create_revision  # the fence

    def release(self):
        if not self.lock.release():
            raise KeyError("the lock was lost before")

testbed.lock(Lock, safe=["no-pause", "timing", "no-loss", "no-amnesia", "servers-up"],
             live=["no-loss", "servers-up"], grace_ms=9000, fenced=True)
