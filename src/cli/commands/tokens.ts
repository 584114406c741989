import { type Command, Option } from 'commander'
import { invalid } from '../../core/errors.js'
import { EXIT, Exit } from '../output/failure.js'
import { printJson, printLine } from '../output/print.js'
import { time } from './support/parse.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

interface RevokeFlags extends CommonOptions {
  expiresAt: number
  subject?: string
  notBefore?: number
}

interface CheckFlags extends CommonOptions {
  subject?: string
  issuedAt?: number
  exitCode?: boolean
}

export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('revoked tokens')
  dataCommand(
    token,
    'revoke [jti...]',
    'revoke tokens by id, or all of a subject that were issued before a time',
  )
    .addOption(
      new Option('--expires-at <time>', 'when the tokens expire anyway, ISO 8601')
        .argParser(time)
        .makeOptionMandatory(),
    )
    .option('--subject <id>', 'revoke all tokens of this subject, instead of ids')
    .option(
      '--not-before <time>',
      'with --subject: tokens issued before this time, ISO 8601; now when absent',
      time,
    )
    .action(revoke)
  dataCommand(token, 'check <jti>', 'check whether a token was revoked')
    .option('--subject <id>', 'subject of the token')
    .option('--issued-at <time>', 'when the token was issued, ISO 8601', time)
    .option('--exit-code', 'exit with 3 when the token was revoked')
    .action(check)
}

const dateOf = (ms: number): Date => new Date(ms)

function revoke(jtis: string[], { expiresAt, subject, notBefore, ...flags }: RevokeFlags): Promise<void> {
  if ((jtis.length === 0) === (subject === undefined))
    throw invalid('jti', 'or --subject must be given, and not both')
  if (notBefore !== undefined && subject === undefined) throw invalid('not-before', 'needs --subject')
  return withSession(flags, async ({ tokens, json }) => {
    const end = dateOf(expiresAt)
    if (subject === undefined) await tokens.revokeAll(jtis.map((jti) => ({ jti, expiresAt: end })))
    else await tokens.revokeSubject({ subject, notBefore: dateOf(notBefore ?? Date.now()), expiresAt: end })
    if (json) printJson({ revoked: subject ?? jtis, expiresAt: end.toISOString() })
    else
      printLine(
        `revoked ${subject === undefined ? jtis.join(', ') : `all of ${subject}`} until ${end.toISOString()}`,
      )
  })
}

function check(jti: string, { subject, issuedAt, exitCode, ...flags }: CheckFlags): Promise<void> {
  return withSession(flags, async ({ tokens, json }) => {
    const answer = await tokens.check({
      jti,
      ...(subject !== undefined && { subject }),
      ...(issuedAt !== undefined && { issuedAt: dateOf(issuedAt) }),
    })
    if (json) printJson(answer)
    else printLine(answer.revoked ? 'revoked' : 'not revoked')
    if (answer.revoked && exitCode) throw new Exit(EXIT.denied)
  })
}
