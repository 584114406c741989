/** The only two things that outlive the tab. Nothing of the session goes here. */
export type Preference = 'language' | 'colours'

export function remembered(name: Preference): string | null {
  try {
    return localStorage.getItem(`catraca.${name}`)
  } catch {
    return null
  }
}

export function remember(name: Preference, value: string): void {
  try {
    localStorage.setItem(`catraca.${name}`, value)
  } catch {
    // Storage may be forbidden: the choice then holds until the tab closes.
  }
}
