/** The hash that assigns a customer to a filter page of a list, as defined in `docs/membership.md`. */
export interface MembershipHashVector {
  /** The list's 128-bit key, as 32 hexadecimal digits. */
  key: string
  customerId: string
  /** Upper word, then lower word, as 16 hexadecimal digits. */
  hash: string
}

/** Generated in Python by code that reproduces the published vectors of Chaskey, not with the code under test. */
export const MEMBERSHIP_HASH_VECTORS: readonly MembershipHashVector[] = [
  {
    key: '9f86d081884c7d659a2feaa0c55ad015',
    customerId: '550e8400-e29b-4d4e-a164-426655440000',
    hash: '886339a9e9d5721e',
  },
  {
    key: '9f86d081884c7d659a2feaa0c55ad015',
    customerId: '00000000-0000-0000-0000-000000000000',
    hash: '4dd662d2edde6543',
  },
  {
    key: '9f86d081884c7d659a2feaa0c55ad015',
    customerId: '018f3c5e-7b20-7000-8000-000000000001',
    hash: '7cbf035d595ad9b0',
  },
  {
    key: '9f86d081884c7d659a2feaa0c55ad015',
    customerId: '31323334-3536-3738-3930-313233343536',
    hash: '3a990099f7dc9000',
  },
  { key: '9f86d081884c7d659a2feaa0c55ad015', customerId: '12345678901', hash: '24613d3586f61998' },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: '550e8400-e29b-4d4e-a164-426655440000',
    hash: '9057579626f37d1a',
  },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: '550E8400-E29B-4D4E-A164-426655440000',
    hash: '9057579626f37d1a',
  },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: '00000000-0000-0000-0000-000000000000',
    hash: '6d694270b537cedf',
  },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    hash: '26f1965a040f1eb9',
  },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: '018f3c5e-7b20-7000-8000-000000000001',
    hash: '09f43597b2f62562',
  },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: '018f3c5e-7b20-7000-8000-000000000002',
    hash: 'a026c075b7afb669',
  },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: '31323334-3536-3738-3930-313233343536',
    hash: '458e6d5eeb904a85',
  },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '1234567890123456', hash: '6569caf2fe962f00' },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: 'g50e8400-e29b-4d4e-a164-426655440000',
    hash: 'a3fc4d2327291c78',
  },
  {
    key: '000102030405060708090a0b0c0d0e0f',
    customerId: '550e8400-e29b-4d4e-a164+426655440000',
    hash: '477989ff57270323',
  },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '1', hash: '2c014b1e0231103c' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '12', hash: 'dc6933492daf564e' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '123', hash: '286e54e490964ae8' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '1234', hash: 'f90394fcbd34f88c' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '12345678901', hash: '2a4aab813fe71f4a' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '123456789012345', hash: 'd98b30cfb47b3b72' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '12345678901234567', hash: '0ae64b493f535fd5' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: 'maria+vip@example.com', hash: '0839b6524620fb4b' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: 'tenant:42:customer=7', hash: '0959197a1f7dc506' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: 'A', hash: '139e9c5ac9d5013b' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: 'a', hash: '4476008e756382a5' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: 'a'.repeat(31), hash: 'ca530c58f6eb4a08' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: 'a'.repeat(32), hash: '4e597d1f541b26f6' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: 'a'.repeat(33), hash: '1caac0f4111c6506' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '~'.repeat(255), hash: 'b95f593cf9d2bc3c' },
  { key: '000102030405060708090a0b0c0d0e0f', customerId: '~'.repeat(256), hash: '670f6f3953079f9c' },
  {
    key: 'ffffffffffffffffffffffffffffffff',
    customerId: '550e8400-e29b-4d4e-a164-426655440000',
    hash: 'ad7859debb1f3969',
  },
  {
    key: 'ffffffffffffffffffffffffffffffff',
    customerId: '00000000-0000-0000-0000-000000000000',
    hash: '0bb039414975d218',
  },
  {
    key: 'ffffffffffffffffffffffffffffffff',
    customerId: '018f3c5e-7b20-7000-8000-000000000001',
    hash: '41e6ad9a9fd27949',
  },
  {
    key: 'ffffffffffffffffffffffffffffffff',
    customerId: '31323334-3536-3738-3930-313233343536',
    hash: '198d1b315ccec28c',
  },
  { key: 'ffffffffffffffffffffffffffffffff', customerId: '12345678901', hash: 'eaf146b708d5188f' },
  {
    key: '33343d839f389f004fe6982339cf7a41',
    customerId: '550e8400-e29b-4d4e-a164-426655440000',
    hash: '904665889c76fed0',
  },
  {
    key: '33343d839f389f004fe6982339cf7a41',
    customerId: '00000000-0000-0000-0000-000000000000',
    hash: 'bd78a71f6fa4c67f',
  },
  {
    key: '33343d839f389f004fe6982339cf7a41',
    customerId: '018f3c5e-7b20-7000-8000-000000000001',
    hash: 'f5e707cef23c6bff',
  },
  {
    key: '33343d839f389f004fe6982339cf7a41',
    customerId: '31323334-3536-3738-3930-313233343536',
    hash: '4338222772d4afd6',
  },
  { key: '33343d839f389f004fe6982339cf7a41', customerId: '12345678901', hash: '155a8a65b63c8784' },
]
