import { type Command, Option } from 'commander'
import type { ArrivalKind } from '../load/arrivals.js'
import { COMPOUNDS, MIXES, parseMix } from '../load/mixes/table.js'
import { between, durationMs, pauseMs, type RateRange, rate, rateRange } from '../load/values.js'
import { list } from './support/parse.js'
import { type ConfigOptions, configOption, settingOption } from './support/session.js'

export interface LoadFlags extends ConfigOptions {
  rate: number
  duration: number
  warmUp: number
  mix: string
  arrivals: ArrivalKind
  connections: number
  maxConnections: number
  timeout: number
  prepare?: boolean
  cleanup?: boolean
  lists?: string[]
  customers?: string
  members?: number
  keys: number
  cacheSpace: string
  seed?: number
  spin: boolean
  json?: boolean
  report?: string
  html?: string
  maxP99?: number
  maxErrors?: number
  ramp?: RateRange
  findMax?: boolean
  stepDuration: number
}

export function addBenchCommands(program: Command): void {
  const bench = program.command('bench').description('measure a running server')
  const load = bench
    .command('load')
    .description('ask at a fixed rate, whatever the answers take, and tell how long they took')
    .option('--json', 'print the report as JSON')
    .option('--report <file>', 'write the report as JSON to a file')
    .option('--html <file>', 'write the report as a page with plots to a file')
  addAims(load)
  addQuestions(load)
  addManner(load)
  load
    .addOption(settingOption('client.url', 'url'))
    .addOption(configOption())
    .action(async (flags: LoadFlags) => {
      const { runLoad } = await import('../load/run.js')
      await runLoad(flags)
    })
}

function addAims(load: Command): void {
  load
    .option('--rate <per-second>', 'requests a second', rate, 1000)
    .option('--duration <time>', 'how long, such as 30s or 2m', durationMs, 30_000)
    .option('--warm-up <time>', 'asked before, and not counted; 0 for none', pauseMs, 2000)
    .option('--max-p99 <time>', 'exit with 1 when the p99 is longer', durationMs)
    .option('--max-errors <count>', 'exit with 1 when there are more', between(0, 1e9))
    .addOption(
      new Option('--find-max', 'find the highest rate that keeps the bounds, from --rate up').conflicts(
        'ramp',
      ),
    )
    .option('--ramp <from..to>', 'go through these rates in eight steps', rateRange)
    .option('--step-duration <time>', 'of each step of --find-max and --ramp', durationMs, 5000)
}

function addQuestions(load: Command): void {
  const names = [...Object.keys(MIXES), ...Object.keys(COMPOUNDS)].join(', ')
  load
    .option('--mix <mix>', `${names}; or with weights: checks=80,limits=20`, 'source')
    .option('--prepare', 'make what the mix asks about: a list named load-allowlist, a limit, tokens')
    .option('--cleanup', 'remove it afterwards')
    .addOption(
      new Option('--lists <ids>', 'ask about these lists instead')
        .argParser(list)
        .conflicts(['prepare', 'cleanup']),
    )
    .addOption(
      new Option('--customers <file>', 'who is on them, one a line').conflicts(['prepare', 'cleanup']),
    )
    .option(
      '--members <count>',
      'customers on the list (default: by the rate with --prepare, otherwise all that are on it)',
      between(2, 5_000_000),
    )
    .option('--keys <count>', 'entities, tokens and cached keys', between(1, 1_000_000), 1000)
    .option('--cache-space <name>', 'a cache space that the server configures', 'load')
    .hook('preAction', (command) => void parseMix(command.opts().mix as string))
}

function addManner(load: Command): void {
  load
    .addOption(
      new Option('--arrivals <kind>', 'evenly, or at random as from many callers')
        .choices(['constant', 'poisson'])
        .default('constant'),
    )
    .option('--connections <count>', 'opened at the start', between(1, 10_000), 64)
    .option('--max-connections <count>', 'opened when all are busy', between(1, 10_000), 1024)
    .option('--timeout <time>', 'a request is given up after', durationMs, 5000)
    .option('--seed <number>', 'ask the same questions again', between(0, 4_294_967_295))
    .option('--no-spin', 'wait by timers: spares a core, and is late by up to a millisecond')
}
