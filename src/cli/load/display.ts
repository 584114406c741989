import { count } from '../output/print.js'
import type { Sample } from './result.js'

/** Shows the progress of a run. */
export interface Display {
  sample(sample: Sample): void
  /** Prints a line that stays. */
  say(line: string): void
  close(): void
}

const CLEAR_LINE = '\r\u001b[2K'

export function openDisplay(stream: NodeJS.WriteStream, isLive = stream.isTTY === true): Display {
  if (!isLive) {
    const say = (line: string) => void stream.write(`${line}\n`)
    return { sample: (sample) => say(sampleLine(sample)), say, close: () => {} }
  }
  let isDirty = false
  const close = () => {
    if (isDirty) stream.write('\n')
    isDirty = false
  }
  return {
    sample(sample) {
      // Cut to one line: a wrapped line could not be overwritten.
      stream.write(CLEAR_LINE + sampleLine(sample).slice(0, (stream.columns || 80) - 1))
      isDirty = true
    },
    say(line) {
      close()
      stream.write(`${line}\n`)
    },
    close,
  }
}

export function sampleLine({ second, answered, inFlight, p50, p95, p99, errors }: Sample): string {
  const when = second < 1 ? 'warm-up' : `${String(second).padStart(5)} s`
  const times = [p50, p95, p99].map(milliseconds).join(' / ')
  const wrong = errors === 0 ? '' : `  ${count(errors)} errors`
  return `${when}  ${count(answered).padStart(7)}/s  ${String(inFlight).padStart(4)} in flight  p50/p95/p99 ${times} ms${wrong}`
}

export function milliseconds(ms: number): string {
  if (ms >= 100) return count(Math.round(ms))
  return ms >= 10 ? ms.toFixed(1) : ms.toFixed(2)
}
