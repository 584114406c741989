import { type Command, Option } from 'commander'
import type { CheckAnswer, CheckOptions } from '../../guards/allowlist/types.js'
import { EXIT, Exit } from '../output/failure.js'
import { pick, printLine, printRows, visible } from '../output/print.js'
import { list } from './support/parse.js'
import { dataCommand, inSession } from './support/session.js'

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
}

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
