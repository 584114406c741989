import { type Command, Option } from 'commander'
import type { CheckAnswer, CheckOptions } from '../../guards/allowlist/types.js'
import { EXIT, Exit } from '../output/failure.js'
import { printJson, printLine, printTable, visible } from '../output/print.js'
import { list } from './support/parse.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

interface CheckFlags extends CommonOptions, CheckOptions {
  allowlists: string[]
  exitCode?: boolean
}

export function addCheckCommand(program: Command): void {
  dataCommand(program, 'check <customer...>', 'check whether customers may pass')
    .requiredOption('--allowlists <ids>', 'allowlists to check, separated by commas', list)
    .addOption(new Option('--consistency <level>', 'strong: read the store, not memory').choices(['strong']))
    .option('--at-least <token>', 'the check sees the write that returned this token')
    .option('--exit-code', 'exit with 3 when a customer may not pass')
    .action((customers: string[], flags: CheckFlags) => check(customers, flags))
}

function check(customers: string[], flags: CheckFlags): Promise<void> {
  return withSession(flags, async ({ allowlists, json }) => {
    const options: CheckOptions = {
      ...(flags.consistency && { consistency: flags.consistency }),
      ...(flags.atLeast && { atLeast: flags.atLeast }),
    }
    const [first] = customers
    const answers =
      first !== undefined && customers.length === 1
        ? await allowlists.check(first, flags.allowlists, options)
        : await allowlists.checkMany({ customerIds: customers, allowlists: flags.allowlists }, options)
    const results = 'overallAllowed' in answers ? [answers] : answers.results
    if (json) printJson(answers)
    else printAnswers(results)
    if (flags.exitCode && !results.every((answer) => answer.overallAllowed)) throw new Exit(EXIT.denied)
  })
}

function printAnswers(answers: CheckAnswer[]): void {
  printTable(
    ['CUSTOMER', 'ALLOWLIST', 'ALLOWED', 'TYPE', 'REASON', 'ADDED'],
    answers.flatMap(({ customerId, results }) =>
      results.map((result) => [
        customerId,
        result.allowlistId,
        result.allowed,
        result.type,
        result.reason,
        result.addedAt,
      ]),
    ),
  )
  for (const { customerId, overallAllowed } of answers) {
    printLine(`${visible(customerId)}: ${overallAllowed ? 'allowed' : 'not allowed'}`)
  }
}
