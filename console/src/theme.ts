import {
  createTheme,
  DEFAULT_THEME,
  type MantineColorScheme,
  type MantineColorSchemeManager,
  type MantineColorsTuple,
} from '@mantine/core'
import { remember, remembered } from './preferences.js'

export const theme = createTheme({
  primaryColor: 'cyan',
  // White text has enough contrast on these shades.
  primaryShade: 9,
  // Bluish, like the surfaces in styles.css.
  colors: {
    // On hover the last shade but one is used, and white text must be readable on it too.
    cyan: darkerHover(DEFAULT_THEME.colors.cyan, '#0a6374'),
    red: darkerHover(DEFAULT_THEME.colors.red, '#b02525'),
    dark: [
      ...['#d3d9e0', '#b6bec8', '#8f98a3', '#6b7480', '#47505a'],
      ...['#39414a', '#262c33', '#1d2126', '#16191d', '#101316'],
    ] as unknown as MantineColorsTuple,
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  headings: { fontWeight: '650' },
  components: {
    // The header of a dialog is not the banner of the page.
    Modal: { defaultProps: { attributes: { header: { role: 'presentation' } } } },
  },
})

function darkerHover(colours: MantineColorsTuple, hover: string): MantineColorsTuple {
  return colours.with(8, hover) as unknown as MantineColorsTuple
}

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
