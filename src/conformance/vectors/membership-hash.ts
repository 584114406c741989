/** The hash that assigns a customer to a filter page of a list, as defined in `docs/membership.md`. */
export interface MembershipHashVector {
  /** The list's 128-bit key, as 32 hexadecimal digits. */
  key: string
  customerId: string
  /** Upper word, then lower word, as 16 hexadecimal digits. */
  hash: string
}

const under = (key: string, ...hashes: readonly [customerId: string, hash: string][]) =>
  hashes.map(([customerId, hash]) => ({ key, customerId, hash }))

/** Generated in Python by code that reproduces the published vectors of Chaskey, not with the code under test. */
export const MEMBERSHIP_HASH_VECTORS: readonly MembershipHashVector[] = [
  ...under(
    '9f86d081884c7d659a2feaa0c55ad015',
    ['550e8400-e29b-4d4e-a164-426655440000', '886339a9e9d5721e'],
    ['00000000-0000-0000-0000-000000000000', '4dd662d2edde6543'],
    ['018f3c5e-7b20-7000-8000-000000000001', '7cbf035d595ad9b0'],
    ['31323334-3536-3738-3930-313233343536', '3a990099f7dc9000'],
    ['12345678901', '24613d3586f61998'],
  ),
  ...under(
    '000102030405060708090a0b0c0d0e0f',
    ['550e8400-e29b-4d4e-a164-426655440000', '9057579626f37d1a'],
    ['550E8400-E29B-4D4E-A164-426655440000', '9057579626f37d1a'],
    ['00000000-0000-0000-0000-000000000000', '6d694270b537cedf'],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', '26f1965a040f1eb9'],
    ['018f3c5e-7b20-7000-8000-000000000001', '09f43597b2f62562'],
    ['018f3c5e-7b20-7000-8000-000000000002', 'a026c075b7afb669'],
    ['31323334-3536-3738-3930-313233343536', '458e6d5eeb904a85'],
    ['1234567890123456', '6569caf2fe962f00'],
    ['g50e8400-e29b-4d4e-a164-426655440000', 'a3fc4d2327291c78'],
    ['550e8400-e29b-4d4e-a164+426655440000', '477989ff57270323'],
    ['1', '2c014b1e0231103c'],
    ['12', 'dc6933492daf564e'],
    ['123', '286e54e490964ae8'],
    ['1234', 'f90394fcbd34f88c'],
    ['12345678901', '2a4aab813fe71f4a'],
    ['123456789012345', 'd98b30cfb47b3b72'],
    ['12345678901234567', '0ae64b493f535fd5'],
    ['maria+vip@example.com', '0839b6524620fb4b'],
    ['tenant:42:customer=7', '0959197a1f7dc506'],
    ['A', '139e9c5ac9d5013b'],
    ['a', '4476008e756382a5'],
    ['a'.repeat(31), 'ca530c58f6eb4a08'],
    ['a'.repeat(32), '4e597d1f541b26f6'],
    ['a'.repeat(33), '1caac0f4111c6506'],
    ['~'.repeat(255), 'b95f593cf9d2bc3c'],
    ['~'.repeat(256), '670f6f3953079f9c'],
  ),
  ...under(
    'ffffffffffffffffffffffffffffffff',
    ['550e8400-e29b-4d4e-a164-426655440000', 'ad7859debb1f3969'],
    ['00000000-0000-0000-0000-000000000000', '0bb039414975d218'],
    ['018f3c5e-7b20-7000-8000-000000000001', '41e6ad9a9fd27949'],
    ['31323334-3536-3738-3930-313233343536', '198d1b315ccec28c'],
    ['12345678901', 'eaf146b708d5188f'],
  ),
  ...under(
    '33343d839f389f004fe6982339cf7a41',
    ['550e8400-e29b-4d4e-a164-426655440000', '904665889c76fed0'],
    ['00000000-0000-0000-0000-000000000000', 'bd78a71f6fa4c67f'],
    ['018f3c5e-7b20-7000-8000-000000000001', 'f5e707cef23c6bff'],
    ['31323334-3536-3738-3930-313233343536', '4338222772d4afd6'],
    ['12345678901', '155a8a65b63c8784'],
  ),
]
