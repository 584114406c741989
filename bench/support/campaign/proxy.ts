import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { areMessages } from './messages.js'

/** Between one pod and its store. */
export interface PodProxy {
  readonly port: number
  /** `pass`; `hush`: nothing comes through and nobody is told; `cut`: connections break and none is taken. */
  mode: 'pass' | 'hush' | 'cut'
  /** Added to each packet, in each direction. */
  delayMs: number
  /** What happens to the messages of subscriptions. */
  messages: 'pass' | 'lose' | 'repeat'
  close(): Promise<void>
}

export async function startProxy(target: number): Promise<PodProxy> {
  const sockets = new Set<Socket>()
  /** They have lost bytes, which a network would send again; here they end with the partition. */
  const broken = new Set<Socket>()
  const state = { mode: 'pass' as PodProxy['mode'], delayMs: 0, messages: 'pass' as PodProxy['messages'] }
  const server = createServer((near) => {
    if (state.mode === 'cut') return void near.resetAndDestroy()
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    relay(near, far)
    relay(far, near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  /** Packets stay in order, also when the delay shrinks. What a hush swallows breaks the stream, as a partition does. */
  function relay(from: Socket, to: Socket): void {
    let before: Promise<unknown> = Promise.resolve()
    from.on('close', () => to.destroy())
    from.on('data', (data) => {
      if (state.mode === 'hush') broken.add(from).add(to)
      if (broken.has(from)) return
      if (state.messages !== 'pass' && areMessages(data)) {
        if (state.messages === 'lose') return
        data = Buffer.concat([data, data])
      }
      if (state.delayMs === 0 && before === DONE) return void to.write(data)
      const due = state.delayMs > 0 ? sleep(state.delayMs) : DONE
      const turn = Promise.all([before, due]).then(() => to.write(data))
      before = turn
      turn.finally(() => {
        if (before === turn) before = DONE
      })
    })
    before = DONE
  }

  return {
    port: (server.address() as { port: number }).port,
    get mode() {
      return state.mode
    },
    set mode(mode) {
      state.mode = mode
      if (mode === 'pass') for (const socket of broken) socket.resetAndDestroy()
      if (mode === 'cut') for (const socket of sockets) socket.resetAndDestroy()
    },
    get delayMs() {
      return state.delayMs
    },
    set delayMs(delayMs) {
      state.delayMs = delayMs
    },
    get messages() {
      return state.messages
    },
    set messages(messages) {
      state.messages = messages
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const DONE: Promise<unknown> = Promise.resolve()
