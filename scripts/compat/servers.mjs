// Servers for the trials, on free ports.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from './project.mjs'

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

const answers = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('close', () => socket.destroy())
    socket.once('connect', () => socket.end())
  })

async function withServer(command, argsFor, work) {
  const port = await freePort()
  const server = spawn(command, argsFor(String(port)), { stdio: 'ignore' })
  try {
    for (let tries = 0; !(await answers(port)); tries++) {
      if (tries > 600 || server.exitCode !== null) throw new Error(`${command} does not answer`)
      await sleep(100)
    }
    return await work(port)
  } finally {
    server.kill('SIGKILL')
  }
}

export const withRedis = (work) =>
  withServer(
    'redis-server',
    (port) => ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    (port) => work(`redis://127.0.0.1:${port}/0`),
  )

export const withDynamo = (work) =>
  withServer(
    join(root, 'test', 'emulators', 'node_modules', '@dynoxide', 'linux-x64', 'dynoxide'),
    (port) => ['--host', '127.0.0.1', '--port', port],
    (port) => work(`dynamodb://us-east-1/Allowlists?endpoint=http://127.0.0.1:${port}`),
  )
