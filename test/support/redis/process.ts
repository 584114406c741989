import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { PATIENCE_MS } from '../patient.js'
import { Fatal, until } from '../until.js'

export { Fatal, until }

export interface ServerOptions {
  password?: string
  /** Further lines of its configuration, such as `['maxmemory-policy', 'allkeys-lru']`. */
  settings?: readonly (readonly string[])[]
  tls?: { ca: string; certificate: string; key: string; authority: string }
  sentinel?: boolean
  port?: number
}

/** It never connects. A client that is not a duplicate takes tens of milliseconds of the processor. */
const pattern = createClient({ maintNotifications: 'disabled' })
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** One redis-server on a free loopback port, with a directory of its own. */
export class RedisProcess {
  private child: ChildProcess
  private output = ''

  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly options: ServerOptions,
  ) {
    this.child = this.spawn()
  }

  static async start(options: ServerOptions = {}): Promise<RedisProcess> {
    const directory = mkdtempSync(join(tmpdir(), 'catraca-redis-'))
    const server = new RedisProcess(options.port ?? (await freePort()), directory, options)
    await server.ready()
    return server
  }

  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  async say(...args: (string | Buffer)[]): Promise<unknown> {
    const { password, tls } = this.options
    const client = pattern.duplicate({
      socket: {
        host: '127.0.0.1',
        port: this.port,
        connectTimeout: PATIENCE_MS,
        reconnectStrategy: false,
        ...(tls === undefined ? {} : { tls: true as const, ca: tls.authority }),
      },
      ...(password === undefined ? {} : { password }),
    })
    client.on('error', () => {})
    await client.connect()
    try {
      return await client.sendCommand(args)
    } finally {
      client.destroy()
    }
  }

  async ready(): Promise<void> {
    await until(`redis-server on port ${this.port} answers`, async () => {
      if (!this.alive) throw new Fatal(`redis-server ended: ${this.output}`)
      return (await this.say('PING')) === 'PONG'
    })
  }

  pause(): void {
    this.child.kill('SIGSTOP')
  }

  resume(): void {
    this.child.kill('SIGCONT')
  }

  /** kill -9, and waits until it is gone. */
  async kill(): Promise<void> {
    if (!this.alive) return
    const gone = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    this.child.kill('SIGCONT')
    await gone
    running.delete(this.child)
  }

  async restart(): Promise<void> {
    await this.kill()
    this.child = this.spawn()
    await this.ready()
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.directory, { recursive: true, force: true })
  }

  private spawn(): ChildProcess {
    const { password, tls, sentinel = false, settings = [] } = this.options
    const ports =
      tls === undefined
        ? [['port', String(this.port)]]
        : [
            ['port', '0'],
            ['tls-port', String(this.port)],
            ['tls-ca-cert-file', tls.ca],
            ['tls-cert-file', tls.certificate],
            ['tls-key-file', tls.key],
            ['tls-auth-clients', 'no'],
          ]
    const lines = [
      ...ports,
      ['bind', '127.0.0.1'],
      ['dir', this.directory],
      ...(sentinel
        ? []
        : [
            ['save', ''],
            ['enable-debug-command', 'yes'],
            ['repl-diskless-sync-delay', '0'],
            // A cluster does not list a replica that has heard nothing yet.
            ['repl-ping-replica-period', '1'],
          ]),
      ...(password === undefined
        ? []
        : [
            ['requirepass', password],
            ['masterauth', password],
          ]),
      ...settings,
    ]
    const text = lines.map(([name, ...values]) => `${name} ${values.map(quoted).join(' ')}`).join('\n')
    const args = sentinel ? [this.sentinelFile(text), '--sentinel'] : ['-']
    const child = spawn('redis-server', args, { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin?.end(sentinel ? '' : `${text}\n`)
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (data) => {
        this.output = `${this.output}${data}`.slice(-2000)
      })
    }
    child.on('error', (error) => {
      this.output += error.message
    })
    running.add(child)
    return child
  }

  /** A Sentinel rewrites its configuration, so it wants a file. */
  private sentinelFile(text: string): string {
    const file = join(this.directory, 'sentinel.conf')
    if (!existsSync(file)) writeFileSync(file, `${text}\n`)
    return file
  }
}

const quoted = (value: string): string => (/^[\w.:/-]+$/.test(value) ? value : `"${value}"`)

/** Below the ports that the system gives to clients, and with the port of the cluster bus (10,000 higher) in range. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = 10_000 + Math.floor(Math.random() * 12_000)
    if ((await isFree(port)) && (await isFree(port + 10_000))) return port
  }
  throw new Error('no free port was found')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
