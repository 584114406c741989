import './styles.css'
import { MantineProvider } from '@mantine/core'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.js'
import { keepFocus } from './parts/kept-focus.js'
import { resume } from './session/sign-in.js'
import { LanguageProvider } from './texts/language.js'
import { colourSchemes, theme } from './theme.js'

/** The server sends a nonce for styles that the component library creates at run time. */
const styleNonce = document.getElementById('style-nonce')?.nonce ?? ''
// The library that stops scrolling behind dialogs adds a style and reads its nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce })

void resume()
keepFocus()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colourSchemes}
      getStyleNonce={() => styleNonce}
    >
      <LanguageProvider>
        <App />
      </LanguageProvider>
    </MantineProvider>
  </StrictMode>,
)
