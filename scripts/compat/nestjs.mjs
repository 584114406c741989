// Applications of NestJS as users have them: the example of the package, installed with Nest 11 as CommonJS and with Nest 12 as
// ES modules, compiled, tested, started on both platforms and called over HTTP.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { emptyProject, installed, manifestOf, node, project, root } from './project.mjs'
import { withRedis } from './servers.mjs'

const FORMS = {
  11: { type: 'commonjs', typescript: 5, others: ['@nestjs/terminus@11', '@nestjs/platform-fastify@11'] },
  12: { type: 'module', typescript: 7, others: ['@nestjs/terminus@12', '@nestjs/platform-fastify@12'] },
}
const PLATFORMS = ['Express', 'Fastify']
const example = join(root, 'examples', 'nestjs')

/** What must come true, however slow the machine is. */
async function until(what, holds, pauseMs = 100) {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 600) throw new Error(`it did not come true: ${what}`)
    await sleep(pauseMs)
  }
}

export const nest = (version) => async (tarball) => {
  const { type, typescript, others } = FORMS[version]
  const packages = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${version}`)
  const needed = [...packages, ...others, 'reflect-metadata@0.2', 'rxjs@7', '@types/node@20']
  const folder = emptyProject(`nest-${version}`, [tarball, ...needed])
  const manifest = manifestOf(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, type }))
  for (const part of ['src', 'test', 'tsconfig.json'])
    cpSync(join(example, part), join(folder, part), { recursive: true })
  for (const file of ['serve.ts', 'every-decorator.ts'])
    cpSync(join(project, 'nestjs', file), join(folder, 'src', file))
  compile(folder, typescript)
  assert.match(
    node(['--test', join('dist', 'test', 'payments.test.js')], { cwd: folder }),
    /# fail 0|ℹ fail 0/,
  )
  for (const platform of PLATFORMS) await withRedis((store) => scenarios({ folder, platform, store }))
  return `Nest ${manifestOf(join(folder, 'node_modules', '@nestjs', 'core')).version}, ${type}`
}

/** The types of this package hold without `skipLibCheck`; those of others are not ours to judge. */
function compile(folder, version) {
  const tsc = join(installed, `typescript${version}`, 'bin', 'tsc')
  node([tsc, '-p', folder, '--pretty', 'false'])
  try {
    node([tsc, '-p', folder, '--pretty', 'false', '--noEmit', '--skipLibCheck', 'false'])
  } catch (error) {
    const ours = error.output
      .split('\n')
      .filter((line) => /node_modules.catraca.*error TS|^src.*error TS/.test(line))
    if (ours.length > 0) throw new Error(ours.join('\n'))
  }
}

/** A process of the application. */
async function serve({ folder, platform, store }, env = {}) {
  const child = spawn(process.execPath, [join('dist', 'src', 'serve.js'), platform], {
    cwd: folder,
    env: { ...process.env, CATRACA_STORE: store, LEDGER: join(folder, `ledger-${platform}`), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = []
  child.stderr.on('data', (chunk) => said.push(chunk))
  const listening = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(`${line}\n`)
      const [, url] = /^listening (.*)$/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
    child.once('exit', () => reject(new Error(`the application did not start:\n${said.join('')}`)))
  })
  const url = (await listening).replace('[::1]', '127.0.0.1')
  const ask = (path, customer, init = {}) =>
    fetch(url + path, { ...init, headers: { 'x-customer': customer, ...init.headers } })
  const pay = (customer, key, amount = 1) =>
    ask('/payments', customer, {
      method: 'POST',
      // Servers of Fastify wait for connections that are kept alive before they stop.
      headers: { 'content-type': 'application/json', 'idempotency-key': key, connection: 'close' },
      body: JSON.stringify({ to: 'shop', amount }),
    })
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    child.kill(signal)
    const [code] = await once(child, 'exit')
    return code
  }
  return { ask, pay, end, said }
}

export async function scenarios(given) {
  const { openCatraca } = createRequire(join(given.folder, 'x.js'))('catraca')
  // Looks at the store from outside of the application.
  const catraca = await openCatraca({ store: given.store })
  const where = { ...given, catraca }
  const running = []
  const start = async (env) => {
    const one = await serve(where, env)
    running.push(one)
    return one
  }
  try {
    const [a, b] = [await start(), await start()]
    await limitsOfTwo(a, b)
    await cacheOfTwo(a, b)
    await crashAfter(a, b)
    await b.end('SIGKILL')
    await crashDuring(where, start)
    await shutdown(where, start)
  } finally {
    for (const one of running) await one.end('SIGKILL')
    await catraca.close()
  }
}

/** Exactly the limit passes, whoever is asked, and a refusal is a problem. */
async function limitsOfTwo(a, b) {
  const statuses = []
  for (let i = 0; i < 24; i++) statuses.push((await (i % 2 ? a : b).ask('/balance', 'eve')).status)
  assert.equal(statuses.filter((status) => status === 200).length, 20)
  const denied = await a.ask('/balance', 'eve')
  const problem = await denied.json()
  assert.deepEqual(
    [denied.status, problem.code, problem['violated-policies']],
    [429, 'QUOTA_EXCEEDED', ['perHour']],
  )
  assert.match(denied.headers.get('content-type'), /^application\/problem\+json/)
  assert.ok(Number(denied.headers.get('retry-after')) > 0)
  assert.equal((await a.ask('/payments/instant', 'dan', { method: 'POST' })).status, 403)
  assert.equal((await b.ask('/health', 'dan')).status, 200)
}

/** What one process has in its memory, another invalidates. */
async function cacheOfTwo(a, b) {
  const balance = async (of) => (await (await of.ask('/balance', 'ann')).json()).balance
  assert.deepEqual([await balance(a), await balance(b)], [100, 100])
  assert.equal((await a.pay('ann', 'cached', 30)).status, 201)
  await until('the other process sees the new balance', async () => (await balance(b)) === 70)
}

/** The process that has answered dies; another replays its answer. */
async function crashAfter(a, b) {
  const first = await a.pay('bob', 'crash', 10)
  const body = await first.text()
  assert.deepEqual([first.status, JSON.parse(body).balance], [201, 90])
  await a.end('SIGKILL')
  const again = await b.pay('bob', 'crash', 10)
  assert.deepEqual(
    [again.status, await again.text(), again.headers.get('idempotency-replayed')],
    [201, body, 'true'],
  )
  assert.equal(again.headers.get('content-type'), first.headers.get('content-type'))
}

const paymentsOf = ({ folder, platform }, customer) =>
  readFileSync(join(folder, `ledger-${platform}`), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"from":"${customer}"`))

