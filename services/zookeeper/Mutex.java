import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.data.Stat;

/**
 * One client of Curator's InterProcessMutex. It reads lines, acquire and release with a number each, and does
 * them one after the other; cancel with the number of one ends it early. It answers with a line each: granted
 * and the czxid, released, or failed and why. In between it writes suspended, lost and connected, as Curator
 * says that the connection is.
 */
public class Mutex {
    /** Knows its node, which InterProcessMutex tells its heirs alone, and writes a name into it. */
    static final class Lock extends InterProcessMutex {
        private final String name;

        Lock(CuratorFramework client, String path, String name) {
            super(client, path);
            this.name = name;
        }

        @Override
        protected byte[] getLockNodeBytes() {
            return name.getBytes();
        }

        String node() {
            return getLockPath();
        }
    }

    static final PrintStream out = new PrintStream(System.out, true);

    static synchronized void say(String line) {
        out.println(line.replace('\n', ' '));
    }

    public static void main(String[] args) throws Exception {
        CuratorFramework client = Clients.of(args[0], args[1], args[2]).build();
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                say(state.name().toLowerCase());
            } else if (state.isConnected()) {
                say("connected");
            }
        });
        client.start();

        Lock lock = new Lock(client, args[3], args[4]);
        worker = new Thread(() -> work(client, lock));
        worker.setDaemon(true);
        worker.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("cancel")) {
                cancel(words[1]);
            } else {
                lines.add(words);
            }
        }
        Runtime.getRuntime().halt(0); // the session ends by itself, as that of a process that dies
    }

    static final BlockingQueue<String[]> lines = new LinkedBlockingQueue<>();
    static Thread worker;
    static String doing = ""; // the number of the line that the worker does; empty: none

    static synchronized void cancel(String number) {
        if (doing.equals(number)) {
            worker.interrupt();
        }
    }

    /** Begins the line of a number or, if that is empty, ends the one before. */
    static synchronized void begin(String number) {
        doing = number;
        Thread.interrupted();
    }

    static void work(CuratorFramework client, Lock lock) {
        for (;;) {
            String answer;
            try {
                String[] words = lines.take();
                begin(words[1]);
                answer = words[0].equals("release") ? release(lock) : acquire(client, lock);
            } catch (Throwable e) {
                answer = "failed " + e;
            }
            begin("");
            say(answer);
        }
    }

    static String release(Lock lock) throws Exception {
        lock.release();
        return "released";
    }

    static String acquire(CuratorFramework client, Lock lock) throws Exception {
        lock.acquire();
        Stat stat = null;
        try {
            stat = client.checkExists().forPath(lock.node());
        } finally {
            if (stat == null) {
                Thread.interrupted();
                lock.release();
            }
        }
        return stat == null ? "failed the node of this client is gone" : "granted " + stat.getCzxid();
    }
}
