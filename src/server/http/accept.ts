/** The offered media type that the client prefers (RFC 9110, 12.5.1); undefined when it accepts none of them. */
export function preferred(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0]
  const ranges = accept.split(',').map(parseRange)
  let best: { type: string; quality: number } | undefined
  for (const type of offered) {
    const quality = qualityOf(type, ranges)
    if (quality > (best?.quality ?? 0)) best = { type, quality }
  }
  return best?.type
}

interface Range {
  name: string
  quality: number
}

function parseRange(text: string): Range {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = given === undefined ? 1 : Number(given.slice(2))
  return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** The most specific range that matches decides, even if another has a higher quality. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  const group = `${type.slice(0, type.indexOf('/'))}/*`
  for (const name of [type, group, '*/*']) {
    const range = ranges.find((candidate) => candidate.name === name)
    if (range !== undefined) return range.quality
  }
  return 0
}
