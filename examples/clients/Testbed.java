import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** What clients in Java share: the lines of docs/foreign.md for a lock. */
public class Testbed {
    /** A lock, which one thread uses. Its acquire returns a fence number, or 0; an interrupt makes it fail. */
    public interface Lock {
        long acquire() throws Exception;

        void release() throws Exception;
    }

    /** Returns a lock, by the options that the node gives. */
    public interface Open {
        Lock open(JsonNode options) throws Exception;
    }

    public static String me;
    static final ObjectMapper json = new ObjectMapper();
    static final ExecutorService worker = Executors.newSingleThreadExecutor();
    static Lock lock;
    static Thread waits; // in acquire
    static long asked; // the request for which it waits
    static long inside; // the request of the client that is inside; 0: none
    static long cancelled; // the latest request that was cancelled
    static boolean leaving;
    static boolean doubt; // whether the library said since the request that it may have lost the lock

    /** Serves the lock that open returns once it is connected. Declares is what the client promises. */
    public static void lock(Open open, Map<String, ?> declares) throws Exception {
        for (Scanner in = new Scanner(System.in); in.hasNextLine();) {
            JsonNode body = json.readTree(in.nextLine()).get("body");
            String type = body.get("type").asText();
            long to = body.path("msg_id").asLong();
            if (type.equals("init")) {
                me = body.get("node_id").asText();
                JsonNode options = body.get("options");
                if (options.get("servers") == null) {
                    System.err.println("this is the client of a service: write --service NAME --client CMD");
                    Runtime.getRuntime().halt(1);
                }
                say("declare", 0, declares);
                try { // there are no servers when only the declaration is wanted
                    lock = options.get("servers").isEmpty() ? null : open.open(options);
                    say("init_ok", to, Map.of());
                } catch (Exception e) {
                    e.printStackTrace();
                    say("error", to, Map.of("code", 13, "text", e.toString()));
                }
                continue;
            }
            giveUp(type, body.path("in_reply_to").asLong());
            if (!type.equals("cancel")) {
                worker.submit(() -> serve(type, to));
            }
        }
        Runtime.getRuntime().halt(0); // the session ends by itself, as that of a process that dies
    }

    static synchronized void say(String type, long to, Map<String, ?> more) {
        Map<String, Object> body = new HashMap<>(more);
        body.put("type", type);
        body.put("in_reply_to", to);
        System.out.println(json.valueToTree(Map.of("src", me, "dest", "c0", "body", body)).toString());
    }

    /** Ends the wait of a client that cancels its request or leaves. */
    static synchronized void giveUp(String type, long request) {
        leaving |= type.equals("leave");
        if (type.equals("cancel")) {
            cancelled = request;
        }
        if (waits != null && (leaving || cancelled == asked)) {
            waits.interrupt();
        }
    }

    static void serve(String type, long to) {
        try {
            if (type.equals("request")) {
                enter(to);
            } else if (type.equals("lost") || left() || type.equals("release")) {
                lock.release();
            }
            if (type.equals("release")) {
                say("release_ok", to, Map.of());
            }
        } catch (Exception e) { // of a request: it comes again; of a release: the lock was lost before
            e.printStackTrace();
            if (type.equals("request") || type.equals("release")) {
                say("error", to, Map.of("code", type.equals("request") ? 11 : 1000, "text", e.toString()));
            }
        }
        if (type.equals("leave")) {
            say("leave_ok", to, Map.of());
        }
    }

    static void enter(long to) throws Exception {
        long fence = 0;
        begin(to);
        try {
            fence = lock.acquire();
        } finally {
            synchronized (Testbed.class) {
                waits = null;
                Thread.interrupted();
            }
        }
        synchronized (Testbed.class) {
            say("entered", to, Map.of("fence", fence));
            inside = to;
            if (doubt) { // it may have been lost before the client was inside
                lost();
            }
        }
    }

    static synchronized void begin(long request) throws InterruptedException {
        if (leaving || cancelled == request) {
            throw new InterruptedException("the client gave up");
        }
        asked = request;
        doubt = false;
        waits = Thread.currentThread();
    }

    /** Reports whether the client was inside. It has left. */
    static synchronized boolean left() {
        boolean was = inside > 0;
        inside = 0;
        return was;
    }

    /** Says that what the library grants from now on is not lost. */
    public static synchronized void found() {
        doubt = false;
    }

    /** Has the client leave that is inside, since the library says that its lock may be lost. */
    public static synchronized void lost() {
        doubt = true;
        long to = inside;
        if (left()) {
            worker.submit(() -> serve("lost", to));
            say("revoked", to, Map.of());
        }
    }
}
