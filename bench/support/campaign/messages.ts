/** Messages of Redis that a network, or a server that is busy, may lose or bring twice. */
const MESSAGE = Buffer.from('\r\nmessage\r\n')

/** Whether these bytes are nothing but whole messages of a subscription. */
export function areMessages(bytes: Buffer): boolean {
  let at = 0
  while (at < bytes.length) {
    const end = messageEnd(bytes, at)
    if (end === undefined) return false
    at = end
  }
  return bytes.length > 0
}

/** An array of three strings, `message`, channel and text, in either version of the protocol. */
function messageEnd(bytes: Buffer, start: number): number | undefined {
  const head = bytes.subarray(start, start + 2).toString('latin1')
  if (head !== '*3' && head !== '>3') return undefined
  if (bytes.indexOf(MESSAGE, start) !== start + '*3\r\n$7'.length) return undefined
  let at = start + '*3\r\n'.length
  for (let part = 0; part < 3; part++) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0 || bytes[at] !== '$'.charCodeAt(0)) return undefined
    at = line + 2 + Number(bytes.subarray(at + 1, line).toString('latin1')) + 2
  }
  return at <= bytes.length ? at : undefined
}
