export interface RequestHashVector {
  name: string
  payload: unknown
  canonical: string
  /** Hash of the canonical form in UTF-8, in hex. */
  sha256: string
}

/** Payloads, their canonical form and its hash: every program that shares records must compute these. */
export const REQUEST_HASH_VECTORS: readonly RequestHashVector[] = [
  {
    name: 'the empty object',
    payload: {},
    canonical: '{}',
    sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  },
  {
    name: 'order of keys',
    payload: { b: 2, a: 1, C: 3 },
    canonical: '{"C":3,"a":1,"b":2}',
    sha256: 'b5ca072bd7d7c2ed24141bd94bb40d6d29d7fda0dbb92594a60a4ba6ad65b7c8',
  },
  {
    name: 'keys by UTF-16 code units',
    payload: { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
    canonical: '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    sha256: '0d922ac8e15a6d17d5d50fab064983e86009ebae7b5998cbfc4ed172e6ff74a9',
  },
  {
    name: 'numbers',
    payload: [333333333.3333333, 4.5, 2e-3, 0.000000000000000000000000001, -0, 1.0, 100],
    canonical: '[333333333.3333333,4.5,0.002,1e-27,0,1,100]',
    sha256: '3eb5dc41521e7813f3bbdf8ada50dc0de981edb624854cdcf1cca5a17eb18f13',
  },
  {
    name: 'text',
    payload: '\u20ac$\u000f\nA\'B"\\\\"/',
    canonical: '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"',
    sha256: '48caa679d7f31885aac4a400aa52732f9b304c1a417dfa6e75631e81ca2f785c',
  },
  {
    name: 'words',
    payload: [null, true, false],
    canonical: '[null,true,false]',
    sha256: '37257214f22b92121c5ff4d7e29ed2d31b3f1129ee698e96e581ec05cb2e3cf7',
  },
  {
    name: 'nested',
    payload: { peach: [{ z: { y: [] } }, 'x'], '': { a: undefined } },
    canonical: '{"":{},"peach":[{"z":{"y":[]}},"x"]}',
    sha256: '3c03da009e3b62080dc55feed9207960afeaa5afcf150842d8197431a85f6c47',
  },
  {
    name: 'a message of the source',
    payload: { queue: 'DEV.QUEUE.1', messages: 100, body: 'olá' },
    canonical: '{"body":"ol\u00e1","messages":100,"queue":"DEV.QUEUE.1"}',
    sha256: '5a33aa4b3a1e5bdb736388560004ac742b231c8d87e77d15611b3001c44cbee1',
  },
  {
    name: 'a moment',
    payload: new Date(Date.UTC(2030, 0, 1)),
    canonical: '"2030-01-01T00:00:00.000Z"',
    sha256: '2f877b7434762739574bafa80a02259d019217bc833e3696b5916886e9f9f7bc',
  },
  {
    name: 'whole numbers of any size',
    payload: [1n, -9007199254740993n],
    canonical: '[1,-9007199254740993]',
    sha256: '04b765bd2acd4a44e2dc3b6028a24aebe58bdfe53f4ff757a91532e9f0cf12a6',
  },
  {
    name: 'bytes',
    payload: Uint8Array.of(0, 255, 16),
    canonical: 'b"AP8Q"',
    sha256: 'e51a772fa0c09528427240229ad48d83433ca7334edfb34e4e5e39d515c18ff0',
  },
]

/** Hash of a request without a payload. */
export const NO_PAYLOAD_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
