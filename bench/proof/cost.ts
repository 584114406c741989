/**
 * The source's month on DynamoDB, scaled down: pods check 10 lists and 50 waves all the time while customers are added,
 * and every unit that the emulator reports is counted, by verb, for each profile. It writes the tables of docs/cost.md.
 * Arguments: --pods 2 --seconds 20 --fixed 10 --waves 50
 * With --profile N only that profile (0 is the first one) is run again, and the figures of the others stay.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { DYNAMODB_PROFILE_NAMES } from '../../src/engines/dynamodb/defaults.js'
import { startDynamo } from '../../test/support/dynamodb-server.js'
import { figuresOf, withCounted } from '../support/cost-page.js'
import { countMonth } from '../support/dynamodb-month.js'
import { demand, type Figures, whenStarted } from '../support/proof.js'

const SIZES = { pods: 2, seconds: 20, fixed: 10, waves: 50, profile: -1 }
const ADDS_PER_SECOND = 10
/** At long intervals little happens in a short time. */
const THRIFTY_LASTS_LONGER = 3
const SOURCES_BILL = 780
const RESULT = new URL('../../../bench/results/proof-cost.json', import.meta.url)
const PAGE = new URL('../../../docs/cost.md', import.meta.url)

async function run({ seconds, profile: only, ...sizes }: typeof SIZES): Promise<Figures> {
  const server = await startDynamo()
  const headlines: Figures = {}
  const units: Figures = {}
  try {
    for (const [i, profile] of DYNAMODB_PROFILE_NAMES.entries()) {
      if (only >= 0 && i !== only) continue
      const lasts = profile === 'thrifty' ? THRIFTY_LASTS_LONGER * seconds : seconds
      const month = await countMonth(server, profile, {
        ...sizes,
        // Where nobody shares, one pod is like another, and many of them are too much for one processor.
        ...(profile === 'fresh' && { pods: 1 }),
        addsPerSecond: ADDS_PER_SECOND,
        seconds: lasts,
      })
      demand(month.delaysMs.length > 0, 'no add was seen: the machine is too busy to count anything')
      const figures = figuresOf(profile, month)
      Object.assign(headlines, figures.headline)
      Object.assign(units, figures.units)
    }
  } finally {
    await server.stop()
  }
  for (const profile of ['thrifty', 'default']) {
    const dollars = headlines[`${profile}: dollars a month`]
    if (dollars === undefined) continue
    demand(dollars <= SOURCES_BILL, `${profile} costs ${dollars} dollars a month`)
  }
  const figures = { ...(only >= 0 && lastFigures()), ...headlines, ...units }
  writeFileSync(PAGE, withCounted(readFileSync(PAGE, 'utf8'), figures))
  return figures
}

function lastFigures(): Figures {
  return JSON.parse(readFileSync(RESULT, 'utf8')).figures
}

await whenStarted(import.meta.url, 'cost', SIZES, run)
