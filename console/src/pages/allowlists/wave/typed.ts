import { fromInput, toInput } from './zoned.js'

/** The text of a field, and its value. A field that was not edited keeps exactly the saved value. */
export interface Typed {
  text: string
  value: number | undefined
}

export type Problems = Partial<Record<string, string>>

export function timeOf(value: number | undefined, zone: string): Typed {
  return { text: value === undefined ? '' : toInput(value, zone), value }
}

export function typedTime(text: string, zone: string): Typed {
  return { text, value: fromInput(text, zone) }
}

/** The same moment in another time zone. */
export function movedTime(typed: Typed, zone: string): Typed {
  return typed.value === undefined ? typed : timeOf(typed.value, zone)
}

export function shareOf(value: number | undefined): Typed {
  return { text: value === undefined ? '' : String(Math.round(value * 1e8) / 1e6), value }
}

export function typedShare(text: string): Typed {
  const percent = text.trim() === '' ? Number.NaN : Number(text)
  const valid = percent >= 0 && percent <= 100
  return { text, value: valid ? Math.round(percent * 1e6) / 1e8 : undefined }
}
