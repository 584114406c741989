import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isCatracaError } from '../../src/core/errors.js'
import { cnpj, cpf, type KeyType, keyName, pixKey } from '../../src/presets/dict/index.js'

const spelled = (key_type: KeyType, key_value: string) => pixKey({ key_type, key_value }).key_value

function refuses(key_type: KeyType, key_value: string, rule: RegExp): void {
  assert.throws(
    () => spelled(key_type, key_value),
    (error) => {
      assert.ok(isCatracaError(error, 'INVALID_INPUT'))
      assert.match(error.message, rule)
      assert.ok(key_value === '' || !error.message.includes(key_value), 'the value is personal')
      return true
    },
    `${key_type} ${key_value}`,
  )
}

describe('keys of DICT', () => {
  it('takes a CPF by its check digits', () => {
    for (const valid of ['12345678909', '52998224725', '11144477735'])
      assert.equal(spelled('CPF', valid), valid)
    // That of the source document, whose check digits are made up.
    refuses('CPF', '12345678900', /check digits/)
    for (let i = 0; i < 11; i++) {
      const digits = [...'52998224725']
      digits[i] = String((Number(digits[i]) + 1) % 10)
      refuses('CPF', digits.join(''), /check digits/)
    }
    refuses('CPF', '11111111111', /check digits/)
    refuses('CPF', '529.982.247-25', /11 digits/)
    refuses('CPF', '', /11 digits/)
  })

  it('takes a CNPJ by its check digits, with digits and with letters', () => {
    assert.equal(spelled('CNPJ', '11222333000181'), '11222333000181')
    assert.equal(spelled('CNPJ', '00000000000191'), '00000000000191')
    // The example of the tax authority.
    assert.equal(spelled('CNPJ', '12ABC34501DE35'), '12ABC34501DE35')
    assert.equal(spelled('CNPJ', '12abc34501de35'), '12ABC34501DE35')
    refuses('CNPJ', '12ABC34501DE36', /check digits/)
    refuses('CNPJ', '12ABD34501DE35', /check digits/)
    refuses('CNPJ', '11222333000180', /check digits/)
    refuses('CNPJ', '00000000000000', /check digits/)
    refuses('CNPJ', '12ABC34501DE3A', /2 digits/)
    refuses('CNPJ', '11.222.333/0001-81', /without points/)
  })

  it('takes no letter of another alphabet for a plain one', () => {
    assert.equal(spelled('CNPJ', '12IBC34501DE10'), '12IBC34501DE10')
    refuses('CNPJ', '12\u0131BC34501DE10', /12 digits or letters/)
    assert.equal(spelled('EMAIL', 'Kim@example.com'), 'kim@example.com')
    refuses('EMAIL', '\u212aim@example.com', /without accents/)
  })

  it('takes no number for an owner', () => {
    for (const check of [cpf, cnpj]) {
      for (const value of [52998224725, 11222333000181, undefined, null]) {
        assert.throws(
          () => check(value as never),
          (error) => isCatracaError(error, 'INVALID_INPUT'),
        )
      }
    }
  })

  it('takes phone numbers of Brazil', () => {
    for (const valid of ['+5511999998888', '+552133334444']) assert.equal(spelled('PHONE', valid), valid)
    for (const wrong of [
      '5511999998888',
      '+5501999998888',
      '+551199999888',
      '+5511899998888',
      '+14155550123',
    ])
      refuses('PHONE', wrong, /\+55/)
  })

  it('takes e-mail addresses of at most 77 characters, in lower case', () => {
    assert.equal(spelled('EMAIL', 'User@Example.com'), 'user@example.com')
    const longest = `${'a'.repeat(77 - '@example.com'.length)}@example.com`
    assert.equal(spelled('EMAIL', longest), longest)
    refuses('EMAIL', `a${longest}`, /at most 77/)
    for (const wrong of ['user', 'user@', '@example.com', 'a b@example.com', 'é@example.com', 'a@b@c'])
      refuses('EMAIL', wrong, /e-mail address/)
  })

  it('takes random keys: UUIDs of version 4', () => {
    const random = '123e4567-e89b-42d3-a456-426614174000'
    assert.equal(spelled('EVP', random.toUpperCase()), random)
    refuses('EVP', '123e4567-e89b-12d3-a456-426614174000', /version 4/)
    refuses('EVP', '123e4567e89b42d3a456426614174000', /version 4/)
  })

  it('refuses other types', () => {
    assert.throws(() => spelled('RG' as KeyType, '1'), /key_type must be one of CPF, CNPJ/)
    assert.throws(() => spelled('CPF', 12345678909 as unknown as string), /key_value must be a string/)
  })

  it('names them as the sources do, and no two alike', () => {
    const name = (key_type: KeyType, key_value: string) => keyName(pixKey({ key_type, key_value }))
    assert.equal(name('CPF', '12345678909'), 'CPF:12345678909')
    assert.equal(name('EMAIL', 'user+pix@example.com'), 'EMAIL:user+pix@example.com')
    assert.equal(name('PHONE', '+5511999998888'), 'PHONE:+5511999998888')
    const odd = ["o'neil@x.com", 'o=27neil@x.com', 'a/b@x.com', 'a{b}@x.com', 'a=b@x.com', 'a#b@x.com']
    const names = odd.map((address) => name('EMAIL', address))
    assert.equal(new Set(names).size, odd.length)
    for (const each of names) assert.match(each, /^EMAIL:[A-Za-z0-9._~:@+=-]+$/)
  })
})
