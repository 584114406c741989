// A PostgreSQL of its own for the example: a temporary directory, a free port on loopback, a random password.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const DEBIAN = '/usr/lib/postgresql'
const READY_MS = 30_000
const STOP_MS = 5000

/** The directory of initdb and postgres: of the PATH, or the newest of Debian's. */
export function findPostgres() {
  const path = (process.env.PATH ?? '').split(delimiter)
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...path, ...debian.map((version) => join(DEBIAN, version, 'bin'))]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

export async function startPostgres() {
  const programs = findPostgres()
  if (programs === undefined) throw new Error('PostgreSQL is missing: apt-get install -y postgresql')
  const user = unprivilegedUser()
  const directory = mkdtempSync(join(tmpdir(), 'catraca-dict-'))
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(directory, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user !== undefined) for (const path of [directory, passwordFile]) chownSync(path, user.uid, user.gid)
  const data = join(directory, 'data')
  const made = spawnSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'dict', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8'].concat([
      '--locale=C',
      '--no-sync',
    ]),
    { ...user, cwd: directory, encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
  const port = await freePort()
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: directory, fsync: 'off' }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...args], {
    ...{ ...user, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
  })
  let output = ''
  server.stderr.on('data', (text) => {
    output = (output + text).slice(-2000)
  })
  const kill = () => server.kill('SIGKILL')
  process.once('exit', kill)
  const options = { host: '127.0.0.1', port, user: 'dict', password, database: 'postgres' }
  try {
    await ready(options, server, () => output)
  } catch (error) {
    kill()
    throw error
  }
  return {
    options,
    /** A fast shutdown; what does not end by it is killed. */
    async stop() {
      process.removeListener('exit', kill)
      if (server.exitCode === null) {
        const gone = once(server, 'exit')
        server.kill('SIGINT')
        const late = setTimeout(kill, STOP_MS)
        await gone
        clearTimeout(late)
      }
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function ready(options, server, output) {
  for (const end = Date.now() + READY_MS; ; ) {
    const client = new pg.Client(options)
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (server.exitCode !== null || Date.now() > end) {
        throw new Error(`PostgreSQL does not answer: ${output()}`, { cause: error })
      }
      await sleep(50)
    }
  }
}

/** PostgreSQL refuses to run as root: the user that Debian's package makes, or nobody. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag, name) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout.trim())
  const name = spawnSync('id', ['postgres']).status === 0 ? 'postgres' : 'nobody'
  return { uid: idOf('-u', name), gid: idOf('-g', name) }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
