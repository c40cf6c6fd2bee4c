"""An advisory lock by psycopg: bench --service postgres --client '/usr/bin/python3 examples/clients/psycopg_lock.py'"""
import testbed

psycopg = testbed.need("psycopg", "python3-psycopg")

class Lock:
    def __init__(self, options):
        host, port = options["servers"][0].split(":")
        self.at = dict(host=host, port=port, user="turnstile", password=testbed.secret(options), dbname="postgres",
                       autocommit=True, connect_timeout=2, application_name=testbed.me)
        self.server = None

    def acquire(self):
        if self.server is None or self.server.closed:
            self.server = psycopg.connect(**self.at)
        self.server.execute("select pg_advisory_lock(1)")

    def release(self):
        if not self.server.execute("select pg_advisory_unlock(1)").fetchone()[0]:
            raise KeyError("the lock was lost before")

testbed.lock(Lock, safe=["no-loss", "servers-up", "no-amnesia"], live=["no-loss", "no-pause", "servers-up"],
             grace_ms=4000)
