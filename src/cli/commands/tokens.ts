import { type Command, Option } from 'commander'
import { invalid } from '../../core/errors.js'
import { EXIT, Exit } from '../output/failure.js'
import { pick } from '../output/print.js'
import { time } from './support/parse.js'
import { type CommonOptions, changeCommand, dataCommand, inSession, withSession } from './support/session.js'

interface RevokeFlags extends CommonOptions {
  expiresAt: number
  subject?: string
  notBefore?: number
}

export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('revoked tokens')
  changeCommand(
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
  return withSession(flags, async ({ tokens, print }) => {
    const end = dateOf(expiresAt)
    if (subject === undefined) await tokens.revokeAll(jtis.map((jti) => ({ jti, expiresAt: end })))
    else await tokens.revokeSubject({ subject, notBefore: dateOf(notBefore ?? Date.now()), expiresAt: end })
    const until = end.toISOString()
    const which = subject === undefined ? jtis.join(', ') : `all of ${subject}`
    print({ revoked: subject ?? jtis, expiresAt: until }, `revoked ${which} until ${until}`)
  })
}

const check = inSession(
  async (
    { tokens, print },
    jti: string,
    flags: { subject?: string; issuedAt?: number; exitCode?: boolean },
  ) => {
    const { issuedAt } = flags
    const answer = await tokens.check({
      ...{ jti, ...pick(flags, ['subject']) },
      ...(issuedAt !== undefined && { issuedAt: dateOf(issuedAt) }),
    })
    print(answer, answer.revoked ? 'revoked' : 'not revoked')
    if (answer.revoked && flags.exitCode) throw new Exit(EXIT.denied)
  },
)
