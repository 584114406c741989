import { createTheme, type MantineColorScheme, type MantineColorSchemeManager } from '@mantine/core'
import { remember, remembered } from './preferences.js'

export const theme = createTheme({
  primaryColor: 'cyan',
  // White on these has enough contrast.
  primaryShade: 9,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  headings: { fontWeight: '650' },
})

const SCHEMES: readonly string[] = ['auto', 'light', 'dark']

export const colourSchemes: MantineColorSchemeManager = {
  get: (fallback) => {
    const chosen = remembered('colours')
    return SCHEMES.includes(chosen ?? '') ? (chosen as MantineColorScheme) : fallback
  },
  set: (scheme) => remember('colours', scheme),
  subscribe: () => {},
  unsubscribe: () => {},
  clear: () => remember('colours', 'auto'),
}
