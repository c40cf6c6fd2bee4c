"""An advisory lock by psycopg: bench --service postgres --client '/usr/bin/python3 examples/clients/psycopg_lock.py'"""
import testbed

psycopg = testbed.need("psycopg", "python3-psycopg")

class Lock:
    def __init__(self, options):
        host, port = options["servers"][0].split(":")
        self.at = dict(host=host, port=port, user="turnstile", password=testbed.secret(options), dbname="postgres",
                       autocommit=True, connect_timeout=2, application_name=testbed.me)
        self.server, self.name = psycopg.connect(**self.at), [options["prefix"] + "lock"]

    def acquire(self):
        if self.server.closed:
            self.server = psycopg.connect(**self.at)
        self.server.execute("select pg_advisory_lock(hashtext(%s))", self.name)

    def cancel(self):  # of a client that leaves
        self.server.cancel()

    def release(self):
        if not self.server.execute("select pg_advisory_unlock(hashtext(%s))", self.name).fetchone()[0]:
            raise KeyError("the lock was lost before")

testbed.lock(Lock, safe=["no-loss", "servers-up", "no-amnesia"], live=["no-loss", "no-pause", "servers-up"],
             grace_ms=4000)
