/** The place of a customer in a wave: the vectors of `docs/reference/wave-hash.md`. */
export interface WaveHashVector {
  salt: string
  customerId: string
  /** The 32-bit hash, as 8 hexadecimal digits. */
  hash: string
  /** hash / 2^32, to 10 decimals. */
  place: string
}

/** Generated with mmh3, the Python binding of the reference implementation, not with the code under test. */
export const WAVE_HASH_VECTORS: readonly WaveHashVector[] = [
  {
    salt: '0123456789abcdef0123456789abcdef',
    customerId: '550e8400-e29b-4d4e-a164-426655440000',
    hash: 'd306e96b',
    place: '0.8243242155',
  },
  {
    salt: '00000000000000000000000000000000',
    customerId: '550e8400-e29b-4d4e-a164-426655440000',
    hash: 'af5574c2',
    place: '0.6848977064',
  },
  {
    salt: 'ffffffffffffffffffffffffffffffff',
    customerId: '550e8400-e29b-4d4e-a164-426655440000',
    hash: 'e0b49fde',
    place: '0.8777561109',
  },
  {
    salt: '9f86d081884c7d659a2feaa0c55ad015',
    customerId: '018f3c5e-7b20-7000-8000-000000000001',
    hash: 'b43efd44',
    place: '0.7040861407',
  },
  {
    salt: '9f86d081884c7d659a2feaa0c55ad015',
    customerId: '018f3c5e-7b20-7000-8000-000000000002',
    hash: 'e5ada3d8',
    place: '0.8971807864',
  },
  { salt: '0123456789abcdef0123456789abcdef', customerId: '1', hash: '1ab83c68', place: '0.1043737177' },
  { salt: '0123456789abcdef0123456789abcdef', customerId: '12', hash: 'db7f9fb7', place: '0.8574161360' },
  { salt: '0123456789abcdef0123456789abcdef', customerId: '123', hash: '3d67893e', place: '0.2398610855' },
  { salt: '0123456789abcdef0123456789abcdef', customerId: '1234', hash: '49bc2743', place: '0.2880272425' },
  { salt: '0123456789abcdef0123456789abcdef', customerId: '12345', hash: '47f49486', place: '0.2810757472' },
  { salt: '0123456789abcdef0123456789abcdef', customerId: 'A', hash: '1a2a1a50', place: '0.1022049375' },
  { salt: '0123456789abcdef0123456789abcdef', customerId: 'a', hash: '260dbcd7', place: '0.1486471200' },
  {
    salt: '9f86d081884c7d659a2feaa0c55ad015',
    customerId: 'maria+vip@example.com',
    hash: 'ccbf1653',
    place: '0.7997907593',
  },
  {
    salt: '9f86d081884c7d659a2feaa0c55ad015',
    customerId: 'tenant:42:customer=7',
    hash: '7e08647f',
    place: '0.4923155603',
  },
  { salt: 'ffffffffffffffffffffffffffffffff', customerId: '~._-', hash: 'c30c1463', place: '0.7619030706' },
  {
    salt: '00000000000000000000000000000000',
    customerId: 'constructor',
    hash: '65d0476b',
    place: '0.3977093350',
  },
  {
    salt: '00000000000000000000000000000000',
    customerId: '__proto__',
    hash: 'd58644c6',
    place: '0.8340800270',
  },
  { salt: '9f86d081884c7d659a2feaa0c55ad015', customerId: '225', hash: '0003f6d0', place: '0.0000604875' },
  { salt: '9f86d081884c7d659a2feaa0c55ad015', customerId: '2373', hash: 'fff6c7b5', place: '0.9998593156' },
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
