import type { HotFinding } from '../../../guards/allowlist/hot/port.js'
import { Coalescer, returning } from '../link/coalescer.js'
import type { Redis } from '../link/redis.js'
import { type HotKeys, hotKeys, readPosition, seal, unsure } from './keys.js'

interface Marker {
  text: string
  fill: string
  content: Pick<HotFinding, 'state' | 'position'>
}

/** A list and the last marker read. */
interface ListLookup {
  keys: HotKeys
  marker: Marker | undefined
}

const MAX_BATCH = 256

/**
 * Looks up customers in sets. Lookups of one list in the same event-loop turn are batched, with the marker of the
 * set.
 */
export class HotLookups {
  private readonly lists = new Map<string, ListLookup>()
  private readonly batches: Coalescer<ListLookup, string, HotFinding | undefined>

  constructor(private readonly redis: Redis) {
    this.batches = new Coalescer(
      returning((asked, ids) => this.carry(asked, ids)),
      { maxItems: MAX_BATCH },
    )
  }

  find(listId: string, customerId: string): Promise<HotFinding | undefined> {
    let asked = this.lists.get(listId)
    if (asked === undefined) {
      asked = { keys: hotKeys(listId), marker: undefined }
      this.lists.set(listId, asked)
    }
    return this.batches.ask(asked, customerId)
  }

  private async carry(asked: ListLookup, ids: string[]): Promise<(HotFinding | undefined)[]> {
    const fill = asked.marker?.fill ?? ''
    let { marker, held } = await this.ask(asked, ids, fill)
    if (marker !== undefined && marker.fill !== fill) {
      // The set was loaded again since the last lookup of this process, so its seal has another name.
      const { fill: newFill } = marker
      ;({ marker, held } = await this.ask(asked, ids, newFill))
      if (marker?.fill !== newFill) marker = undefined
    }
    if (marker === undefined || held[0] !== 1) return ids.map(() => undefined)
    const { content } = marker
    return ids.map((_, i) => ({
      ...content,
      found: held[1 + i] === 1 ? 'member' : held[1 + ids.length + i] === 1 ? 'unsure' : 'absent',
    }))
  }

  /**
   * Two plain commands sent together. The second sees at least the state that the first reported: any change of the
   * set in between either advances it or removes its seal.
   */
  private async ask(
    asked: ListLookup,
    ids: string[],
    fill: string,
  ): Promise<{ marker: Marker | undefined; held: number[] }> {
    const { set, fresh } = asked.keys
    const [text, held] = await this.redis.readInOrder(set, [
      ['GET', fresh],
      ['SMISMEMBER', set, seal(fill), ...ids, ...ids.map(unsure)],
    ])
    let marker = asked.marker
    if (text !== marker?.text) marker = text === null ? undefined : readMarker(text as string)
    asked.marker = marker ?? asked.marker
    return { marker, held: held as number[] }
  }
}

function readMarker(text: string): Marker {
  const [fill = '', state = '', position = ''] = text.split(' ')
  return { text, fill, content: { state, position: readPosition(position) } }
}
