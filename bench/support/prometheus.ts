import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, until } from '../../test/support/redis/index.js'

const DEPLOYED = new URL('../../../deploy/prometheus/', import.meta.url)
const UNITS_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 }

interface Scraping {
  /** Host and port of the server. */
  target: string
  key: string
  /** How much shorter every `for` and every range of the rules is than in the files. */
  speedUp: number
  scrapeSeconds: number
}

interface Alert {
  labels: Record<string, string>
  state: 'pending' | 'firing'
}

interface Rule {
  type: 'alerting' | 'recording'
  health: 'ok' | 'err' | 'unknown'
  name: string
  lastError?: string
}

/** A real Prometheus with the rules and the example of a configuration in `deploy/prometheus`. */
export class Prometheus {
  private said = ''

  private constructor(
    private readonly url: string,
    private readonly child: ChildProcess,
  ) {
    child.stderr!.on('data', (chunk) => {
      this.said = (this.said + chunk).slice(-4000)
    })
  }

  static async start(directory: string, scraping: Scraping): Promise<Prometheus> {
    const config = writeConfig(directory, scraping)
    const address = `127.0.0.1:${await freePort()}`
    const child = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=${address}`,
        '--log.level=warn',
      ],
      { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const prometheus = new Prometheus(`http://${address}`, child)
    try {
      await until('Prometheus is ready', async () => (await fetch(`${prometheus.url}/-/ready`)).ok, 30_000)
    } catch (error) {
      await prometheus.stop()
      throw new Error(`prometheus: ${prometheus.said}`, { cause: error })
    }
    return prometheus
  }

  async targets(): Promise<{ health: string; lastError: string; scrapeUrl: string }[]> {
    return (await this.ask<{ activeTargets: [] }>('targets?state=active')).activeTargets
  }

  async rules(): Promise<Rule[]> {
    const { groups } = await this.ask<{ groups: { rules: Rule[] }[] }>('rules')
    return groups.flatMap(({ rules }) => rules)
  }

  async alerts(): Promise<Alert[]> {
    return (await this.ask<{ alerts: Alert[] }>('alerts')).alerts
  }

  /** Values by query, of each series that it finds. */
  async query(expression: string): Promise<number[]> {
    const path = `query?query=${encodeURIComponent(expression)}`
    const { result } = await this.ask<{ result: { value: [number, string] }[] }>(path)
    return result.map(({ value }) => Number(value[1]))
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.kill('SIGTERM')
    await ended
  }

  private async ask<T>(path: string): Promise<T> {
    const response = await fetch(`${this.url}/api/v1/${path}`)
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string }
    if (status !== 'success') throw new Error(`Prometheus: ${error}`)
    return data
  }
}

function writeConfig(directory: string, { target, key, speedUp, scrapeSeconds }: Scraping): string {
  const token = join(directory, 'token')
  writeFileSync(token, key, { mode: 0o400 })
  const rules = readFileSync(new URL('catraca.rules.yml', DEPLOYED), 'utf8')
  writeFileSync(join(directory, 'catraca.rules.yml'), atPace(rules, speedUp))
  const config = join(directory, 'prometheus.yml')
  const text = readFileSync(new URL('prometheus.yml', DEPLOYED), 'utf8')
    .replaceAll(/(_interval): 15s/g, `$1: ${scrapeSeconds}s`)
    .replace('/etc/prometheus/catraca-token', token)
    .replace('catraca:8080', target)
  writeFileSync(config, text)
  return config
}

/** The same rules with less patience; thresholds stay what they are. */
function atPace(rules: string, speedUp: number): string {
  const shorter = (amount: string, unit: string) =>
    `${Math.max(1000, Math.round((Number(amount) * UNITS_MS[unit]!) / speedUp))}ms`
  return rules
    .replaceAll(/^( +for: )(\d+)([smh])$/gm, (_, key, amount, unit) => key + shorter(amount, unit))
    .replaceAll(/\[(\d+)([smh])\]/g, (_, amount, unit) => `[${shorter(amount, unit)}]`)
}
