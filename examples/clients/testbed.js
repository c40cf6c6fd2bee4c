// What the clients of this folder share: the lines of docs/foreign.md for a lock.
const fs = require('fs'), readline = require('readline')
let me, lock, inside = null, doubt = false, left = false, waits = Promise.resolve(), released = Promise.resolve()

exports.say = (type, body) =>
  fs.writeSync(1, JSON.stringify({ src: me, dest: 'c0', body: { type, ...body } }) + '\n')

// left says that the client is to leave: its acquire has to end.
exports.left = () => left

// lock serves a lock: open(options) returns it. Its acquire may return a fence number; false: it is refused.
exports.lock = (open, declares) => {
  let options
  const answer = async ({ type, msg_id }) => {
    try {
      if (type === 'request') {
        lock = lock ?? await open(options)
        await released
        doubt = false // whether the library says from now on that the lock may be lost
        const fence = await (waits = lock.acquire())
        if (fence === false) throw new Error('the lock was not acquired')
        inside = msg_id
        exports.say('entered', { in_reply_to: msg_id, fence: Number(fence ?? 0) })
        if (doubt) exports.lost() // it may have been lost before this client was inside
      } else if (type === 'release') {
        await release()
        exports.say('release_ok', { in_reply_to: msg_id })
      } else if (type === 'leave') {
        left = true // a client that waits gives up
        await waits.catch(() => {})
        if (inside !== null) release()
        await released
        exports.say('leave_ok', { in_reply_to: msg_id })
      }
    } catch (error) { // of a request: it comes again; of a release: the lock was lost before
      console.error(error)
      exports.say('error', { in_reply_to: msg_id, code: type === 'request' ? 11 : 1000, text: String(error) })
    }
  }
  const begin = async body => {
    me = body.node_id
    options = body.options
    if (!options.servers) {
      console.error('this is the client of a service: write --service NAME --client CMD')
      process.exit(1)
    }
    exports.say('declare', { leaves: true, ...declares })
    try { // there are no servers when only the declaration is wanted; they may be down when a node is restarted
      if (options.servers.length > 0 && options.incarnation === 0) lock = await open(options)
      exports.say('init_ok', { in_reply_to: body.msg_id })
    } catch (error) {
      console.error(error)
      exports.say('error', { in_reply_to: body.msg_id, code: 13, text: String(error) })
    }
  }
  readline.createInterface({ input: process.stdin }).on('line', line => {
    const body = JSON.parse(line).body
    return body.type === 'init' ? begin(body) : answer(body)
  }).on('close', () => process.exit(0))
}

// release releases the lock. The next request, and the end of the client, wait for it.
const release = () => {
  inside = null
  const done = (async () => lock.release())()
  released = done.catch(console.error)
  return done
}

// lost has the client leave that is inside, since the library says that its lock may be lost.
exports.lost = () => {
  doubt = true
  if (inside === null) return
  exports.say('revoked', { in_reply_to: inside })
  release()
}

// secret returns what the servers of the run demand; servers of your own demand nothing.
exports.secret = (options, name = 'password') =>
  options.secrets ? fs.readFileSync(`${options.secrets}/${name}`, 'utf8') : undefined
