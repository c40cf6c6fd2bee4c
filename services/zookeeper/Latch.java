import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.SessionConnectionStateErrorPolicy;
import org.apache.curator.framework.state.StandardConnectionStateErrorPolicy;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/**
 * One client of Curator's LeaderLatch. It writes a line whenever something changes: follows, the id of the one
 * that leads and the czxid of its node, or nobody. That it leads itself is what the library says. It looks 20
 * times a second who else does. When it is connected, it says so too.
 */
public class Latch {
    static CuratorFramework client;
    static LeaderLatch latch;
    static String path;
    static String said = "nobody";
    static int changes; // of what is known of the leader

    /** The czxids of nodes that this client has had, by their paths. */
    static final Map<String, Long> czxids = new ConcurrentHashMap<>();
    static final ExecutorService lookups = Executors.newSingleThreadExecutor();

    static synchronized void say(String line) {
        if (!line.equals(said)) {
            said = line;
            System.out.println(line);
        }
    }

    static synchronized void sayIf(int unchanged, String line) {
        if (unchanged == changes) {
            say(line);
        }
    }

    static synchronized int change() {
        return ++changes;
    }

    static synchronized int seen() {
        return changes;
    }

    public static void main(String[] args) throws Exception {
        path = args[3];
        client = Clients.of(args[0], args[1], args[2])
            .connectionStateErrorPolicy(args[5].equals("expired") ? new SessionConnectionStateErrorPolicy()
                : new StandardConnectionStateErrorPolicy())
            .build();
        latch = new LeaderLatch(client, path, args[4]);
        client.getConnectionStateListenable().addListener((c, state) -> connection(state));
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                leads();
            }

            @Override
            public void notLeader() {
                change();
                say("nobody");
            }
        });
        client.start();
        latch.start();
        Thread watch = new Thread(Latch::watch);
        watch.setDaemon(true);
        watch.start();
        if (System.in.read() >= 0) { // the client is to leave
            latch.close();
            client.close();
        }
        Runtime.getRuntime().halt(0); // the session ends by itself, as that of a process that dies
    }

    static void connection(ConnectionState state) {
        if (state.isConnected()) {
            System.out.println("connected");
        } else if (!latch.hasLeadership()) {
            change();
            say("nobody");
        }
    }

    /** Says that this client leads, once it knows the czxid of its node. */
    static void leads() {
        int change = change();
        String node = latch.getOurPath();
        Long known = czxids.get(node);
        if (known != null) {
            say("follows " + latch.getId() + " " + known);
            return;
        }
        lookups.submit(() -> {
            Stat stat = client.checkExists().forPath(node);
            if (stat != null) {
                czxids.put(node, stat.getCzxid());
                sayIf(change, "follows " + latch.getId() + " " + stat.getCzxid());
            }
            return null;
        });
    }

    static void watch() {
        for (;;) {
            try {
                Thread.sleep(50);
                int unchanged = seen();
                if (!latch.hasLeadership()) {
                    String found = look();
                    if (!latch.hasLeadership()) {
                        sayIf(unchanged, found);
                    }
                }
            } catch (Exception e) {
                // it looks again
            }
        }
    }

    /** Says who leads, by the lowest node. One of this client that does not lead is nobody. */
    static String look() throws Exception {
        List<String> all;
        Stat stat = new Stat();
        try {
            all = client.getChildren().forPath(path);
            if (all.isEmpty()) {
                return "nobody";
            }
            // A node is named latch- and its number, which is as long for all.
            String first = all.stream().min(Comparator.comparing(n -> n.substring(n.lastIndexOf('-')))).get();
            String id = new String(client.getData().storingStatIn(stat).forPath(path + "/" + first));
            return id.equals(latch.getId()) ? "nobody" : "follows " + id + " " + stat.getCzxid();
        } catch (KeeperException.NoNodeException e) {
            return "nobody";
        }
    }
}
