import type { Suite } from '../../../src/conformance/index.js'
import { codeConformanceOnDynamodb } from '../../support/code-conformance.js'
import { cacheConformanceOn } from '../../support/dynamodb-cache.js'
import { conform } from '../../support/dynamodb-conformance.js'
import { limitConformanceOn } from '../../support/dynamodb-limits.js'
import { lockConformanceOn } from '../../support/dynamodb-lock-conformance.js'
import { startDynamo } from '../../support/dynamodb-server.js'

/**
 * dynoxide runs every case. Here are those in which extenddb differs: streams of four shards, an index that is behind,
 * and another reader of every kind of expression. docs/adr/0029-two-emulators.md says why.
 */
const CASES: Record<string, readonly string[]> = {
  'allowlist lists': [
    'an update changes what it names and counts one version',
    'a deleted list is gone at once and its id is free after the sweep',
    'of many creations of one id exactly one succeeds',
  ],
  'allowlist members': [
    'the lists of a customer are found, by id',
    'members page without gaps or repeats, whatever the limit',
    'expired members are swept, counted down and forgotten',
    'of many adds of one customer exactly one adds',
  ],
  'allowlist checks': [
    'a check that carries the token of a write sees it, on either instance',
    'with its token no check misses its write, among many writers',
  ],
  'allowlist checks without the store': [
    'lists in memory are answered as last known, marked with their age',
    'an outage that comes and goes never denies a member, nor admits a stranger',
  ],
  'allowlist bulk': [
    'a batch adds what is new and counts what is not',
    'changes by hand during a replace win over the file',
    'of many begins of one import exactly one begins',
  ],
  'allowlist changes': [
    'every change is told once, in order, without holes',
    'a batch is one entry of each log, with the customers that it changed',
    'a small replace is one entry, with its differences as they end up',
    'expiry is told as a removal',
    'a list that is gone has no position, and its log no continuation',
    'whoever follows is woken, or can tell by itself, when another instance writes',
    'the log of many writers replays to what the list holds',
  ],
  'allowlist index': [
    'what is published is read back, by both instances',
    'of many who want to build exactly one may',
  ],
  'API keys': [
    'a key is stored, listed by both instances, and removed',
    'of many keys of one name exactly one is stored',
  ],
  sessions: [
    'a record is read by both instances, replaced by whoever read it last, and removed',
    'of many swaps of one version exactly one succeeds',
  ],
  fleet: [
    'what a process announces the others find, and its last word counts',
    'of many processes each is found, with its last word',
  ],
  'idempotency claims': [
    'a sweep drops what has expired and nothing else',
    'of many who claim what failed, passed its lease or expired exactly one succeeds',
  ],
  'idempotency owners': [
    'failing keeps why, and the owner has it no longer',
    'of an owner who completes late and one who takes over exactly one has it',
  ],
  'idempotency responses': [
    'large bytes come back, also after others of another size',
    'large responses of a late owner and the one who took over do not mix',
  ],
  'limit counters': [
    'the vectors of token-bucket',
    'two subjects: both or neither',
    'several limits and two subjects stay all or none',
  ],
  'leases of limits': [
    'giving back reaches both subjects',
    'of many who give one lease back exactly one does',
  ],
  'limits without the store': [
    'when the store is back, it is charged what was admitted without it',
    'n processes never admit more than n shares',
  ],
  'configuration of limits': [
    'levels are listed by pages, each once and none of another level',
    'of many secrets one is kept, and told to all',
  ],
  'usage of limits': ['adds up, by resource and hour, oldest first', 'counts of many at once are all there'],
  'one-time codes': [
    'a wrong guess is counted, and the last one permitted may be right',
    'revoked while it is guessed: one of them gets it',
  ],
  'token denylist': [
    'a subject has one mark, of which the later times win',
    'one token at the same time: the latest end holds',
  ],
  'audit trail': [
    'bounds of time: from then on, and before then',
    'added at the same time: nothing is lost, and all readers see one order',
  ],
  locks: [
    'fences grow with every holder, whatever ended the one before',
    'an extension and a take-over: one of them',
  ],
  'entries of a cache': [
    'a tag is removed with all its members, and with no other',
    'of many writes at once one is there, whole',
  ],
  'fills of a cache': [
    'a fill whose lease has passed stores nothing, and its successor does',
    'of many who store under one lease one does',
  ],
  'spaces of a cache on two pods': [
    'what one pod sets, saves and deletes the other hears of',
    'a load that fails fails for all who wait, and keeps nobody from trying again',
  ],
}

function choose<Port>(suite: Suite<Port>): Suite<Port> {
  const names = CASES[suite.port]
  if (names === undefined) throw new Error(`no case of ${suite.port} is chosen for extenddb`)
  const cases = names.map((name) => {
    const found = suite.cases.find((one) => one.name === name)
    if (found === undefined) throw new Error(`${suite.port} has no case "${name}"`)
    return found
  })
  return { port: suite.port, cases }
}

// One server for all: a start costs more than most cases, and cases are kept apart by the names of their tables.
const server = await startDynamo('extenddb')
await conform(server, /./, choose)
await codeConformanceOnDynamodb(server, choose)
await lockConformanceOn(server, choose)
limitConformanceOn(server, choose)
cacheConformanceOn(server, choose)
