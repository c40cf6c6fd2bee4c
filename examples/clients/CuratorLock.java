import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;

/**
 * Curator's InterProcessMutex: javac -cp '/usr/share/java/*' -d build examples/clients/*.java, and then bench
 * --service zookeeper --client 'java -cp build:/usr/share/java/* CuratorLock'.
 */
public class CuratorLock {
    static final ACLProvider ours = new ACLProvider() {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }
    };

    static Testbed.Lock open(JsonNode options) throws Exception {
        StringBuilder servers = new StringBuilder();
        options.get("servers").forEach(at -> servers.append(servers.length() > 0 ? "," : "").append(at.asText()));
        int session = options.get("ttl_ms").asInt();
        CuratorFrameworkFactory.Builder made = CuratorFrameworkFactory.builder().connectString(servers.toString())
            .sessionTimeoutMs(session).connectionTimeoutMs(session).retryPolicy(new RetryForever(50));
        if (options.has("secrets")) { // servers of your own demand none
            String password = Files.readString(Path.of(options.get("secrets").asText(), "password"));
            made.authorization("digest", ("turnstile:" + password).getBytes()).aclProvider(ours);
        }
        CuratorFramework client = made.build();
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state.isConnected()) {
                Testbed.found();
            } else { // it knows nothing of its lock
                Testbed.lost();
            }
        });
        client.start();
        if (options.get("incarnation").asInt() == 0 && !client.blockUntilConnected(9, TimeUnit.SECONDS)) {
            throw new IOException("no connection to " + servers); // servers may be down when a node is restarted
        }
        InterProcessMutex mutex = new InterProcessMutex(client, "/" + options.get("prefix").asText() + "lock") {
            @Override
            protected byte[] getLockNodeBytes() { // by which a fault finds the node of this client
                return Testbed.me.getBytes();
            }
        };
        return new Testbed.Lock() {
            public long acquire() throws Exception {
                mutex.acquire();
                return 0;
            }

            public void release() throws Exception {
                mutex.release();
            }
        };
    }

    public static void main(String[] args) throws Exception {
        Testbed.lock(CuratorLock::open, Map.of("safe", List.of("no-pause", "timing", "no-amnesia"),
            "live", List.of("no-loss", "server-majority"), "cancels", true, "leaves", true, "grace_ms", 9000));
    }
}