const isPaying = async ({ catraca }, customer) => (await catraca.locks.status(`account:${customer}`)).held

/** The process that executes dies; its claim and its lock end, and another executes. */
async function crashDuring(where, start) {
  const slow = await start({ BANK_MS: '3600000' })
  const lost = slow.pay('joe', 'during', 10).catch(() => 'lost')
  const next = await start()
  await until('it executes', () => isPaying(where, 'joe'))
  assert.equal((await next.pay('joe', 'during', 10)).status, 409)
  await slow.end('SIGKILL')
  assert.equal(await lost, 'lost')
  // The lock of the dead process ends with its TTL, the claim before. Customers have few requests an hour, so few are made.
  let status
  await until(
    'another process executes',
    async () => {
      status = (await next.pay('joe', 'during', 10)).status
      assert.notEqual(status, 429)
      return status !== 409
    },
    1000,
  )
  assert.equal(status, 201)
  assert.equal(paymentsOf(where, 'joe').length, 1)
  await next.end('SIGKILL')
}

/** A process that is told to stop answers what it has begun, and leaves nothing behind. */
async function shutdown(where, start) {
  const [stopped, other] = [await start({ BANK_MS: '3000' }), await start()]
  const paying = stopped.pay('kim', 'stopped', 10)
  await until('it has begun', () => isPaying(where, 'kim'))
  const ending = stopped.end('SIGTERM')
  const answer = await paying
  assert.deepEqual([answer.status, (await answer.json()).balance], [201, 90])
  assert.equal(await ending, null, 'Nest ends by the signal that it got')
  assert.equal((await other.pay('kim', 'stopped', 10)).headers.get('idempotency-replayed'), 'true')
  // The lock is free, and so are the slots of the concurrency limit.
  const answers = await Promise.all(['x', 'y', 'z'].map((key) => other.pay('kim', key, 1)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201],
  )
  assert.equal(await isPaying(where, 'kim'), false)
  assert.equal(paymentsOf(where, 'kim').length, 4)
}
