import type { Command } from 'commander'
import type { Member, MemberInput, MemberQuery, PageRequest } from '../../guards/allowlist/types.js'
import { customers, pick, printFacts } from '../output/print.js'
import { jsonObject } from './support/parse.js'
import { addPageOptions, changeCommand, dataCommand, inSession, pageOf } from './support/session.js'

export function addMemberCommands(allowlist: Command): void {
  changeCommand(allowlist, 'add <id> <customer>', 'add a customer, or replace the attributes of a member')
    .option('--added-by <who>', 'who adds it')
    .option('--metadata <json>', 'a JSON object of up to 4 KB, or @FILE', jsonObject)
    .option('--expires-at <time>', 'time from which the customer no longer passes, ISO 8601')
    .action(addMember)
  dataCommand(allowlist, 'member <id> <customer>', 'show one member').action(showMember)
  addPageOptions(
    dataCommand(allowlist, 'members <id>', 'show the members').option(
      '--prefix <text>',
      'only members whose id begins so',
    ),
  ).action(listMembers)
  addPageOptions(
    dataCommand(allowlist, 'lists-of <customer>', 'show the FIXA allowlists that a customer is on'),
  ).action(listsOf)
}

const addMember = inSession(
  async ({ allowlists, print }, id: string, customer: string, flags: MemberInput) => {
    const result = await allowlists.add(id, customer, pick(flags, ['addedBy', 'metadata', 'expiresAt']))
    const what = result.added ? 'added' : 'was already a member; replaced'
    print(result, `${what}; ${customers(result.customerCount)}`)
  },
)

const metadataText = ({ metadata }: Member) => metadata && JSON.stringify(metadata)

const showMember = inSession(async ({ allowlists, print }, id: string, customer: string) => {
  const member = await allowlists.member(id, customer)
  const facts = pick(member, ['customerId', 'addedAt', 'addedBy', 'expiresAt'])
  print(member, () => printFacts({ ...facts, metadata: metadataText(member) }))
})

const listMembers = inSession(async ({ allowlists, printPage }, id: string, flags: MemberQuery) =>
  printPage(await allowlists.members(id, pick(flags, ['limit', 'cursor', 'prefix'])), {
    ...{ CUSTOMER: 'customerId', ADDED: 'addedAt', BY: 'addedBy', EXPIRES: 'expiresAt' },
    METADATA: metadataText,
  }),
)

const listsOf = inSession(async ({ allowlists, printPage }, customer: string, flags: PageRequest) =>
  printPage(await allowlists.listsOf(customer, pageOf(flags)), {
    ...{ ALLOWLIST: 'allowlistId', NAME: 'name', ADDED: 'addedAt', EXPIRES: 'expiresAt' },
  }),
)
