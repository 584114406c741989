import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IsJson, JsonForm } from '../../src/core/json-form.js'

/** These fail when they are compiled. */
const yes = <T extends true>(): T[] => []
const no = <T extends false>(): T[] => []

interface Tree {
  name: string
  children: Tree[]
  parent?: Tree | null
}
type Json = string | number | boolean | null | Json[] | { [name: string]: Json }
interface JsonObject {
  [name: string]: JsonOf
}
interface JsonArray extends ReadonlyArray<JsonOf> {}
type JsonOf = string | number | boolean | null | JsonObject | JsonArray
type WithDates = Date | WithDates[] | { [name: string]: WithDates }
class Money {
  constructor(readonly cents: number) {}
  plus(other: Money): Money {
    return new Money(this.cents + other.cents)
  }
}

describe('the JSON form of a type', () => {
  it('is the type itself for what JSON keeps', () => {
    const kept = [
      ...[yes<IsJson<string>>(), yes<IsJson<'a' | 'b'>>(), yes<IsJson<unknown>>(), yes<IsJson<undefined>>()],
      ...[yes<IsJson<{ a?: string; b: number | null }>>(), yes<IsJson<Record<string, string[]>>>()],
      ...[yes<IsJson<readonly [string, number]>>(), yes<IsJson<{ a: string } | { b: number } | null>>()],
      ...[yes<IsJson<{ readonly a: readonly string[]; b: unknown; c: string | undefined }>>()],
      ...[
        yes<IsJson<Tree>>(),
        yes<IsJson<Json>>(),
        yes<IsJson<JsonOf>>(),
        yes<IsJson<string & { brand: 'x' }>>(),
      ],
    ]
    assert.deepEqual(kept.flat(), [])
  })

  it('is another type for what JSON changes, in any depth', () => {
    const changed = [
      ...[no<IsJson<Date>>(), no<IsJson<Date | string>>(), no<IsJson<{ a?: Date }>>()],
      ...[no<IsJson<{ a: { b: Date[] } }>>(), no<IsJson<Record<string, Date>>>(), no<IsJson<[Date]>>()],
      ...[no<IsJson<Buffer>>(), no<IsJson<Uint8Array>>(), no<IsJson<Map<string, string>>>()],
      ...[no<IsJson<Set<string>>>(), no<IsJson<bigint>>(), no<IsJson<() => void>>(), no<IsJson<URL>>()],
      ...[no<IsJson<Money>>(), no<IsJson<WithDates>>()],
    ]
    assert.deepEqual(changed.flat(), [])
  })

  it('has what JSON writes', () => {
    const through = <T>(value: T): JsonForm<T> => JSON.parse(JSON.stringify(value))
    const { at, money, pair }: { at: string; money: { cents: number }; pair: [string, string] } = through({
      at: new Date(0),
      money: new Money(1),
      pair: ['a', new Date(1)] as [string, Date],
    })
    assert.deepEqual(
      [at, money, pair],
      ['1970-01-01T00:00:00.000Z', { cents: 1 }, ['a', '1970-01-01T00:00:00.001Z']],
    )
  })
})
