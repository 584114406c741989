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
    .description('send requests at a fixed rate, independent of the responses, and report the latency')
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
    .option('--duration <time>', 'duration of the run, such as 30s or 2m', durationMs, 30_000)
    .option('--warm-up <time>', 'load before the measurement, not counted; 0 for none', pauseMs, 2000)
    .option('--max-p99 <time>', 'exit with 1 when the p99 is longer', durationMs)
    .option('--max-errors <count>', 'exit with 1 when there are more errors', between(0, 1e9))
    .addOption(
      new Option(
        '--find-max',
        'find the highest rate that stays within --max-p99 and --max-errors, starting at --rate',
      ).conflicts('ramp'),
    )
    .option('--ramp <from..to>', 'increase the rate from the first to the second in eight steps', rateRange)
    .option('--step-duration <time>', 'duration of each step of --find-max and --ramp', durationMs, 5000)
}

function addQuestions(load: Command): void {
  const names = [...Object.keys(MIXES), ...Object.keys(COMPOUNDS)].join(', ')
  load
    .option('--mix <mix>', `${names}; or with weights: checks=80,limits=20`, 'source')
    .option('--prepare', 'create what the mix needs: a list named load-allowlist, a limit, tokens')
    .option('--cleanup', 'remove it afterwards')
    .addOption(
      new Option('--lists <ids>', 'check these lists instead')
        .argParser(list)
        .conflicts(['prepare', 'cleanup']),
    )
    .addOption(
      new Option('--customers <file>', 'file with the customers on the lists, one per line').conflicts([
        'prepare',
        'cleanup',
      ]),
    )
    .option(
      '--members <count>',
      'customers on the list (default: by the rate with --prepare, otherwise all that are on it)',
      between(2, 5_000_000),
    )
    .option('--keys <count>', 'number of entities, tokens and cached keys', between(1, 1_000_000), 1000)
    .option('--cache-space <name>', 'cache space of the server for the cache mix', 'load')
    .hook('preAction', (command) => void parseMix(command.opts().mix as string))
}

function addManner(load: Command): void {
  load
    .addOption(
      new Option('--arrivals <kind>', 'constant: evenly; poisson: at random, like many callers')
        .choices(['constant', 'poisson'])
        .default('constant'),
    )
    .option('--connections <count>', 'connections opened at the start', between(1, 10_000), 64)
    .option(
      '--max-connections <count>',
      'most connections; more are opened when all are busy',
      between(1, 10_000),
      1024,
    )
    .option('--timeout <time>', 'time limit of a request', durationMs, 5000)
    .option(
      '--seed <number>',
      'seed for random choices; the same seed sends the same requests',
      between(0, 4_294_967_295),
    )
    .option(
      '--no-spin',
      'wait with timers instead of a busy loop: saves a core, but requests may be up to a millisecond late',
    )
}
