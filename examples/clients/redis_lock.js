// SET NX PX by node-redis: bench --service redis --client 'node examples/clients/redis_lock.js' --pass NODE_PATH
const crypto = require('crypto'), testbed = require('./testbed.js')
let redis
try {
  redis = require('redis')
} catch {
  console.error('redis_lock.js needs node-redis: apt-get install node-redis; NODE_PATH=/usr/share/nodejs')
  process.exit(1)
}
const free = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

const connect = async options => {
  const server = redis.createClient({ url: `redis://${options.servers[0]}`, password: testbed.secret(options) })
  server.on('error', error => console.error(String(error))) // it connects again by itself
  await server.connect()
  const key = options.prefix + 'lock'
  let mine
  return {
    acquire: async () => {
      for (mine = crypto.randomUUID(); !testbed.left(); await new Promise(done => setTimeout(done, 5))) {
        if (await server.set(key, mine, { NX: true, PX: options.ttl_ms }) !== null) return
      }
      return false
    },
    release: async () => {
      if (await server.eval(free, { keys: [key], arguments: [mine] }) === 0) throw new Error('lost before')
    }
  }
}

testbed.lock(connect, { safe: ['no-pause', 'timing', 'no-amnesia', 'servers-up'],
  live: ['no-loss', 'servers-up'], grace_ms: 5000 })
