/** The place of a customer in a wave: the vectors of `docs/reference/wave-hash.md`. */
export interface WaveHashVector {
  salt: string
  customerId: string
  /** The 32-bit hash, as 8 hexadecimal digits. */
  hash: string
  /** hash / 2^32, to 10 decimals. */
  place: string
}

const vector = (salt: string, customerId: string, hash: string, place: string) => ({
  ...{ salt, customerId, hash, place },
})

/** Generated with mmh3, the Python binding of the reference implementation, not with the code under test. */
export const WAVE_HASH_VECTORS: readonly WaveHashVector[] = [
  vector(
    '0123456789abcdef0123456789abcdef',
    '550e8400-e29b-4d4e-a164-426655440000',
    'd306e96b',
    '0.8243242155',
  ),
  vector(
    '00000000000000000000000000000000',
    '550e8400-e29b-4d4e-a164-426655440000',
    'af5574c2',
    '0.6848977064',
  ),
  vector(
    'ffffffffffffffffffffffffffffffff',
    '550e8400-e29b-4d4e-a164-426655440000',
    'e0b49fde',
    '0.8777561109',
  ),
  vector(
    '9f86d081884c7d659a2feaa0c55ad015',
    '018f3c5e-7b20-7000-8000-000000000001',
    'b43efd44',
    '0.7040861407',
  ),
  vector(
    '9f86d081884c7d659a2feaa0c55ad015',
    '018f3c5e-7b20-7000-8000-000000000002',
    'e5ada3d8',
    '0.8971807864',
  ),
  vector('0123456789abcdef0123456789abcdef', '1', '1ab83c68', '0.1043737177'),
  vector('0123456789abcdef0123456789abcdef', '12', 'db7f9fb7', '0.8574161360'),
  vector('0123456789abcdef0123456789abcdef', '123', '3d67893e', '0.2398610855'),
  vector('0123456789abcdef0123456789abcdef', '1234', '49bc2743', '0.2880272425'),
  vector('0123456789abcdef0123456789abcdef', '12345', '47f49486', '0.2810757472'),
  vector('0123456789abcdef0123456789abcdef', 'A', '1a2a1a50', '0.1022049375'),
  vector('0123456789abcdef0123456789abcdef', 'a', '260dbcd7', '0.1486471200'),
  vector('9f86d081884c7d659a2feaa0c55ad015', 'maria+vip@example.com', 'ccbf1653', '0.7997907593'),
  vector('9f86d081884c7d659a2feaa0c55ad015', 'tenant:42:customer=7', '7e08647f', '0.4923155603'),
  vector('ffffffffffffffffffffffffffffffff', '~._-', 'c30c1463', '0.7619030706'),
  vector('00000000000000000000000000000000', 'constructor', '65d0476b', '0.3977093350'),
  vector('00000000000000000000000000000000', '__proto__', 'd58644c6', '0.8340800270'),
  vector('9f86d081884c7d659a2feaa0c55ad015', '225', '0003f6d0', '0.0000604875'),
  vector('9f86d081884c7d659a2feaa0c55ad015', '2373', 'fff6c7b5', '0.9998593156'),
]

/** Without salt. Generated with Python's hashlib, not with the code under test. */
export const UNSALTED_WAVE_VECTORS: readonly Omit<WaveHashVector, 'salt'>[] = [
  { customerId: '550e8400-e29b-4d4e-a164-426655440000', hash: '99b163eb', place: '0.6003630112' },
  { customerId: '018f3c5e-7b20-7000-8000-000000000001', hash: 'f2356969', place: '0.9461274988' },
  { customerId: '1', hash: 'c4ca4238', place: '0.7687112223' },
  { customerId: '12345', hash: '827ccb0e', place: '0.5097166928' },
  { customerId: 'A', hash: '7fc56270', place: '0.4991055988' },
  { customerId: 'a', hash: '0cc175b9', place: '0.0498269631' },
  { customerId: 'maria+vip@example.com', hash: '68376a76', place: '0.4070955790' },
  { customerId: 'tenant:42:customer=7', hash: '907ab5b0', place: '0.5643724017' },
  { customerId: '__proto__', hash: '1f4e0a21', place: '0.1222845393' },
  { customerId: '1970', hash: '0004d0b5', place: '0.0000734751' },
  { customerId: '12673', hash: 'fffb8ef1', place: '0.9999322260' },
]
