import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { invalid } from '../../core/errors.js'
import { issueDenialText } from '../../guards/one-time-code/issue-denied.js'
import type { Channel, CodeAddress } from '../../guards/one-time-code/types.js'
import { EXIT, Exit } from '../output/failure.js'
import { note, pick, printLine } from '../output/print.js'
import { type CommonOptions, dataCommand, inSession, withReason, withSession } from './support/session.js'

interface CodeFlags extends CommonOptions {
  channel: Channel
  address: string
  purpose?: string
  exitCode?: boolean
}

export function addCodeCommands(program: Command): void {
  const otp = program.command('otp').description('one-time codes')
  codeCommand(otp, 'issue', 'issue a code; it replaces the pending one').action(issue)
  codeCommand(
    otp,
    'verify [code]',
    'verify a code; it is read from the terminal or standard input when absent',
  )
    .option('--exit-code', 'exit with 3 when the code is wrong')
    .action(verify)
  codeCommand(
    otp,
    'status',
    'show whether a code is pending and whether the address is locked; never the code',
  ).action(status)
  withReason(codeCommand(otp, 'revoke', 'revoke the pending code, and unlock the address')).action(revoke)
}

function codeCommand(parent: Command, name: string, description: string): Command {
  return dataCommand(parent, name, description)
    .requiredOption('--channel <channel>', 'email or phone')
    .requiredOption('--address <address>', 'an e-mail, or a phone number such as +5511999998888')
    .option('--purpose <name>', 'what the code is for')
}

const addressOf = (flags: CodeFlags): CodeAddress => pick(flags, ['channel', 'address', 'purpose'])

const issue = inSession(async ({ codes, print }, flags: CodeFlags) => {
  const answer = await codes.issue(addressOf(flags))
  if (!answer.issued) {
    print(answer, () => note(issueDenialText(answer)))
    throw new Exit(EXIT.failure)
  }
  const { code, expiresAt } = answer
  print({ code, expiresAt }, `${code}  until ${expiresAt}`)
})

const status = inSession(async ({ codes, print }, flags: CodeFlags) => {
  const { pending, expiresAt, failures, lockedUntil } = await codes.status(addressOf(flags))
  print({ pending, expiresAt, failures, lockedUntil }, () => {
    printLine(pending ? `pending until ${expiresAt}` : 'no code is pending')
    printLine(`${failures} failures${lockedUntil === undefined ? '' : `, locked until ${lockedUntil}`}`)
  })
})

const revoke = inSession(async ({ codes, print }, flags: CodeFlags) => {
  const answer = await codes.revoke(addressOf(flags))
  print(answer, answer.revoked ? 'revoked' : 'there was nothing to revoke')
})

async function verify(given: string | undefined, flags: CodeFlags): Promise<void> {
  const code = given ?? (await askForCode())
  return withSession(flags, async ({ codes, print }) => {
    const answer = await codes.verify({ ...addressOf(flags), code })
    print(answer, answer.valid ? 'valid' : answer.reason === 'LOCKED' ? 'locked' : 'invalid')
    if (!answer.valid && flags.exitCode) throw new Exit(EXIT.denied)
  })
}

/** Not an argument: every user of the machine can see those. */
async function askForCode(): Promise<string> {
  const input = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: process.stdin.isTTY,
  })
  try {
    if (process.stdin.isTTY) return (await input.question('code: ')).trim()
    for await (const line of input) return line.trim()
  } finally {
    input.close()
  }
  throw invalid('code', 'must be given as an argument or on standard input')
}
