import type { Command } from 'commander'
import { processEnvironment } from '../../config/environment.js'
import type { Config } from '../../config/schema.js'
import { type Finding, type Level, runChecks, skipAll } from '../../core/diagnosis.js'
import { readConfiguration, SERVING_CHECKS, SOURCE_CHECKS } from '../doctor/configuration.js'
import { MACHINE_CHECKS, readMachineFacts } from '../doctor/machine.js'
import { EXIT, Exit } from '../output/failure.js'
import { printJson, printLine, visible } from '../output/print.js'
import { type CommonOptions, dataCommand } from './support/session.js'

interface Flags extends CommonOptions {
  strict?: boolean
}

export function addDoctorCommand(program: Command): void {
  dataCommand(
    program,
    'doctor',
    'look for what is wrong with the configuration, the machine, the stores or a server, and say what to do; it changes nothing',
  )
    .option('--strict', 'fail on warnings too')
    .action(doctor)
}

async function doctor(flags: Flags): Promise<void> {
  const findings = await examine(flags)
  const count = (level: Level): number => findings.filter((one) => one.level === level).length
  const [problems, warnings] = [count('problem'), count('warning')]
  const ok = problems === 0 && (flags.strict !== true || warnings === 0)
  if (flags.json) printJson({ ok, problems, warnings, findings })
  else {
    print(findings)
    printLine(`${problems} problems, ${warnings} warnings`)
  }
  if (!ok) throw new Exit(EXIT.failure)
}

async function examine(flags: Flags): Promise<Finding[]> {
  const sources = { env: processEnvironment(), cwd: process.cwd(), configFile: flags.config }
  const look = readConfiguration(sources, { store: flags.store, 'client.url': flags.url })
  const { config } = look
  const findings = [
    ...(await runChecks(SOURCE_CHECKS, look)),
    ...(await runChecks(MACHINE_CHECKS, readMachineFacts(config?.server.spoolDir, config?.import.spoolDir))),
  ]
  const url = config?.client.url
  if (url !== undefined && flags.store === undefined) {
    return [...findings, ...(await examineServer(url, config!))]
  }
  if (config === undefined) {
    return [...findings, ...skipAll(SERVING_CHECKS, 'the settings cannot be read', undefined)]
  }
  // Only here: a command that asks a server needs no engine.
  const { diagnoseStores } = await import('../doctor/stores.js')
  const { findings: ofStores, ...known } = await diagnoseStores(config)
  return [...findings, ...(await runChecks(SERVING_CHECKS, { ...look, ...known })), ...ofStores]
}

async function examineServer(url: string, { client }: Config): Promise<Finding[]> {
  const { REACH_CHECK, SERVER_CHECKS } = await import('../doctor/server.js')
  const look = { url, key: client.key.read(), now: Date.now }
  const where = new URL(url).origin
  const reached = await runChecks([REACH_CHECK], look, { where })
  if (reached.some(({ level }) => level === 'problem')) {
    return [...reached, ...skipAll(SERVER_CHECKS, 'the server does not answer', where)]
  }
  return [...reached, ...(await runChecks(SERVER_CHECKS, look, { where }))]
}

/** One line each: how it is, which check, where, what was found, what to do. */
function print(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ id }) => id.length))
  for (const { level, id, where, found, remedy } of findings) {
    const place = where === undefined ? '' : `${where}: `
    const todo = remedy === undefined ? '' : ` → ${remedy}`
    printLine(visible(`${level.padEnd(7)}  ${id.padEnd(width)}  ${place}${found}${todo}`))
  }
}
