// What the clients of this folder share: the lines of docs/foreign.md for a lock.
const fs = require('fs'), readline = require('readline')
let me, inside = null, left = false, waits = Promise.resolve()

exports.say = (type, body) =>
  fs.writeSync(1, JSON.stringify({ src: me, dest: 'c0', body: { type, ...body } }) + '\n')

// left says that the client is to leave: its acquire has to end.
exports.left = () => left

// lock serves a lock: open(options) returns it. Its acquire may return a fence number; false: it is refused.
exports.lock = (open, declares) => {
  let lock, options
  const answer = async ({ type, msg_id }) => {
    try {
      if (type === 'request') {
        lock = lock ?? await open(options)
        const fence = await (waits = lock.acquire())
        if (fence === false) throw new Error('the lock was not acquired')
        inside = msg_id
        exports.say('entered', { in_reply_to: msg_id, fence: Number(fence ?? 0) })
      } else if (type === 'release') {
        inside = null
        await lock.release()
        exports.say('release_ok', { in_reply_to: msg_id })
      } else if (type === 'leave') {
        left = true // a client that waits gives up
        await waits.catch(() => {})
        if (inside !== null) await lock.release()
        exports.say('leave_ok', { in_reply_to: msg_id })
      }
    } catch (error) { // of a request: it comes again; of a release: the lock was lost before
      console.error(error)
      exports.say('error', { in_reply_to: msg_id, code: type === 'request' ? 11 : 1000, text: String(error) })
    }
  }
  readline.createInterface({ input: process.stdin }).on('line', line => {
    const body = JSON.parse(line).body
    if (body.type !== 'init') return answer(body)
    me = body.node_id
    options = body.options
    exports.say('declare', { leaves: true, ...declares })
    exports.say('init_ok', { in_reply_to: body.msg_id })
  }).on('close', () => process.exit(0))
}

// secret returns what the servers of the run demand; servers of your own demand nothing.
exports.secret = (options, name = 'password') =>
  options.secrets ? fs.readFileSync(`${options.secrets}/${name}`, 'utf8') : undefined
