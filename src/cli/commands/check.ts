import { type Command, Option } from 'commander'
import type { CheckAnswer, CheckOptions, ExplainQuery } from '../../guards/allowlist/types.js'
import { EXIT, Exit } from '../output/failure.js'
import { note, pick, printLine, printRows, visible } from '../output/print.js'
import { list } from './support/parse.js'
import { addPageOptions, dataCommand, inSession } from './support/session.js'

interface CheckFlags extends CheckOptions {
  allowlists: string[]
  exitCode?: boolean
}

export function addCheckCommand(program: Command): void {
  dataCommand(program, 'check <customer...>', 'check whether customers may pass')
    .requiredOption('--allowlists <ids>', 'allowlists to check, separated by commas', list)
    .addOption(new Option('--consistency <level>', 'strong: read the store, not memory').choices(['strong']))
    .option('--at-least <token>', 'the check sees the write that returned this token')
    .option('--exit-code', 'exit with 3 when a customer may not pass')
    .action(check)
  addPageOptions(
    dataCommand(program, 'explain <customer>', 'show why a customer may pass or not, over all lists or some')
      .option('--allowlists <ids>', 'only these, separated by commas', list)
      .addOption(new Option('--type <type>', 'over all lists: only these').choices(['FIXA', 'ONDA']))
      .addOption(
        new Option('--outcome <outcome>', 'over all lists: only these').choices(['allowed', 'denied']),
      ),
  ).action(explain)
}

const explain = inSession(
  async ({ allowlists, print }, customer: string, flags: ExplainQuery & { allowlists?: string[] }) => {
    const query = pick(flags, ['type', 'outcome', 'limit', 'cursor'])
    const told =
      flags.allowlists === undefined
        ? await allowlists.explainAll(customer, query)
        : await allowlists.explain(customer, flags.allowlists)
    print(told, () => {
      printRows(told.results, {
        ...{ ALLOWLIST: 'allowlistId', NAME: 'name', ALLOWED: 'allowed', REASON: 'reason' },
        WHY: ({ why = {} }) =>
          Object.entries(why)
            .map(([name, fact]) => `${name} ${fact}`)
            .join(', '),
      })
      if (told.nextCursor !== undefined) note(`there is more: --cursor ${told.nextCursor}`)
    })
  },
)

const check = inSession(async ({ allowlists, print }, customers: string[], flags: CheckFlags) => {
  const options = pick(flags, ['consistency', 'atLeast'])
  const [first] = customers
  const answers =
    first !== undefined && customers.length === 1
      ? await allowlists.check(first, flags.allowlists, options)
      : await allowlists.checkMany({ customerIds: customers, allowlists: flags.allowlists }, options)
  const results = 'overallAllowed' in answers ? [answers] : answers.results
  print(answers, () => printAnswers(results))
  if (flags.exitCode && !results.every((answer) => answer.overallAllowed)) throw new Exit(EXIT.denied)
})

function printAnswers(answers: CheckAnswer[]): void {
  const rows = answers.flatMap(({ customerId, results }) =>
    results.map((result) => ({ customerId, ...result })),
  )
  printRows(rows, {
    ...{ CUSTOMER: 'customerId', ALLOWLIST: 'allowlistId', ALLOWED: 'allowed' },
    ...{ TYPE: 'type', REASON: 'reason', ADDED: 'addedAt' },
  })
  for (const { customerId, overallAllowed } of answers) {
    printLine(`${visible(customerId)}: ${overallAllowed ? 'allowed' : 'not allowed'}`)
  }
}
