/** The only values that outlive the tab. Session data must not be stored here. */
export type Preference = 'language' | 'colours' | 'rows'

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
    // Storage may be forbidden: the choice then lasts until the tab closes.
  }
}
