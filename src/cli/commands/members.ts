import type { Command } from 'commander'
import type { Member, MemberInput } from '../../guards/allowlist/types.js'
import { customers, pick, printFacts, printJson, printLine, printTable } from '../output/print.js'
import { addPageOptions, noteNextPage, type PageFlags, pageOf } from './lists.js'
import { jsonObject } from './support/parse.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

interface AddFlags extends CommonOptions {
  addedBy?: string
  metadata?: Record<string, unknown>
  expiresAt?: string
}

export function addMemberCommands(allowlist: Command): void {
  dataCommand(allowlist, 'add <id> <customer>', 'add a customer, or replace the attributes of a member')
    .option('--added-by <who>', 'who adds it')
    .option('--metadata <json>', 'a JSON object of up to 4 KB, or @FILE', jsonObject)
    .option('--expires-at <time>', 'time from which the customer no longer passes, ISO 8601')
    .action(addMember)
  dataCommand(allowlist, 'remove <id> <customer>', 'remove a customer').action(removeMember)
  dataCommand(allowlist, 'member <id> <customer>', 'show one member').action(showMember)
  addPageOptions(dataCommand(allowlist, 'members <id>', 'show the members')).action(listMembers)
  addPageOptions(
    dataCommand(allowlist, 'lists-of <customer>', 'show the FIXA allowlists that a customer is on'),
  ).action(listsOf)
}

function addMember(id: string, customer: string, flags: AddFlags): Promise<void> {
  const input: MemberInput = {
    ...(flags.addedBy !== undefined && { addedBy: flags.addedBy }),
    ...(flags.metadata && { metadata: flags.metadata }),
    ...(flags.expiresAt !== undefined && { expiresAt: flags.expiresAt }),
  }
  return withSession(flags, async ({ allowlists, json }) => {
    const result = await allowlists.add(id, customer, input)
    if (json) return printJson(result)
    printLine(
      `${result.added ? 'added' : 'was already a member; replaced'}; ${customers(result.customerCount)}`,
    )
  })
}

function removeMember(id: string, customer: string, flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ allowlists, json }) => {
    const result = await allowlists.remove(id, customer)
    if (json) return printJson(result)
    printLine(`${result.removed ? 'removed' : 'was not there'}; ${customers(result.customerCount)}`)
  })
}

function showMember(id: string, customer: string, flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ allowlists, json }) => {
    const member = await allowlists.member(id, customer)
    if (json) return printJson(member)
    const metadata = member.metadata && JSON.stringify(member.metadata)
    printFacts({ ...pick(member, ['customerId', 'addedAt', 'addedBy', 'expiresAt']), metadata })
  })
}

function listMembers(id: string, flags: PageFlags): Promise<void> {
  return withSession(flags, async ({ allowlists, json }) => {
    const page = await allowlists.members(id, pageOf(flags))
    if (json) return printJson(page)
    printTable(
      ['CUSTOMER', 'ADDED', 'BY', 'EXPIRES', 'METADATA'],
      page.items.map((member: Member) => [
        member.customerId,
        member.addedAt,
        member.addedBy,
        member.expiresAt,
        member.metadata && JSON.stringify(member.metadata),
      ]),
    )
    noteNextPage(page.nextCursor)
  })
}

function listsOf(customer: string, flags: PageFlags): Promise<void> {
  return withSession(flags, async ({ allowlists, json }) => {
    const page = await allowlists.listsOf(customer, pageOf(flags))
    if (json) return printJson(page)
    printTable(
      ['ALLOWLIST', 'NAME', 'ADDED', 'EXPIRES'],
      page.items.map((entry) => [entry.allowlistId, entry.name, entry.addedAt, entry.expiresAt]),
    )
    noteNextPage(page.nextCursor)
  })
}
