import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withProfile } from '../../src/app/store-profile.js'
import { loadConfig } from '../../src/config/load.js'
import { isCatracaError } from '../../src/core/errors.js'
import { DYNAMODB_PROFILES, type DynamodbProfile } from '../../src/engines/dynamodb/defaults.js'

const STORE = 'dynamodb://us-east-1/Allowlists'

describe('the profile of a DynamoDB store', () => {
  it('gives defaults, which options win over', () => {
    const given = {
      membership: { staleAfterMs: 7000 },
      dynamodb: { profile: 'thrifty', probeIntervalMs: 3000 },
    } as const
    const { membership, dynamodb } = withProfile(given, STORE)
    assert.deepEqual(membership, { compareIntervalMs: 20_000, staleAfterMs: 7000 })
    const { logBatchMs: _, ...thrifty } = DYNAMODB_PROFILES.thrifty.dynamodb
    assert.deepEqual(dynamodb, { ...thrifty, probeIntervalMs: 3000 })
  })

  it('changes nothing by default, and nothing of other stores', () => {
    assert.deepEqual(withProfile({ dynamodb: { profile: 'default' } }, STORE), { dynamodb: {} })
    assert.deepEqual(withProfile({ dynamodb: { profile: 'thrifty' } }, 'memory:'), { dynamodb: {} })
    assert.deepEqual(withProfile({ dynamodb: { profile: 'fresh' } }, undefined), { dynamodb: {} })
  })

  it('has a name that is known', () => {
    const unknown = { dynamodb: { profile: 'cheap' as DynamodbProfile } }
    assert.throws(
      () => withProfile(unknown, STORE),
      (error) => isCatracaError(error, 'INVALID_INPUT'),
    )
  })

  it('gives defaults to settings, which every source of settings wins over', () => {
    const env = {
      CATRACA_STORE: STORE,
      CATRACA_DYNAMODB_PROFILE: 'thrifty',
      CATRACA_MEMBERSHIP_STALE_AFTER_MS: '9000',
    }
    const { membership, dynamodb } = loadConfig({ env, cwd: '/' })
    assert.equal(membership.staleAfterMs, 9000)
    assert.equal(membership.compareIntervalMs, 20_000)
    assert.equal(dynamodb.shareIntervalMs, 10_000)
    assert.equal(dynamodb.logBatchMs, 5000)
    const other = loadConfig({ env: { ...env, CATRACA_STORE: 'memory:' }, cwd: '/' })
    assert.equal(other.membership.compareIntervalMs, 1000)
  })
})
