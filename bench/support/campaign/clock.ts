/** Loaded into a pod with `--import`: the clock of its process can be set, as a time server or an operator sets one. */
const System = Date
let offsetMs = 0

class SetDate extends System {
  constructor(...given: [] | [string | number | Date]) {
    if (given.length === 0) super(SetDate.now())
    else super(...given)
  }

  static override now(): number {
    return System.now() + offsetMs
  }
}

globalThis.Date = SetDate as DateConstructor

process.on('message', (message: { type: string; offsetMs?: number }) => {
  if (message.type === 'clock') offsetMs = message.offsetMs ?? 0
})
