import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addressEntity, forwardedFor } from '../../src/adapters/client-address.js'

describe('the name of a client by its address', () => {
  it('is the address of IPv4, and the network of IPv6', () => {
    const named: [address: string, name: string, bits?: number][] = [
      ['203.0.113.7', 'ip:203.0.113.7'],
      ['::ffff:203.0.113.7', 'ip:203.0.113.7'],
      ['2001:db8:1:2:3:4:5:6', 'ip:2001:db8:1:2::'],
      ['2001:DB8:1:2::', 'ip:2001:db8:1:2::'],
      ['2001:db8::6', 'ip:2001:db8:0:0::'],
      ['::1', 'ip:0:0:0:0::'],
      ['fe80::1%eth0', 'ip:fe80:0:0:0::'],
      ['2001:db8:1:2fff::1', 'ip:2001:db8:1:2f00::', 56],
      ['2001:db8:ffff::1', 'ip:2001:db8:ffff::', 48],
      ['2001:db8::1:2', 'ip:2001:db8:0:0:0:0:1:2', 128],
      ['64:ff9b::192.0.2.33', 'ip:64:ff9b:0:0:0:0:c000:221', 128],
      ['unknown', 'ip:unknown'],
    ]
    for (const [address, name, bits] of named) assert.equal(addressEntity(address, bits), name, address)
  })

  it('comes from the entry that the outermost trusted proxy wrote', () => {
    const read = (proxies: number, header: string | string[] | undefined) =>
      forwardedFor({ proxies })({ headers: { 'x-forwarded-for': header } })
    assert.equal(read(1, '1.1.1.1, 2.2.2.2'), '2.2.2.2')
    assert.equal(read(2, ['9.9.9.9, 1.1.1.1', '2.2.2.2']), '1.1.1.1')
    assert.equal(read(1, '2.2.2.2:4711'), '2.2.2.2')
    assert.equal(read(1, '[2001:db8::1]:4711'), '2001:db8::1')
    assert.equal(read(1, '[2001:db8::1]'), '2001:db8::1')
    assert.equal(read(3, '1.1.1.1, 2.2.2.2'), undefined)
    assert.equal(read(1, undefined), undefined)
    const headers = new Headers({ 'x-forwarded-for': '1.1.1.1, 2.2.2.2' })
    assert.equal(forwardedFor({ proxies: 1 })({ headers }), '2.2.2.2')
  })
})
