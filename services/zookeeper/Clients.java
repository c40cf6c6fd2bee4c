import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;

/** What the clients of Curator have in common. */
public class Clients {
    /**
     * Begins a client of servers, with a session timeout in ms. It shows the password in a file, and what it makes
     * is only for clients that show it; without the name of a file, for all.
     */
    static CuratorFrameworkFactory.Builder of(String servers, String session, String file) throws IOException {
        CuratorFrameworkFactory.Builder client = CuratorFrameworkFactory.builder()
            .connectString(servers)
            .sessionTimeoutMs(Integer.parseInt(session))
            .connectionTimeoutMs(Integer.parseInt(session))
            .retryPolicy(new RetryForever(50));
        if (file.isEmpty()) {
            return client;
        }
        String password = Files.readString(Path.of(file));
        return client.authorization("digest", ("turnstile:" + password).getBytes()).aclProvider(new ACLProvider() {
            @Override
            public List<ACL> getDefaultAcl() {
                return ZooDefs.Ids.CREATOR_ALL_ACL;
            }

            @Override
            public List<ACL> getAclForPath(String path) {
                return ZooDefs.Ids.CREATOR_ALL_ACL;
            }
        });
    }
}
